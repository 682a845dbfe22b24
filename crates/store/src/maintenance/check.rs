//! Checks a whole file. SQLite itself checks only the first page when it opens a file, and other pages when it
//! reads them.

use crate::error::StoreError;
use crate::file::moment;
use crate::file::open::Store;
use crate::file::tables::{OF_RUN, OF_TRIAL};
use crate::record::trial::counters;
use crate::record::trial::latency::LatencyCounts;
use crate::record::{RunId, TrialId};
use crate::run::RunChoice;

/// Largest number of structural faults that are listed.
const STRUCTURE_FAULTS_MAX: u32 = 20;

/// A fault in a results file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// SQLite's own structure is damaged.
    #[error("{0}")]
    Structure(String),
    /// A row refers to a row that does not exist.
    #[error("{table}: a row refers to a {parent} that is not there")]
    Orphan {
        table: String,
        /// The table that the row refers to.
        parent: String,
    },
    /// A completed trial has no result.
    #[error("trial {}: completed without a result", trial.0)]
    NoResult { trial: TrialId },
    /// A trial's latency histogram cannot be read.
    #[error("trial {}: its latency histogram cannot be read", trial.0)]
    TrialHistogram { trial: TrialId },
    /// A sample's latency histogram cannot be read.
    #[error("trial {}: the latency histogram of sample {number} cannot be read", trial.0)]
    SampleHistogram { trial: TrialId, number: u32 },
    /// A column has values that no run writes, such as times outside the years 1970 to 9999, negative counts, or
    /// infinite figures.
    #[error("{table}: its {column} has values that no run writes (rows: {rows})")]
    Value { table: String, column: String, rows: u64 },
    /// A run cannot be read for a report.
    #[error("run {run}: it cannot be read: {reason}")]
    Run { run: RunId, reason: String },
    /// A counter's series cannot be read.
    #[error("trial {}: the series of the counter {counter} cannot be read", trial.0)]
    Series { trial: TrialId, counter: String },
}

impl Store {
    /// Reads the whole file and lists its faults: in SQLite's structure, in references between tables, in results, in
    /// histograms and in series. This takes some seconds for each gigabyte.
    ///
    /// # Errors
    /// The file cannot be read to its end.
    pub fn check_contents(&self) -> Result<Vec<Fault>, StoreError> {
        let structure = self.structure()?;
        if !structure.is_empty() {
            // The other checks cannot read a file with a damaged structure.
            return Ok(structure);
        }
        let checks = [
            Self::orphans,
            Self::missing_results,
            Self::senseless_values,
            Self::trial_histograms,
            Self::sample_histograms,
            Self::series,
            Self::unreadable_runs,
        ];
        let mut faults = Vec::new();
        for check in checks {
            faults.extend(check(self)?);
        }
        Ok(faults)
    }

    fn structure(&self) -> Result<Vec<Fault>, StoreError> {
        let sql = format!("PRAGMA integrity_check({STRUCTURE_FAULTS_MAX})");
        let told: Vec<String> = self.rows(&sql, [], |row| row.get(0))?;
        Ok(told.into_iter().filter(|line| line != "ok").map(Fault::Structure).collect())
    }

    fn orphans(&self) -> Result<Vec<Fault>, StoreError> {
        self.rows("SELECT DISTINCT \"table\", parent FROM pragma_foreign_key_check", [], |row| {
            Ok(Fault::Orphan { table: row.get(0)?, parent: row.get(1)? })
        })
    }

    fn missing_results(&self) -> Result<Vec<Fault>, StoreError> {
        let sql = "SELECT id FROM trial
                   WHERE outcome = 'completed' AND (seconds IS NULL OR operations IS NULL OR latency IS NULL)";
        self.rows(sql, [], |row| Ok(Fault::NoResult { trial: TrialId(row.get(0)?) }))
    }

