//! The files that SQLite keeps beside a results file while it is open.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};

use super::place;

/// Removes a reader's `-wal` and `-shm` when it is dropped, which is after the reader's connection.
///
/// A connection that may not write leaves both files behind. If a connection that may write then closes last,
/// SQLite moves the log into the file and removes both, under its own locks. While others have the file open,
/// nothing is removed.
#[derive(Debug)]
pub(super) struct Leftovers {
    path: PathBuf,
    may_go: bool,
}

impl Leftovers {
    /// What will be left behind by opening a file now. Files that exist already may belong to another
    /// program, and stay.
    pub(super) fn of(path: &Path) -> Self {
        Self { path: path.to_owned(), may_go: !is_log_there(path) }
    }

    /// Also removes what an ended run left behind, because the file is known to be a results file.
    pub(super) fn let_go(&mut self) {
        self.may_go = true;
    }
}

impl Drop for Leftovers {
    fn drop(&mut self) {
        if !self.may_go || !is_log_there(&self.path) || place::check(&self.path).is_err() {
            return;
        }
        // If the file may not be written, both stay.
        let Ok(connection) = Connection::open_with_flags(&self.path, OpenFlags::SQLITE_OPEN_READ_WRITE)
        else {
            return;
        };
        // SQLite opens the log at the first read.
        let _ = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()));
    }
}

/// Whether there is a `-wal` or `-shm` beside a results file.
fn is_log_there(path: &Path) -> bool {
    ["-wal", "-shm"].iter().any(|ending| place::beside(path, ending).exists())
}
