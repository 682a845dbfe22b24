//! Checks a whole file. Without it, SQLite checks the first page when it opens a file, and other pages when it reads
//! them.

use crate::counters;
use crate::error::StoreError;
use crate::latency::LatencyCounts;
use crate::open::Store;
use crate::run::TrialId;

/// Largest number of structural faults in the list.
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
        /// The table that it refers to.
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
    /// A counter's series cannot be read.
    #[error("trial {}: the series of the counter {counter} cannot be read", trial.0)]
    Series { trial: TrialId, counter: String },
}

impl Store {
    /// Reads the whole file and lists its faults in SQLite's structure, references between tables, results, histograms
    /// and series. Takes seconds for each gigabyte.
    ///
    /// # Errors
    /// The file cannot be read to its end.
    pub fn check_contents(&self) -> Result<Vec<Fault>, StoreError> {
        let structure = self.structure()?;
        if !structure.is_empty() {
            // The other checks cannot read a file with a damaged structure.
            return Ok(structure);
        }
        let checks = [Self::orphans, Self::missing_results, Self::trial_histograms, Self::sample_histograms];
        let mut faults = Vec::new();
        for check in checks {
            faults.extend(check(self)?);
        }
        faults.extend(self.series()?);
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

    /// Lists the rows whose first column is invalid.
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

fn is_histogram(bytes: &[u8]) -> bool {
    LatencyCounts::from_bytes(bytes).is_some()
}
