//! Drivers: hosts from which the load of a trial comes.

use serde::{Deserialize, Serialize};

/// The figures of one driver in a trial.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DriverRecord {
    /// The driver's host, as the plan writes it (`ssh://a`).
    pub host: String,
    pub clients: u32,
    /// Measured time in seconds. If the driver ended early, it is shorter than the trial's measured time.
    pub seconds: f64,
    /// Operations that the step's rate counts.
    pub operations: u64,
    /// Finished events.
    pub events: u64,
    /// Latency of the driver's events, in µs; `None` if no event ended.
    pub latency: Option<DriverLatency>,
    /// Number of unfinished events: those that were due but had not begun at the end (open loop), and those in
    /// flight that were abandoned.
    pub left_events: u64,
    /// Longest time without a finished event or statement of this driver, in seconds, if known.
    pub gap_longest_seconds: Option<f64>,
    /// Time from when the first driver began to measure until this driver began, in seconds. `None` if this driver
    /// did not begin.
    pub began_after_seconds: Option<f64>,
    /// CPU time of the driver's load process, in µs.
    pub cpu_us: u64,
    /// Number of threads for the driver's clients; `None` if the driver did not connect.
    pub threads: Option<u32>,
    /// Largest resident memory of the driver's load process, in bytes.
    pub memory_peak_bytes: u64,
    /// The network to the system, measured before the trial; `None` if it could not be measured.
    pub network: Option<NetworkRecord>,
}

/// Percentiles of latency of a driver's events, in µs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct DriverLatency {
    pub p50_us: f64,
    pub p95_us: f64,
    pub p99_us: f64,
    pub max_us: f64,
}

/// The network between a driver and a system, measured by statements of one connection before the first trial of an
/// instance. The times include the work of the server and the client for these statements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct NetworkRecord {
    /// Median time of a statement that does nothing, in µs.
    pub round_trip_us: f64,
    /// Median rate at which a large answer arrives, in bytes per second. `None` if the answer took no longer than a
    /// round trip.
    pub bytes_per_second: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::TrialRecord;
    use crate::sample::{File, trial};

    #[test]
    fn drivers_come_back_with_their_trial() {
        let mut file = File::new();
        let network = NetworkRecord { round_trip_us: 120.5, bytes_per_second: Some(1e8) };
        let driver = DriverRecord {
            host: "ssh://a".to_owned(),
            latency: Some(DriverLatency { p99_us: 9.0, ..DriverLatency::default() }),
            network: Some(network),
            ..DriverRecord::default()
        };
        let record = TrialRecord { drivers: vec![driver.clone(), driver], ..trial("old", 0, 1000) };
        file.store.commit_trial(file.run, &record).unwrap();
        file.store.commit_trial(file.run, &trial("new", 0, 1000)).unwrap();
        let found = file.store.load_run(crate::RunChoice::Latest).unwrap();
        let drivers: Vec<_> = found.trials.into_iter().map(|trial| trial.record.drivers).collect();
        assert_eq!(drivers, [record.drivers, Vec::new()]);
        assert_eq!(
            file.sql::<f64>("SELECT round_trip_us FROM driver WHERE bytes_per_second > 1"),
            [120.5; 2]
        );
    }
}
