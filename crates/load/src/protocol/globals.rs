//! sysbench's general options, as a script sees them in `sysbench.opt`.

use std::collections::BTreeMap;

use crate::protocol::job::{Address, Job, Protocol};

/// Returns the general options whose values follow from the job itself. Passwords are left out.
pub(crate) fn of(job: &Job) -> BTreeMap<String, String> {
    let driver = job.target.driver;
    let mut globals = job.tuning.globals.clone();
    globals.extend([
        ("threads".to_owned(), job.connections_in_all().to_string()),
        ("db_driver".to_owned(), driver.as_str().to_owned()),
    ]);
    globals.entry("rand_seed".to_owned()).or_insert_with(|| job.seed.to_string());
    // For other commands, the job's `globals` already contain these options.
    if job.command == "run" {
        globals.extend([
            ("time".to_owned(), job.seconds.unwrap_or(0.0).to_string()),
            ("events".to_owned(), job.events.unwrap_or(0).to_string()),
        ]);
    }
    if driver == Protocol::Sqlite {
        return globals;
    }
    let mut set =
        |name: &str, value: &str| globals.insert(format!("{}_{name}", driver.as_str()), value.to_owned());
    set("user", &job.target.user);
    set("db", &job.target.database);
    match job.target.addresses.first() {
        Some(Address::Unix(path)) => {
            set("socket", &path.display().to_string());
        }
        Some(Address::Tcp { host, port }) => {
            set("host", host);
            set("port", &port.to_string());
        }
        // The options already contain a list of hosts as the user wrote it.
        Some(Address::FirstOf(_) | Address::File(_)) | None => {}
    }
    globals
}
