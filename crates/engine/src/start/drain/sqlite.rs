//! Drains SQLite: checkpoints the write-ahead log.

use std::fs;
use std::panic;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rusqlite::{Connection, InterruptHandle, OpenFlags};

use super::backlog::Backlog;
use super::error::DrainError;
use super::report::DrainAmount;

/// Time limit of one attempt to checkpoint. An attempt waits for readers and writers in other processes.
const BUSY_PATIENCE: Duration = Duration::from_millis(100);

/// The pending writes of a database. Without a write-ahead log there are none.
pub(super) struct Sqlite {
    database: PathBuf,
    work: Option<Checkpoint>,
}

struct Checkpoint {
    interrupt: InterruptHandle,
    is_over: Arc<AtomicBool>,
    thread: JoinHandle<Result<(), rusqlite::Error>>,
}

impl Sqlite {
    pub(super) fn new(database: &Path) -> Self {
        Self { database: database.to_owned(), work: None }
    }

    /// Returns the size of the write-ahead log in bytes. Does not open the log, because closing a file releases all
    /// locks that this process has on it, and SQLite may hold some.
    fn wal_bytes(&self) -> u64 {
        let mut wal = self.database.clone().into_os_string();
        wal.push("-wal");
        fs::metadata(wal).map_or(0, |metadata| metadata.len())
    }
}

impl Backlog for Sqlite {
    fn look(&mut self) -> Result<Vec<DrainAmount>, DrainError> {
        if self.work.as_ref().is_some_and(|work| work.thread.is_finished()) {
            self.end()?;
        }
        Ok(vec![DrainAmount::down_to(0.0, "write-ahead log (bytes)", self.wal_bytes() as f64)])
    }

    fn begin(&mut self) -> Result<(), DrainError> {
        if self.wal_bytes() > 0 {
            // The flags do not include CREATE, so that a missing database is not created.
            let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
            let connection = Connection::open_with_flags(&self.database, flags)?;
            connection.busy_timeout(BUSY_PATIENCE)?;
            let interrupt = connection.get_interrupt_handle();
            let is_over = Arc::new(AtomicBool::new(false));
            let stop = Arc::clone(&is_over);
            let thread = thread::spawn(move || checkpoint(&connection, &stop));
            self.work = Some(Checkpoint { interrupt, is_over, thread });
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), DrainError> {
        let Some(Checkpoint { interrupt, is_over, thread }) = self.work.take() else { return Ok(()) };
        is_over.store(true, Ordering::Relaxed);
        interrupt.interrupt();
        match thread.join() {
            Ok(Err(error))
                if error.sqlite_error_code() == Some(rusqlite::ErrorCode::OperationInterrupted) =>
            {
                Ok(())
            }
            Ok(outcome) => Ok(outcome?),
            Err(panic) => panic::resume_unwind(panic),
        }
    }
}

/// Checkpoints the log. Tries again until no reader or writer is in the way.
fn checkpoint(connection: &Connection, is_over: &AtomicBool) -> Result<(), rusqlite::Error> {
    while !is_over.load(Ordering::Relaxed) {
        let is_busy: bool = connection.query_row("PRAGMA wal_checkpoint(TRUNCATE)", (), |row| row.get(0))?;
        if !is_busy {
            break;
        }
    }
    Ok(())
}
