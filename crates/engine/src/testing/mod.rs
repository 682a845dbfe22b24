//! Helpers of tests that need real servers, behind the feature `testing`.
//!
//! Engines are fetched into Dyno's cache. If an engine is not available, its test is reported as ignored, with the
//! reason. With `DYNO_REQUIRE_ENGINES=1` it fails instead. Engines of hundreds of megabytes are tested only with
//! `DYNO_LARGE_ENGINES=1`.

mod authority;
mod network;
pub mod python;
mod signals;
mod vendor;
mod wait;

use std::env;
use std::fs::File;
use std::num::NonZero;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread;

use dyno_host::{Confined, Confinement};
use libtest_mimic::{Arguments, Failed};
pub use libtest_mimic::{Completion, Trial};
use rustix::fs::{IFlags, ioctl_getflags, ioctl_setflags};

pub use self::authority::{Authority, Identity, start_with_tls};
pub use self::network::own_address;
pub use self::signals::{Signal, go_on, pause, send};
pub use self::vendor::{Answer, Proxy, Vendor};
pub use self::wait::wait_until;
use crate::cache::installation::Installation;
use crate::cache::location::Cache;
use crate::catalogue::Catalogue;
use crate::source::fetch::fetch;
use crate::start::server::{Server, StartOptions, start};

/// Runs tests as `cargo test` expects. Runs four tests per core at once, because tests mostly wait for servers, disks
/// and timers.
///
/// # Panics
/// No folder can be made in the folder of temporary files.
pub fn main(tests: Vec<Trial>) -> ExitCode {
    let mut arguments = Arguments::from_args();
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    arguments.test_threads.get_or_insert(4 * cores);
    let folder = tempfile::tempdir().unwrap_or_else(|error| panic!("{}: {error}", env::temp_dir().display()));
    spread_folders(folder.path());
    tempfile::env::override_temp_dir(folder.path()).expect("it is set once");
    libtest_mimic::run(&arguments, tests).exit_code()
}

/// Makes ext4 place each new folder inside this folder in another block group. When ext4 makes a file, it skips
/// every inode of the group that was deleted in the last minute. Next to other tests, that takes a second for the
/// 1,300 files of a PostgreSQL server. With this flag, it takes a fifth of a second. File systems without block
/// groups refuse the flag, and do not need it.
fn spread_folders(folder: &Path) {
    let Ok(folder) = File::open(folder) else { return };
    if let Ok(flags) = ioctl_getflags(&folder) {
        let _ = ioctl_setflags(&folder, flags | IFlags::TOPDIR);
    }
}

/// A test that needs an engine, such as `mariadb@10.11`.
pub fn engine_test(
    name: &str,
    engine: &'static str,
    test: impl FnOnce(&Installation) + Send + 'static,
) -> Trial {
    fallible_test(name, engine, |installation| {
        test(installation);
        Ok(())
    })
}

/// A test that needs a running server of a system, such as `mariadb@10.11/rocksdb`.
pub fn server_test(
    name: &str,
    system: &'static str,
    test: impl FnOnce(&mut Server) + Send + 'static,
) -> Trial {
    fallible_test(name, system, move |installation| {
        let folder = tempfile::tempdir()?;
        test(&mut start_in(folder.path(), installation, system));
        Ok(())
    })
}

/// Like [`server_test`], for a large system. It is fetched only with `DYNO_LARGE_ENGINES=1`.
pub fn large_server_test(
    name: &str,
    system: &'static str,
    test: impl FnOnce(&mut Server) + Send + 'static,
) -> Trial {
    if is_set("DYNO_LARGE_ENGINES") {
        return server_test(name, system, test);
    }
    let reason = "its engine is large; DYNO_LARGE_ENGINES=1 fetches it";
    Trial::ignorable_test(format!("{system} {name}"), move || Ok(Completion::ignored_with(reason)))
}

/// A test that needs an engine and a confinement. It is ignored, with the reason, if this user has no right to confine.
pub fn confined_test(
    name: &str,
    system: &'static str,
    confinement: &Confinement,
    test: impl FnOnce(&Installation) + Send + 'static,
) -> Trial {
    let name = format!("confined {name}");
    let Err(missing) = confinement.check_rights() else { return engine_test(&name, system, test) };
    let reason = missing.to_string();
    Trial::ignorable_test(format!("{system} {name}"), move || Ok(Completion::ignored_with(reason)))
}

fn fallible_test(
    name: &str,
    system: &'static str,
    test: impl FnOnce(&Installation) -> Result<(), Failed> + Send + 'static,
) -> Trial {
    Trial::ignorable_test(format!("{system} {name}"), move || match installation(system) {
        Ok(installation) => test(&installation).map(|()| Completion::Completed),
        Err(reason) if is_set("DYNO_REQUIRE_ENGINES") => Err(Failed::from(reason)),
        Err(reason) => Ok(Completion::ignored_with(reason)),
    })
}

/// Starts a server of a system with its data below a folder.
///
/// # Panics
/// The server does not start.
pub fn start_in(folder: &Path, installation: &Installation, system: &str) -> Server {
    let storage_engine = system.split_once('/').map(|(_, name)| name.to_owned());
    let options = StartOptions { storage_engine, ..StartOptions::new(folder) };
    start(installation, options).unwrap_or_else(|error| panic!("{error}"))
}

/// Starts a server with a test's own settings, and with its data below a folder.
///
/// # Panics
/// The server does not start.
pub fn start_with(installation: &Installation, folder: &Path, settings: &[(&str, &str)]) -> Server {
    let settings = settings.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let options = StartOptions { settings, ..StartOptions::new(folder) };
    start(installation, options).unwrap_or_else(|error| panic!("{error}"))
}

/// Starts a server of a system inside a confinement. The confinement lasts until its last user drops it.
///
/// # Panics
/// The server does not start.
pub fn start_inside(
    confined: &Arc<Confined>,
    installation: &Installation,
    system: &str,
    settings: &[(&str, &str)],
) -> Server {
    let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    let folder = confined.volume().map_or_else(env::temp_dir, Path::to_owned);
    let options = StartOptions {
        storage_engine: system.split_once('/').map(|(_, name)| name.to_owned()),
        settings: settings.iter().map(own).collect(),
        confined: Some(Arc::clone(confined)),
        ..StartOptions::new(folder)
    };
    start(installation, options).unwrap_or_else(|error| panic!("{error}"))
}

/// The engine of a system. Fetches it if missing.
///
/// # Errors
/// The engine is not available. The error says why.
///
/// # Panics
/// The catalogue has no such system.
pub fn installation(system: &str) -> Result<Installation, String> {
    let name = system.parse().unwrap_or_else(|error| panic!("{error}"));
    let catalogue = Catalogue::builtin();
    let entry = catalogue.find(&name).unwrap_or_else(|error| panic!("{error}"));
    fetch(&entry, &Cache::default_location(), &mut |_| ()).map_err(|error| error.to_string())
}

fn is_set(switch: &str) -> bool {
    env::var_os(switch).is_some_and(|value| value == "1")
}
