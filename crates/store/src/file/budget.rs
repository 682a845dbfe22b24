//! Limits on the cost of one query. In a sound file, no query comes near the limits. In a damaged or hostile file,
//! pages may refer to each other in such a way that a table never ends or repeats the same bytes many times.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rusqlite::types::ValueRef;
use rusqlite::{Connection, Error, Row, ffi};

use crate::file::open::beside;

/// Number of steps of SQLite's virtual machine between two checks of the limit.
const STEPS_BETWEEN_LOOKS: u32 = 10_000;
/// Allowed steps of a query: this number plus [`STEPS_PER_BYTE`] for each byte of the file. A row takes a few steps
/// for each of its bytes.
const STEPS: u64 = 5_000_000;
const STEPS_PER_BYTE: u64 = 32;
/// Allowed bytes of a query's rows: this number plus [`ROW_BYTES_PER_BYTE`] for each byte of the file. The rows may
/// exceed the file, because a join repeats names.
const ROW_BYTES: u64 = 1 << 20;
const ROW_BYTES_PER_BYTE: u64 = 16;

/// Bytes of copied rows that are allowed even if the file is smaller.
const COPIED_BYTES: u64 = 1 << 20;

/// The cost of a connection's current query so far.
#[derive(Debug)]
pub(crate) struct Budget {
    path: PathBuf,
    steps: AtomicU64,
    row_bytes: AtomicU64,
    /// Bytes of all rows that were copied into another file.
    copied_bytes: AtomicU64,
}

impl Budget {
    pub(crate) fn new(path: PathBuf) -> Arc<Self> {
        let [steps, row_bytes, copied_bytes] = [const { AtomicU64::new(0) }; 3];
        Arc::new(Self { path, steps, row_bytes, copied_bytes })
    }

    /// Makes a connection end a query that exceeds its allowed steps.
    pub(crate) fn limit_steps(self: &Arc<Self>, connection: &mut Connection) -> rusqlite::Result<()> {
        let budget = Arc::clone(self);
        connection.progress_handler(STEPS_BETWEEN_LOOKS as i32, Some(move || !budget.has_steps()))
    }

    /// Removes the limit on steps from a connection.
    pub(crate) fn lift(connection: &mut Connection) -> rusqlite::Result<()> {
        connection.progress_handler(0, None::<fn() -> bool>)
    }

    /// Resets the cost at the beginning of a new query.
    pub(crate) fn renew(&self) {
        self.steps.store(0, Ordering::Relaxed);
        self.row_bytes.store(0, Ordering::Relaxed);
    }

    fn has_steps(&self) -> bool {
        let taken = add(&self.steps, STEPS_BETWEEN_LOOKS.into());
        taken <= STEPS || taken <= STEPS.saturating_add(self.file_bytes().saturating_mul(STEPS_PER_BYTE))
    }

    /// Counts a row of the query.
    ///
    /// # Errors
    /// If the query has returned more bytes than allowed.
    pub(crate) fn take(&self, row: &Row<'_>) -> rusqlite::Result<()> {
        let taken = add(&self.row_bytes, stored_bytes_min(row)?);
        let is_within = taken <= ROW_BYTES
            || taken <= ROW_BYTES.saturating_add(self.file_bytes().saturating_mul(ROW_BYTES_PER_BYTE));
        if is_within { Ok(()) } else { Err(endless()) }
    }

    /// Counts a row that is copied into another file. A connection copies each row at most once, so the sum is
    /// limited by the size of the file.
    ///
    /// # Errors
    /// If the copied bytes exceed both the size of the file and [`COPIED_BYTES`].
    pub(crate) fn copy(&self, row: &Row<'_>) -> rusqlite::Result<()> {
        let copied = add(&self.copied_bytes, stored_bytes_min(row)?);
        // The size of the file is read only after more than `COPIED_BYTES` were copied.
        if copied <= COPIED_BYTES || copied <= self.file_bytes() { Ok(()) } else { Err(endless()) }
    }

    /// Size of the file and its write-ahead log. Both grow during a run.
    pub(crate) fn file_bytes(&self) -> u64 {
        let bytes = |path| std::fs::metadata(path).map_or(0, |about| about.len());
        bytes(self.path.clone()).saturating_add(bytes(beside(&self.path, "-wal")))
    }
}

/// Adds a number and returns the sum.
fn add(sum: &AtomicU64, number: u64) -> u64 {
    sum.fetch_add(number, Ordering::Relaxed).saturating_add(number)
}

/// The error of a query that exceeds a limit.
pub(crate) fn endless() -> Error {
    Error::SqliteFailure(ffi::Error::new(ffi::SQLITE_INTERRUPT), None)
}

/// The fewest bytes that the values of a row take in a file: one byte for the type of each value, and the bytes of
/// texts and blobs (<https://www.sqlite.org/fileformat2.html#record_format>).
pub(crate) fn stored_bytes_min(row: &Row<'_>) -> rusqlite::Result<u64> {
    let bytes = |at| {
        Ok(match row.get_ref(at)? {
            ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.len() as u64 + 1,
            ValueRef::Null | ValueRef::Integer(_) | ValueRef::Real(_) => 1,
        })
    };
    (0..row.as_ref().column_count()).map(bytes).sum()
}

#[cfg(test)]
mod tests;
