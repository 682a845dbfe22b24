//! Identifies a run across results files, and describes how complete a file's copy of the run is.

use rusqlite::Row;

use crate::error::StoreError;
use crate::file::open::Store;
use crate::record::RunId;

/// Facts that identify a run in several results files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunIdentity {
    /// When the run started, in milliseconds since 1970 UTC.
    pub started_at_ms: i64,
    pub seed: u64,
    /// Facts about the host on which the run began, as the JSON text that is in the file.
    pub host: String,
    pub plan_text: String,
}

/// Completeness of a file's copy of a run. A more complete copy has a greater value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Completeness {
    pub completed_trials: u64,
    /// Number of trials, completed or failed.
    pub trials: u64,
    /// Whether the end of the run is recorded.
    pub has_ended: bool,
}

impl Store {
    /// The identity of a run of this file.
    ///
    /// # Errors
    /// The file cannot be read, or has no such run.
    pub fn run_identity(&self, run: RunId) -> Result<RunIdentity, StoreError> {
        let sql = "SELECT started_at_ms, seed, host, plan_text FROM run WHERE id = ?1";
        let identity = |row: &Row<'_>| {
            Ok(RunIdentity {
                started_at_ms: row.get(0)?,
                seed: row.get::<_, i64>(1)?.cast_unsigned(),
                host: row.get(2)?,
                plan_text: row.get(3)?,
            })
        };
        self.connection().query_row(sql, [run.0], identity).map_err(|error| self.error(error))
    }

    /// The completeness of this file's copy of a run.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn completeness(&self, run: RunId) -> Result<Completeness, StoreError> {
        let sql = "SELECT (SELECT count(*) FROM trial WHERE run_id = ?1 AND outcome = 'completed'),
                          (SELECT count(*) FROM trial WHERE run_id = ?1),
                          (SELECT finished_at_ms IS NOT NULL FROM run WHERE id = ?1)";
        let completeness = |row: &Row<'_>| {
            Ok(Completeness { completed_trials: row.get(0)?, trials: row.get(1)?, has_ended: row.get(2)? })
        };
        self.connection().query_row(sql, [run.0], completeness).map_err(|error| self.error(error))
    }
}
