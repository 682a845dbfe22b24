//! Checks what is at the path of a results file.

use std::fs::FileType;
use std::os::unix::fs::FileTypeExt as _;
use std::path::{Path, PathBuf};

use crate::error::StoreError;

/// Endings of the files that SQLite keeps beside a database.
const BESIDE: [&str; 3] = ["-journal", "-wal", "-shm"];

/// Checks that whatever exists at the path, and at the paths of the files beside it, is a regular file. SQLite
/// would wait for ever for data from a pipe.
pub(super) fn check(path: &Path) -> Result<(), StoreError> {
    let beside = BESIDE.iter().map(|ending| beside(path, ending));
    for one in [path.to_owned()].into_iter().chain(beside) {
        // A path without a file needs no check. If the metadata cannot be read for another reason, SQLite cannot open
        // the file either.
        let Ok(about) = one.metadata() else { continue };
        if !about.is_file() {
            return Err(StoreError::NotAFile { path: one, kind: kind(about.file_type()) });
        }
    }
    Ok(())
}

fn kind(kind: FileType) -> &'static str {
    match kind {
        _ if kind.is_dir() => "a folder",
        _ if kind.is_fifo() => "a named pipe",
        _ if kind.is_socket() => "a socket",
        _ => "a device",
    }
}

/// The path with an ending, such as `-wal`.
pub(crate) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}
