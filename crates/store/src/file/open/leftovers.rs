//! The files that SQLite keeps beside a results file while it is open.

use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};

use super::place;

/// Removes the `-wal` and `-shm` files that a reader leaves behind. The files are removed when this value is dropped,
/// which must happen after the reader's connection is closed.
///
/// A read-only connection leaves both files behind. To remove them, dropping this value opens and closes a connection
/// that may write. When that connection is the last to close, SQLite moves the log into the file and removes both
/// files, under SQLite's own locks. While other connections are open, nothing is removed.
#[derive(Debug)]
pub(super) struct Leftovers {
    path: PathBuf,
    may_go: bool,
}

impl Leftovers {
    /// Notes whether there is a `-wal` or `-shm` file before a reader opens the results file. Files that exist already
    /// may belong to another program, so they are not removed.
    pub(super) fn of(path: &Path) -> Self {
        Self { path: path.to_owned(), may_go: !is_log_there(path) }
    }

    /// Allows the removal of the `-wal` and `-shm` files even if they existed already, for example because a run was
    /// killed. The file beside them is now known to be a results file.
    pub(super) fn let_go(&mut self) {
        self.may_go = true;
    }
}

impl Drop for Leftovers {
    fn drop(&mut self) {
        if !self.may_go || !is_log_there(&self.path) || place::check(&self.path).is_err() {
            return;
        }
        // Without permission to write the results file, nothing is removed.
        let Ok(connection) = Connection::open_with_flags(&self.path, OpenFlags::SQLITE_OPEN_READ_WRITE)
        else {
            return;
        };
        // SQLite opens the log at the first read.
        let _ = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()));
    }
}

/// Whether there is a `-wal` or `-shm` file beside a results file.
fn is_log_there(path: &Path) -> bool {
    ["-wal", "-shm"].iter().any(|ending| place::beside(path, ending).exists())
}