    /// Finds numbers that have the type of their column but are impossible, such as negative counts.
    fn senseless_values(&self) -> Result<Vec<Fault>, StoreError> {
        let mut faults = Vec::new();
        for table in [&["run", "trial"], OF_RUN, OF_TRIAL].concat() {
            let columns: Vec<(String, String)> =
                self.rows("SELECT name, type FROM pragma_table_info(?1)", [table], |row| {
                    Ok((row.get(0)?, row.get(1)?))
                })?;
            let (columns, counts): (Vec<_>, Vec<_>) = columns
                .iter()
                .filter_map(|(name, kind)| Some((name, senseless(name, kind)?)))
                .map(|(name, condition)| (name, format!("count(*) FILTER (WHERE {condition})")))
                .unzip();
            if counts.is_empty() {
                continue;
            }
            self.for_each_row(&format!("SELECT {} FROM {table}", counts.join(", ")), [], |row| {
                for (at, column) in columns.iter().enumerate() {
                    let rows: u64 = row.get(at)?;
                    if rows > 0 {
                        let (table, column) = (table.to_owned(), (*column).clone());
                        faults.push(Fault::Value { table, column, rows });
                    }
                }
                Ok(())
            })?;
        }
        Ok(faults)
    }

    fn unreadable_runs(&self) -> Result<Vec<Fault>, StoreError> {
        let runs: Vec<i64> = self.rows("SELECT id FROM run ORDER BY id", [], |row| row.get(0))?;
        let fault = |run: RunId| match self.load_run(RunChoice::Id(run)) {
            Err(StoreError::Damaged { reason, .. }) => Some(Ok(Fault::Run { run, reason })),
            Err(error) => Some(Err(error)),
            Ok(_) => None,
        };
        runs.into_iter().map(RunId).filter_map(fault).collect()
    }

    fn trial_histograms(&self) -> Result<Vec<Fault>, StoreError> {
        let sql = "SELECT latency, id FROM trial WHERE latency IS NOT NULL UNION ALL
                   SELECT latency_censored, id FROM trial WHERE latency_censored IS NOT NULL";
        self.faults(sql, is_histogram, |row| Ok(Fault::TrialHistogram { trial: TrialId(row.get(1)?) }))
    }

    fn sample_histograms(&self) -> Result<Vec<Fault>, StoreError> {
        // A missing histogram also counts as unreadable.
        let sql =
            "SELECT latency, trial_id, number FROM sample LEFT JOIN sample_latency USING (trial_id, number)";
        self.faults(sql, is_histogram, |row| {
            Ok(Fault::SampleHistogram { trial: TrialId(row.get(1)?), number: row.get(2)? })
        })
    }

    fn series(&self) -> Result<Vec<Fault>, StoreError> {
        let sql = "SELECT s.encoded, s.trial_id, n.name FROM counter_series s
                   JOIN counter n ON n.id = s.counter_id";
        self.faults(sql, counters::is_sound, |row| {
            Ok(Fault::Series { trial: TrialId(row.get(1)?), counter: row.get(2)? })
        })
    }

    /// Runs a query and returns a fault for each row whose first column is not a valid blob.
    fn faults(
        &self,
        sql: &str,
        is_sound: impl Fn(&[u8]) -> bool,
        fault: impl Fn(&rusqlite::Row<'_>) -> rusqlite::Result<Fault>,
    ) -> Result<Vec<Fault>, StoreError> {
        let mut faults = Vec::new();
        self.for_each_row(sql, [], |row| {
            if !row.get_ref(0)?.as_blob().is_ok_and(&is_sound) {
                faults.push(fault(row)?);
            }
            Ok(())
        })?;
        Ok(faults)
    }
}

/// Returns an SQL condition that finds meaningless numbers in a column; `None` if the column has no numbers or may
/// have any number.
fn senseless(column: &str, kind: &str) -> Option<String> {
    match kind {
        // A seed is an unsigned number whose bits are stored as a signed number, so it may be negative.
        "INTEGER" if column == "seed" => None,
        "INTEGER" if column.ends_with("_at_ms") => {
            Some(format!("{column} NOT BETWEEN 0 AND {}", moment::LAST_MS))
        }
        "INTEGER" => Some(format!("{column} < 0")),
        "REAL" => Some(format!("abs({column}) > {:e}", f64::MAX)),
        _ => None,
    }
}

fn is_histogram(bytes: &[u8]) -> bool {
    LatencyCounts::from_bytes(bytes).is_some()
}
