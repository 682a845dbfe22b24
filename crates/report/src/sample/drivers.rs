//! A sample run whose last load came from two other hosts.

use dyno_store::{DriverLatency, DriverRecord, NetworkRecord, Run};

/// A run of one round whose last trial has two drivers. For the second driver, the network was not measured and no
/// event ended.
pub(crate) fn driven_run() -> Run {
    let mut run = super::run(1);
    let driver = DriverRecord {
        host: "ssh://a".to_owned(),
        clients: 3,
        seconds: 10.0,
        operations: 12_345,
        events: 12_345,
        cpu_us: 2_500_000,
        threads: Some(1),
        latency: Some(DriverLatency { p99_us: 1500.0, ..DriverLatency::default() }),
        network: Some(NetworkRecord { round_trip_us: 250.0, bytes_per_second: Some(1.1e8) }),
        ..DriverRecord::default()
    };
    let idle = DriverRecord {
        host: "ssh://b".to_owned(),
        clients: 1,
        operations: 0,
        events: 0,
        latency: None,
        network: None,
        ..driver.clone()
    };
    if let Some(trial) = run.trials.last_mut() {
        trial.record.drivers = vec![driver, idle];
    }
    run
}
