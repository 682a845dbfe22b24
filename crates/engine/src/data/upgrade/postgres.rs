//! Upgrades data of PostgreSQL: by `pg_upgrade` if both versions have it, otherwise by a dump of the old server
//! that is loaded into the new server.

use std::env;
use std::fs;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::thread;

use super::{UpgradeError, UpgradeWay, pg_upgrade};
use crate::cache::installation::Installation;
use crate::cache::snapshot::Snapshot;
use crate::data::dump::load_dump;
use crate::data::folder::major;
use crate::machine::environment;
use crate::machine::lines;
use crate::machine::path_error::At as _;
use crate::start::server::{Server, StartOptions, start};

const PROGRAM: &str = "pg_dumpall";
/// Where Debian's packages put the programs of each version.
const OF_DEBIAN: &str = "/usr/lib/postgresql";
/// At most this many bytes of the dump program's messages are kept.
const WORDS_BYTES_MAX: u64 = 64 * 1024;
const WORDS: usize = 10;

pub(super) fn upgraded(
    (old, snapshot): (&Installation, &Snapshot),
    new: &Installation,
    options: StartOptions,
    stop: &AtomicBool,
) -> Result<(Server, UpgradeWay), UpgradeError> {
    if major(&old.entry) == major(&new.entry) {
        let options = StartOptions { data_from: Some(snapshot.clone()), ..options };
        return Ok((start(new, options)?, UpgradeWay::AsItIs));
    }
    if pg_upgrade::has_pg_upgrade(old, new) {
        return Ok((pg_upgrade::upgraded((old, snapshot), new, options)?, UpgradeWay::PgUpgrade));
    }
    let program = dump_program(old, new)?;
    let place = StartOptions::new(&options.data_root);
    let from = start(old, StartOptions { data_from: Some(snapshot.clone()), ..place })?;
    let to = start(new, options)?;
    pass_on(&program, &from, &to, stop)?;
    Ok((to, UpgradeWay::Dump(program.name)))
}

/// A program that dumps a server.
struct DumpProgram {
    path: PathBuf,
    /// The program's name with its version, for the report.
    name: String,
    /// The installation that the program belongs to. `None` for a program of the host.
    of: Option<Installation>,
}

impl DumpProgram {
    fn command(&self) -> Command {
        if let Some(installation) = &self.of {
            return installation.program(&self.path);
        }
        let mut command = Command::new(&self.path);
        environment::restrict(&mut command);
        command
    }

    /// The program's major version, and its name with its whole version.
    fn version(&self) -> Option<(u32, String)> {
        let output = self.command().arg("--version").stdin(Stdio::null()).output().ok()?;
        let text = String::from_utf8_lossy(&output.stdout);
        let version = text.split_whitespace().nth(2)?.to_owned();
        let major = version.split('.').next()?.parse().ok()?;
        Some((major, format!("{PROGRAM} {version}")))
    }
}

/// Finds a program that can dump the old server. Prefers the program of the new version, then the program of the old
/// version, then the host's program.
fn dump_program(old: &Installation, new: &Installation) -> Result<DumpProgram, UpgradeError> {
    let of = |installation: &Installation| {
        let own = installation.clone();
        installation.program_folders().into_iter().map(move |folder| (folder, Some(own.clone())))
    };
    let path =
        env::var_os("PATH").map(|path| env::split_paths(&path).collect::<Vec<_>>()).unwrap_or_default();
    let of_host = folders_of_debian().into_iter().chain(path).map(|folder| (folder, None));
    let wanted = old.entry.version_number(0);
    of(new)
        .chain(of(old))
        .chain(of_host)
        .map(|(folder, of)| DumpProgram { path: folder.join(PROGRAM), name: String::new(), of })
        .filter(|program| program.path.is_file())
        .find_map(|program| {
            let (major, name) = program.version()?;
            (major >= wanted).then_some(DumpProgram { name, ..program })
        })
        .ok_or_else(|| UpgradeError::NoDumpProgram {
            old: old.entry.to_string(),
            new: new.entry.to_string(),
            version: major(&old.entry),
        })
}

/// The folders of programs in Debian's packages. The folder of the latest version comes first.
fn folders_of_debian() -> Vec<PathBuf> {
    let items = fs::read_dir(OF_DEBIAN).into_iter().flatten().flatten();
    let mut versions: Vec<u32> = items.filter_map(|item| item.file_name().to_str()?.parse().ok()).collect();
    versions.sort_unstable();
    versions
        .into_iter()
        .rev()
        .map(|version| Path::new(OF_DEBIAN).join(version.to_string()).join("bin"))
        .collect()
}

/// Dumps one server, and loads the dump into the other server.
fn pass_on(program: &DumpProgram, from: &Server, to: &Server, stop: &AtomicBool) -> Result<(), UpgradeError> {
    let access = from.access();
    let mut command = program.command();
    command
        .arg("--host")
        .arg(access.socket.parent().unwrap_or(Path::new("/")))
        .args(["--port", &access.port.to_string(), "--username", &access.user])
        .args(["--no-password", "--no-role-passwords", "--database", "template1"])
        .env("PGPASSWORD", &access.password)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().at("run", &program.path)?;
    let words = child.stderr.take().map(|pipe| thread::spawn(move || words_of(pipe)));
    let loaded = match child.stdout.take() {
        Some(pipe) => load_dump(to, PROGRAM, &mut BufReader::new(pipe), stop),
        None => Ok(()),
    };
    let status = end(&mut child, loaded.is_err()).at("wait for", &program.path)?;
    // The dump program is killed if the load fails. Then the error of the load is the cause, not the program's status.
    if loaded.is_ok() && !status.success() {
        let words = words.and_then(|thread| thread.join().ok()).unwrap_or_default();
        return Err(UpgradeError::DumpProgram {
            program: program.name.clone(),
            status: status.to_string(),
            words,
        });
    }
    Ok(loaded?)
}

fn end(child: &mut Child, is_given_up: bool) -> std::io::Result<std::process::ExitStatus> {
    if is_given_up {
        // An error is ignored, because the program may already have ended by itself.
        let _ = child.kill();
    }
    child.wait()
}

fn words_of(mut pipe: impl Read) -> Vec<String> {
    let mut text = Vec::new();
    // An error is ignored. The error message of the dump then lacks the program's messages.
    let _ = (&mut pipe).take(WORDS_BYTES_MAX).read_to_end(&mut text);
    let _ = std::io::copy(&mut pipe, &mut std::io::sink());
    lines::last(&text, WORDS)
}
