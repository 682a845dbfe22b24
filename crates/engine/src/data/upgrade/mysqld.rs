//! Upgrades data of MySQL and MariaDB. The new server starts on the data. MySQL from 8.0 on upgrades the data
//! itself. Otherwise a program of the release upgrades the system tables.

use std::env;
use std::ffi::OsStr;
use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{UpgradeError, UpgradeWay};
use crate::cache::installation::Installation;
use crate::cache::snapshot::Snapshot;
use crate::catalogue::entry::{Entry, Family};
use crate::machine::path_error::At as _;
use crate::start::server::error::StartError;
use crate::start::server::{Server, StartOptions, start};

/// The upgrade program's newer and older names.
const UPGRADERS: [&str; 2] = ["mariadb-upgrade", "mysql_upgrade"];
/// The newer and older names of the clients that the upgrade program calls. It looks for these clients in its own
/// folder.
const CLIENTS: [[&str; 2]; 2] = [["mariadb", "mysql"], ["mariadb-check", "mysqlcheck"]];

pub(super) fn upgraded(
    (old, snapshot): (&Installation, &Snapshot),
    new: &Installation,
    options: StartOptions,
) -> Result<(Server, UpgradeWay), UpgradeError> {
    let server = start(new, StartOptions { data_from: Some(snapshot.clone()), ..options })?;
    let way = if series(&old.entry) == series(&new.entry) {
        UpgradeWay::AsItIs
    } else if new.entry.family == Family::Mysql && new.entry.is_at_least(8, 0) {
        UpgradeWay::ByServer
    } else {
        by_program(&server, new)
    };
    Ok((server, way))
}

/// Returns the product and series of an entry. All versions of one series have one data format.
fn series(entry: &Entry) -> (&str, u32, u32) {
    (&entry.engine, entry.version_number(0), entry.version_number(1))
}

/// Runs the release's own upgrade program. If the program cannot run, the server still works, but its system tables
/// have the old form.
fn by_program(server: &Server, new: &Installation) -> UpgradeWay {
    if new.image.is_some() {
        return UpgradeWay::WithoutProgram("dyno runs no second program in an image".to_owned());
    }
    let own = server.program_folders();
    let Some((program, name)) =
        UPGRADERS.iter().find_map(|name| Some((find(&own, &[*name])?, (*name).to_owned())))
    else {
        return UpgradeWay::WithoutProgram(format!("its package has no {}", UPGRADERS[0]));
    };
    let on_path: Vec<PathBuf> =
        env::var_os("PATH").map(|path| env::split_paths(&path).collect()).unwrap_or_default();
    let mut reason =
        format!("{name} needs mariadb and mariadb-check, and they are neither in its package nor on PATH");
    for (folders, is_own) in [(own, true), (on_path, false)] {
        let clients: Option<Vec<_>> = CLIENTS.iter().map(|names| find(&folders, names)).collect();
        let Some(clients) = clients else { continue };
        let commands =
            clients.iter().map(|client| if is_own { new.program(client) } else { Command::new(client) });
        match run(server, &program, &name, commands) {
            Ok(()) => return UpgradeWay::ByProgram(name),
            Err(StartError::Ended { status, log, .. }) => {
                let last = log.last().map(|line| format!(": {line}")).unwrap_or_default();
                reason = format!("{name} failed ({status}){last}");
            }
            Err(error) => reason = error.to_string(),
        }
    }
    UpgradeWay::WithoutProgram(reason)
}

/// Searches the folders for a file that has one of the names. Returns the first file that exists.
fn find(folders: &[PathBuf], names: &[&str]) -> Option<PathBuf> {
    let paths = folders.iter().flat_map(|folder| names.iter().map(|name| folder.join(name)));
    paths.into_iter().find(|path| path.is_file())
}

/// Runs the program through a link. The link's folder also contains the clients, because the program looks for its
/// clients in its own folder.
fn run(
    server: &Server,
    program: &Path,
    name: &str,
    clients: impl Iterator<Item = Command>,
) -> Result<(), StartError> {
    let tools = server.folder_for_tools()?;
    let link = tools.join(name);
    symlink(program, &link).at("create", &link)?;
    for (client, names) in clients.zip(CLIENTS) {
        for path in names.map(|name| tools.join(name)) {
            fs::write(&path, script(&client)).at("write", &path)?;
            fs::set_permissions(&path, Permissions::from_mode(0o755)).at("write", &path)?;
        }
    }
    let access = server.access();
    let login = format!(
        "[client]\nuser={}\npassword={}\nsocket={}\n",
        access.user,
        access.password,
        access.socket.display()
    );
    let login = server.write_for_tool("upgrade.cnf", &login)?;
    server.run_tool(&link, |command| {
        command.arg(format!("--defaults-file={}", login.display()));
    })
}

/// Returns a shell script that runs a command and passes the script's arguments to it. The upgrade program can then
/// call a client that needs its own loader and libraries.
fn script(command: &Command) -> Vec<u8> {
    let mut text = b"#!/bin/sh\n".to_vec();
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            text.extend_from_slice(b"export ");
            text.extend_from_slice(name.as_bytes());
            text.push(b'=');
            quote(value, &mut text);
            text.push(b'\n');
        }
    }
    text.extend_from_slice(b"exec");
    for word in [command.get_program()].into_iter().chain(command.get_args()) {
        text.push(b' ');
        quote(word, &mut text);
    }
    text.extend_from_slice(b" \"$@\"\n");
    text
}

fn quote(word: &OsStr, text: &mut Vec<u8>) {
    text.push(b'\'');
    for byte in word.as_bytes() {
        match byte {
            b'\'' => text.extend_from_slice(b"'\\''"),
            byte => text.push(*byte),
        }
    }
    text.push(b'\'');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_runs_a_program_with_its_environment_and_more_arguments() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("it's");
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "echo $WORD $1", "x"]).env("WORD", "a'b c");
        fs::write(&path, script(&command)).unwrap();
        let output = Command::new("/bin/sh").arg(&path).arg("last one").output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stdout), "a'b c last one\n");
    }
}
