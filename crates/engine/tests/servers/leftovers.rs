//! A server that has ended leaves nothing behind.

use std::fs::{self, File};
use std::path::Path;

pub(crate) use dyno_engine::testing::wait_until;

/// Returns the command line of each process whose command line contains the path of a folder.
pub(crate) fn processes_of(folder: &Path) -> Vec<String> {
    let folder = folder.to_string_lossy().into_owned();
    fs::read_dir("/proc")
        .unwrap()
        .filter_map(|item| fs::read(item.unwrap().path().join("cmdline")).ok())
        .map(|line| String::from_utf8_lossy(&line).replace('\0', " "))
        .filter(|line| line.contains(&folder))
        .collect()
}

/// Whether every server of a folder is dead. While a server lives, it holds the lock on `dyno.lock` in its own
/// folder.
pub(crate) fn are_dead(folder: &Path) -> bool {
    let locks = fs::read_dir(folder).unwrap().map(|item| item.unwrap().path().join("dyno.lock"));
    locks.filter(|lock| lock.exists()).all(|lock| File::open(lock).unwrap().try_lock_shared().is_ok())
}

/// Asserts that no process uses the folder, and that it is empty.
pub(crate) fn assert_nothing_left(folder: &Path) {
    assert_eq!(processes_of(folder), [""; 0]);
    let names: Vec<_> = fs::read_dir(folder).unwrap().map(|item| item.unwrap().file_name()).collect();
    assert_eq!(names, [""; 0]);
}
