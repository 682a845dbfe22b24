//! The figures of a trial's seconds without their histograms, for charts.

use crate::error::StoreError;
use crate::file::open::Store;
use crate::record::Phase;
use crate::record::TrialId;
use crate::record::trial::columns::{ByPlace as _, Usage};

/// Figures of one interval of a trial, usually a second.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Second {
    /// Whether the interval belongs to the warm-up or to the measurement.
    pub phase: Phase,
    pub seconds: f64,
    /// Operations that the step's rate counts.
    pub operations: u64,
    /// Finished events.
    pub events: u64,
    /// Events that became due in the interval; `None` in a closed loop.
    pub due: Option<u64>,
    /// Ignored errors.
    pub errors: u64,
    /// Events that failed with their connection.
    pub failed: u64,
    /// Median latency in µs; `None` if no event finished.
    pub p50_us: Option<f64>,
    /// 95th percentile of the latency, in µs.
    pub p95_us: Option<f64>,
    /// 99th percentile of the latency, in µs.
    pub p99_us: Option<f64>,
    pub max_us: Option<f64>,
    pub usage: Usage,
}

/// The data from which the rate of one interval of a trial is computed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SecondRate {
    /// Whether the interval belongs to the warm-up or to the measurement.
    pub phase: Phase,
    pub seconds: f64,
    /// Operations that the step's rate counts.
    pub operations: u64,
    /// Finished events.
    pub events: u64,
    /// Events that became due in the interval; `None` in a closed loop.
    pub due: Option<u64>,
    /// Events that failed with their connection.
    pub failed: u64,
    /// 99th percentile of the latency in µs; `None` if no event finished.
    pub p99_us: Option<f64>,
}

impl Second {
    /// The data from which the interval's rate is computed.
    pub fn rate(&self) -> SecondRate {
        let Self { phase, seconds, operations, events, due, failed, p99_us, .. } = *self;
        SecondRate { phase, seconds, operations, events, due, failed, p99_us }
    }
}

impl Store {
    /// The data of a trial's seconds from which rates are computed, in order. This is much faster than
    /// [`Self::seconds`].
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn second_rates(&self, trial: TrialId) -> Result<Vec<SecondRate>, StoreError> {
        let sql = "SELECT phase = 'warmup', seconds, operations, events, due, failed, latency_p99_us
                   FROM sample WHERE trial_id = ?1 ORDER BY number";
        self.rows(sql, [trial.0], |row| {
            Ok(SecondRate {
                phase: if row.get(0)? { Phase::Warmup } else { Phase::Measure },
                seconds: row.get(1)?,
                operations: row.get(2)?,
                events: row.get(3)?,
                due: row.get(4)?,
                failed: row.get(5)?,
                p99_us: row.get(6)?,
            })
        })
    }

    /// The seconds of a trial, in order.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn seconds(&self, trial: TrialId) -> Result<Vec<Second>, StoreError> {
        // Columns are read by position and not by name, because reports read hundreds of thousands of rows.
        let sql = format!(
            "SELECT phase = 'warmup', seconds, operations, events, due, errors, failed, latency_p50_us,
                    latency_p95_us, latency_p99_us, latency_max_us, {} FROM sample WHERE trial_id = ?1 ORDER BY number",
            Usage::COLUMNS.join(", ")
        );
        self.rows(&sql, [trial.0], |row| {
            Ok(Second {
                phase: if row.get(0)? { Phase::Warmup } else { Phase::Measure },
                seconds: row.get(1)?,
                operations: row.get(2)?,
                events: row.get(3)?,
                due: row.get(4)?,
                errors: row.get(5)?,
                failed: row.get(6)?,
                p50_us: row.get(7)?,
                p95_us: row.get(8)?,
                p99_us: row.get(9)?,
                max_us: row.get(10)?,
                usage: Usage::from_row_at(row, 11)?,
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use crate::sample::{File, trial};

    #[test]
    fn seconds_are_the_samples_without_their_histograms() {
        let mut file = File::new();
        let id = file.store.commit_trial(file.run, &trial("old", 0, 1000)).unwrap();
        let seconds = file.store.seconds(id).unwrap();
        let samples = file.store.samples(id).unwrap();
        assert_eq!(seconds.len(), samples.len());
        let rates: Vec<_> = seconds.iter().map(super::Second::rate).collect();
        assert_eq!(file.store.second_rates(id).unwrap(), rates);
        for (second, sample) in seconds.iter().zip(&samples) {
            assert_eq!((second.phase, second.usage), (sample.phase, sample.usage));
            let counts = &sample.measured.counts;
            assert_eq!((second.operations, second.events), (counts.operations, counts.events));
            assert_eq!(second.due, sample.measured.due);
            assert_eq!(second.errors, 1);
        }
        assert_eq!(
            (seconds[1].p50_us, seconds[1].p99_us, seconds[1].max_us),
            (Some(200.0), Some(300.0), Some(300.0))
        );
    }
}
