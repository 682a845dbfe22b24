//! Crashes of real servers. Power cuts need root. Without root, the tests of power cuts are ignored, and the reason
//! is reported.

mod failover;
mod power;
mod process;

use std::collections::BTreeMap;
use std::env;
use std::io::{stdin, stdout};
use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

use dyno_crash::{CrashOptions, CrashReport, CrashedSystem, Observer, crash_test, serve_sqlite};
use dyno_engine::Installation;
use dyno_settings::CrashKind;

fn main() -> ExitCode {
    // The tests of SQLite start this program again as a client process that can be killed.
    let arguments: Vec<_> = env::args_os().collect();
    if let [_, role, file] = &arguments[..]
        && role == "crash-client"
    {
        serve_sqlite(Path::new(file), stdin().lock(), stdout().lock()).unwrap();
        return ExitCode::SUCCESS;
    }
    dyno_testing::main(&[])
}

/// The names of a system's settings, with their values.
type Settings<'a> = &'a [(&'a str, &'a str)];

/// An observer that does nothing.
struct Nobody;

impl Observer for Nobody {}

/// Two crashes, few commits.
fn options(kind: CrashKind) -> CrashOptions {
    CrashOptions { kind, crashes: 2, commits: 200, clients: 4, seed: 1, volume_bytes: 1 << 30 }
}

/// Crashes a system, such as `mariadb@10.11/rocksdb`.
fn crash(
    system: &str,
    installation: &Installation,
    settings: Settings<'_>,
    options: &CrashOptions,
    observer: &mut dyn Observer,
) -> CrashReport {
    crash_by(system, installation, settings, |system| {
        crash_test(system, options, &AtomicBool::new(false), observer).unwrap()
    })
}

/// Starts `test` on a system, such as `mariadb@10.11/rocksdb`. The function `test` must crash the system.
fn crash_by(
    system: &str,
    installation: &Installation,
    settings: Settings<'_>,
    test: impl FnOnce(&CrashedSystem) -> CrashReport,
) -> CrashReport {
    let folder = tempfile::tempdir().unwrap();
    let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
    let system = CrashedSystem {
        installation: installation.clone(),
        storage_engine: system.split_once('/').map(|(_, name)| name.to_owned()),
        settings: settings.iter().map(own).collect::<BTreeMap<_, _>>(),
        data_root: folder.path().to_owned(),
        sqlite_program: env::current_exe().unwrap(),
    };
    let report = test(&system);
    let items = std::fs::read_dir(folder.path()).unwrap().map(|item| item.unwrap().path());
    let left: Vec<_> = items.filter(|item| item.is_dir()).collect();
    assert!(left.is_empty(), "{left:?}");
    report
}
