//! `pg_upgrade`: moves the tables of an old data folder into a new one.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use super::UpgradeError;
use crate::cache::installation::Installation;
use crate::cache::snapshot::Snapshot;
use crate::machine::folder::give_to_server;
use crate::machine::path_error::At as _;
use crate::start::access::DATABASE;
use crate::start::server::error::StartError;
use crate::start::server::{Server, StartOptions, start};

const PROGRAM: &str = "pg_upgrade";
/// The program that prints the properties of a data folder.
const CONTROL: &str = "pg_controldata";
const RULES: &str = "pg_hba.conf";
/// The login rules while `pg_upgrade` runs. They need no password, because servers then take connections only by
/// sockets in a private folder.
const TRUST: &str = "local all all trust\n";
const PATIENCE: Duration = Duration::from_secs(60);
const SHUTDOWN_PATIENCE: Duration = Duration::from_secs(600);

/// Whether both versions have the programs that `pg_upgrade` needs. The packages of most catalogue entries lack
/// them.
pub fn has_pg_upgrade(old: &Installation, new: &Installation) -> bool {
    let has = |installation: &Installation, names: &[&str]| {
        installation.image().is_none()
            && folder(installation).is_some_and(|folder| names.iter().all(|name| folder.join(name).is_file()))
    };
    let needed = ["pg_ctl", CONTROL, "pg_resetwal"];
    has(old, &needed)
        && has(new, &needed)
        && has(new, &[PROGRAM, "pg_dump", "pg_dumpall", "pg_restore", "psql", "vacuumdb"])
}

fn folder(installation: &Installation) -> Option<PathBuf> {
    installation.program_folders().into_iter().next()
}

pub(super) fn upgraded(
    (old, snapshot): (&Installation, &Snapshot),
    new: &Installation,
    options: StartOptions,
) -> Result<Server, UpgradeError> {
    let mut server = start(new, options.clone())?;
    let old_data = server.place_for("old");
    snapshot.restore(&old_data).map_err(StartError::from)?;
    if has_checksums(old, &old_data) != has_checksums(new, &server.access().datadir) {
        let is_on = has_checksums(old, &old_data);
        drop(server);
        let mut options = options;
        options.settings.insert("data_checksums".to_owned(), if is_on { "on" } else { "off" }.to_owned());
        server = start(new, options)?;
        snapshot.restore(&server.place_for("old")).map_err(StartError::from)?;
    }
    let old_data = server.place_for("old");
    let new_data = server.access().datadir.clone();
    // `pg_upgrade` needs a new data folder without databases of users, so Dyno's database is dropped.
    let dropped = server
        .connect_to("postgres", PATIENCE)
        .and_then(|mut client| client.query(&format!("DROP DATABASE {DATABASE}")));
    dropped.map_err(StartError::from)?;
    server.shut_down_cleanly(SHUTDOWN_PATIENCE)?;
    let rules = fs::read_to_string(new_data.join(RULES)).at("read", &new_data.join(RULES))?;
    put(&old_data.join(RULES), TRUST)?;
    put(&new_data.join(RULES), TRUST)?;
    let [old_programs, new_programs] =
        [old, new].map(|installation| folder(installation).unwrap_or_default());
    let sockets = server.folder_of_sockets();
    server.run_tool(&new_programs.join(PROGRAM), |command| {
        command
            // The servers that `pg_upgrade` starts put their sockets into its working directory.
            .current_dir(&sockets)
            .arg("-b")
            .arg(&old_programs)
            .arg("-B")
            .arg(&new_programs)
            .arg("-d")
            .arg(&old_data)
            .arg("-D")
            .arg(&new_data)
            .args(["-U", "postgres"]);
    })?;
    put(&new_data.join(RULES), &rules)?;
    server.adopt_data()?;
    server.restart()?;
    server.collect_statistics().map_err(StartError::from)?;
    Ok(server)
}

/// Replaces a file by a new file. If there is a link in its place, replaces the link.
fn put(path: &Path, text: &str) -> Result<(), UpgradeError> {
    fs::remove_file(path).at("remove", path)?;
    fs::write(path, text).at("write", path)?;
    Ok(give_to_server(path)?)
}

/// Whether the pages of a data folder have checksums.
fn has_checksums(installation: &Installation, data: &Path) -> bool {
    let Some(folder) = folder(installation) else { return false };
    let mut command = installation.program(&folder.join(CONTROL));
    let output = command.arg("-D").arg(data).stdin(Stdio::null()).output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    let version = text.lines().find_map(|line| line.strip_prefix("Data page checksum version:"));
    version.is_some_and(|version| version.trim() != "0")
}
