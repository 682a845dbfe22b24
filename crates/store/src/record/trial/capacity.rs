//! The search for a capacity: what a step requests, and what its trials found.

use std::fmt;

use serde::{Deserialize, Serialize};

/// The limit of latency within which a step searches for the highest rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct FindRecord {
    /// The percentile of latency that is limited: 50, 95 or 99.
    pub percentile: u32,
    /// The largest allowed value of the percentile, in ms.
    pub limit_ms: f64,
    /// The search ends when the upper end of its interval is less than `1 + within` times the lower end.
    pub within: f64,
}

impl FindRecord {
    /// The share of events that may take longer than the limit.
    pub fn share_beyond(&self) -> f64 {
        f64::from(100 - self.percentile) / 100.0
    }
}

/// Writes the limit in the form `p99 ≤ 5 ms`.
impl fmt::Display for FindRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "p{} ≤ {} ms", self.percentile, self.limit_ms)
    }
}

/// The highest rate at which a system keeps a limit, in events per second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CapacityRecord {
    pub per_second: f64,
    /// Lower end of the 95% interval of the search.
    pub low_per_second: f64,
    /// Upper end of the 95% interval of the search.
    pub high_per_second: f64,
}

/// A probe of a search: an interval in which events were due at a constant rate.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProbeRecord {
    /// Events due per second.
    pub rate_per_second: f64,
    /// Measured time of the probe.
    pub seconds: f64,
    /// Number of events that were due in the probe.
    pub due: u64,
    /// The limited percentile of the latency of due events, in ms; `None` if no event was due. An event that never
    /// began counts with its age.
    pub latency_ms: Option<f64>,
    /// Number of due events that had not begun at the end of the probe.
    pub backlog: u64,
    /// Whether the backlog was so small that chance can explain it.
    pub is_sustained: bool,
    /// Whether the rate was sustained and the percentile was within the limit.
    pub keeps_limit: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::RunChoice;
    use crate::sample::{File, trial};

    #[test]
    fn a_search_is_kept_with_its_capacity_and_its_probes() {
        let mut file = File::new();
        let probe = |rate_per_second, latency_ms, keeps_limit| ProbeRecord {
            rate_per_second,
            seconds: 1.0,
            due: 1030,
            latency_ms,
            backlog: 3,
            is_sustained: true,
            keeps_limit,
        };
        let mut record = trial("old", 0, 1000);
        record.capacity =
            Some(CapacityRecord { per_second: 160.0, low_per_second: 150.5, high_per_second: 170.0 });
        record.probes = vec![probe(200.0, Some(7.5), false), probe(100.0, None, true)];
        file.store.commit_trial(file.run, &record).unwrap();
        let run = file.store.load_run(RunChoice::Id(file.run)).unwrap();
        let found = &run.trials[0].record;
        assert_eq!((found.capacity, &found.probes), (record.capacity, &record.probes));
        assert_eq!(file.sql::<f64>("SELECT operations_per_second FROM throughput"), [160.0]);
        assert_eq!(file.sql::<f64>("SELECT rate_per_second FROM probe ORDER BY number"), [200.0, 100.0]);
        assert_eq!(file.sql::<bool>("SELECT keeps_limit FROM probe ORDER BY number"), [false, true]);
        assert_eq!(
            file.sql::<Option<f64>>("SELECT latency_ms FROM probe ORDER BY number"),
            [Some(7.5), None]
        );
    }

    #[test]
    fn a_limit_is_shown_as_it_is_said() {
        let find = FindRecord { percentile: 99, limit_ms: 5.0, within: 0.05 };
        assert_eq!(find.to_string(), "p99 ≤ 5 ms");
        assert_eq!(FindRecord { percentile: 50, limit_ms: 0.25, ..find }.to_string(), "p50 ≤ 0.25 ms");
        assert!((find.share_beyond() - 0.01).abs() < 1e-12);
    }
}
