//! A record of the committed trials that have been seen in the results file, with digests of their contents.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};

/// A trial as read from the results file.
#[derive(Clone, Debug, Default)]
pub(super) struct Trial {
    pub(super) id: i64,
    pub(super) system: String,
    pub(super) step: String,
    pub(super) round: i64,
    pub(super) started_at_ms: i64,
    pub(super) is_completed: bool,
    pub(super) seconds: f64,
    pub(super) operations: i64,
    pub(super) errors: i64,
    pub(super) latency_max_us: f64,
    pub(super) gap_longest_seconds: f64,
    /// Digest of the trial's columns, and of the rows in other tables that belong to the trial.
    pub(super) digest: u64,
}

/// The state of a plan's latest run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct RunState {
    pub(super) id: i64,
    pub(super) status: String,
}

/// The results file, and the trials that it contained when it was last read.
pub(super) struct Ledger {
    path: PathBuf,
    seen: BTreeMap<i64, u64>,
}

impl Ledger {
    pub(super) fn new(path: PathBuf) -> Self {
        Self { path, seen: BTreeMap::new() }
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Records the trials that are committed now, and returns them. Also returns how many trials of the previous
    /// reading are gone or changed.
    pub(super) fn read(&mut self) -> rusqlite::Result<(Vec<Trial>, u32)> {
        let trials = match self.connect() {
            None => Vec::new(),
            Some(file) => trials(&file?)?,
        };
        let now: BTreeMap<i64, u64> = trials.iter().map(|trial| (trial.id, trial.digest)).collect();
        let lost = self.seen.iter().filter(|(id, digest)| now.get(id) != Some(digest)).count() as u32;
        // From now on, compare with the new state, so that each loss is counted once.
        self.seen = now;
        Ok((trials, lost))
    }

    /// Returns the latest run of a plan.
    pub(super) fn last_run(&self, plan: &str) -> rusqlite::Result<Option<RunState>> {
        let Some(file) = self.connect() else { return Ok(None) };
        let file = file?;
        let mut statement =
            file.prepare("SELECT id, status FROM run WHERE plan_name = ?1 ORDER BY id DESC LIMIT 1")?;
        let mut rows =
            statement.query_map([plan], |row| Ok(RunState { id: row.get(0)?, status: row.get(1)? }))?;
        rows.next().transpose()
    }

    /// Returns the number of rounds whose four trials are completed: two steps on two systems. Loads are not
    /// counted.
    pub(super) fn rounds_complete(&self, run: i64) -> rusqlite::Result<u32> {
        let Some(file) = self.connect() else { return Ok(0) };
        file?.query_row(
            "SELECT count(*) FROM (SELECT round FROM trial WHERE run_id = ?1 AND step_id <> 'load' AND
             outcome = 'completed' AND NOT is_superseded GROUP BY round HAVING count(*) = 4)",
            [run],
            |row| row.get(0),
        )
    }

    /// Opens the file; `None` while it does not exist or has no tables.
    fn connect(&self) -> Option<rusqlite::Result<Connection>> {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let file = match Connection::open_with_flags(&self.path, flags) {
            Err(_) if !self.path.exists() => return None,
            file => file,
        };
        let has_tables = |file: &Connection| -> rusqlite::Result<bool> {
            file.busy_timeout(Duration::from_secs(10))?;
            file.query_row("SELECT count(*) > 0 FROM sqlite_master WHERE name = 'trial'", [], |row| {
                row.get(0)
            })
        };
        match file.and_then(|file| has_tables(&file).map(|has| has.then_some(file))) {
            Ok(file) => file.map(Ok),
            Err(error) => Some(Err(error)),
        }
    }
}

fn trials(file: &Connection) -> rusqlite::Result<Vec<Trial>> {
    let parts = ["slice", "sample", "sample_latency", "trial_counter", "counter_series"]
        .map(|table| format!("(SELECT count(*) FROM {table} WHERE trial_id = trial.id)"));
    let mut statement =
        file.prepare(&format!("SELECT trial.*, {} FROM trial ORDER BY id", parts.join(", ")))?;
    // This column is left out of the digest, because it changes when the trial is repeated.
    let counts = statement.column_index("is_superseded")?;
    let columns = statement.column_count();
    let mut rows = statement.query([])?;
    let mut trials = Vec::new();
    while let Some(row) = rows.next()? {
        let mut hasher = DefaultHasher::new();
        for column in (0..columns).filter(|column| *column != counts) {
            match row.get_ref(column)? {
                ValueRef::Null => 0.hash(&mut hasher),
                ValueRef::Integer(number) => number.hash(&mut hasher),
                ValueRef::Real(number) => number.to_bits().hash(&mut hasher),
                ValueRef::Text(bytes) | ValueRef::Blob(bytes) => bytes.hash(&mut hasher),
            }
        }
        trials.push(Trial {
            id: row.get("id")?,
            system: row.get("system_id")?,
            step: row.get("step_id")?,
            round: row.get("round")?,
            started_at_ms: row.get("started_at_ms")?,
            is_completed: row.get::<_, String>("outcome")? == "completed",
            seconds: row.get::<_, Option<f64>>("seconds")?.unwrap_or(0.0),
            operations: row.get::<_, Option<i64>>("operations")?.unwrap_or(0),
            errors: row.get::<_, Option<i64>>("errors")?.unwrap_or(0),
            latency_max_us: row.get::<_, Option<f64>>("latency_max_us")?.unwrap_or(0.0),
            gap_longest_seconds: row.get::<_, Option<f64>>("gap_longest_seconds")?.unwrap_or(0.0),
            digest: hasher.finish(),
        });
    }
    Ok(trials)
}
