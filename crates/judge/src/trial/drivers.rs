//! Doubts about drivers. A driver is a host that generates a part of a trial's load. It is doubted if it, and not the
//! system, may have limited the rate.

use dyno_store::{DriverRecord, TrialRecord};
use serde::Serialize;

/// Longest accepted delay between the first driver's start and another driver's start, as a share of the measured
/// time. If [`LATE_SECONDS_MIN`] is longer, it applies instead, because messages between hosts take some
/// milliseconds.
const LATE_SHARE_MAX: f64 = 0.1;
const LATE_SECONDS_MIN: f64 = 0.1;
/// A driver is doubted if its events per client are fewer than this share of the events per client of the fastest
/// driver.
const EVENTS_SHARE_MIN: f64 = 0.8;
/// A driver gets a warning if it begins later than the first driver by more than this share of the measured time. All
/// drivers contribute to the rate only after the last driver has begun, and the server's costs are counted from then
/// on.
const LATE_SHARE_TOLD: f64 = 0.01;
/// Drivers leave a share of their events unfinished. A driver is doubted if its share exceeds the smallest share of any
/// driver by more than this.
const LEFT_SHARE_MAX: f64 = 0.01;
/// A driver is doubted if its CPU time, as a share of its threads' time, is larger than this.
const BUSY_SHARE_MAX: f64 = 0.9;

/// A doubt about a driver.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DriverDoubt {
    pub host: String,
    #[serde(flatten)]
    pub doubt: Doubt,
}

/// The kind of doubt.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "doubt", rename_all = "snake_case")]
pub enum Doubt {
    /// The driver's events per client are few. `share` is relative to the fastest driver.
    Slow { share: f64 },
    /// The driver left events unfinished at the end. `share` is relative to its due events.
    Left { share: f64 },
    /// The driver's load process used much CPU time. `share` is relative to its threads' time.
    Busy { share: f64 },
    /// The driver began after the first driver. `share` is the delay relative to the measured time.
    Late { share: f64 },
}

/// How much later than the first driver this driver began, in seconds. `None` if this delay is acceptable for a trial
/// of this length.
pub fn too_late_seconds(driver: &DriverRecord) -> Option<f64> {
    let seconds_max = (LATE_SHARE_MAX * driver.seconds).max(LATE_SECONDS_MIN);
    driver.began_after_seconds.filter(|seconds| *seconds > seconds_max)
}

/// Doubts about the drivers of a trial. In a closed loop, drivers are compared with the fastest driver. In an open
/// loop, events come from a schedule, so drivers are compared with the driver that leaves the smallest share of its
/// events unfinished. If all drivers leave similar shares unfinished, the system is the reason, and there is no
/// doubt.
pub fn driver_doubts(trial: &TrialRecord, is_open_loop: bool) -> Vec<DriverDoubt> {
    let per_client = |driver: &DriverRecord| {
        let client_seconds = f64::from(driver.clients) * driver.seconds;
        if client_seconds > 0.0 { driver.events as f64 / client_seconds } else { 0.0 }
    };
    let left = |driver: &DriverRecord| {
        driver.left_events as f64 / (driver.events + driver.left_events).max(1) as f64
    };
    let fastest = trial.drivers.iter().map(per_client).fold(0.0, f64::max);
    let least_left = trial.drivers.iter().map(left).fold(1.0, f64::min);
    let mut doubts = Vec::new();
    for driver in &trial.drivers {
        let mut add = |doubt| doubts.push(DriverDoubt { host: driver.host.clone(), doubt });
        let share = per_client(driver) / fastest;
        if !is_open_loop && share < EVENTS_SHARE_MIN {
            add(Doubt::Slow { share });
        }
        let left = left(driver);
        if is_open_loop && left - least_left > LEFT_SHARE_MAX {
            add(Doubt::Left { share: left });
        }
        let late = driver.began_after_seconds.unwrap_or(0.0) / driver.seconds;
        if driver.seconds > 0.0 && late > LATE_SHARE_TOLD {
            add(Doubt::Late { share: late });
        }
        let threads_us = f64::from(driver.threads.unwrap_or(0)) * driver.seconds * 1e6;
        let busy = driver.cpu_us as f64 / threads_us;
        if busy > BUSY_SHARE_MAX && threads_us > 0.0 {
            add(Doubt::Busy { share: busy });
        }
    }
    doubts
}

#[cfg(test)]
mod tests {
    use super::*;

    fn driver(host: &str, clients: u32, events: u64, cpu_us: u64) -> DriverRecord {
        DriverRecord {
            host: host.to_owned(),
            clients,
            seconds: 10.0,
            events,
            cpu_us,
            threads: Some(1),
            ..DriverRecord::default()
        }
    }

    fn doubts(drivers: Vec<DriverRecord>, is_open_loop: bool) -> Vec<(String, Doubt)> {
        let trial = TrialRecord { drivers, ..TrialRecord::default() };
        let found = driver_doubts(&trial, is_open_loop);
        found.into_iter().map(|it| (it.host, it.doubt)).collect()
    }

    #[test]
    fn a_driver_is_measured_by_its_clients() {
        // Four clients generate twice the events of two.
        assert_eq!(doubts(vec![driver("a", 4, 2000, 0), driver("b", 2, 1000, 0)], false), []);
        let slow = doubts(vec![driver("a", 4, 2000, 0), driver("b", 2, 500, 0)], false);
        assert_eq!(slow, [("b".to_owned(), Doubt::Slow { share: 0.5 })]);
        let busy = doubts(vec![driver("a", 4, 2000, 9_500_000), driver("b", 2, 1000, 0)], false);
        assert_eq!(busy, [("a".to_owned(), Doubt::Busy { share: 0.95 })]);
    }

    #[test]
    fn in_an_open_loop_what_is_left_counts() {
        let left = DriverRecord { left_events: 100, ..driver("b", 2, 300, 0) };
        let found = doubts(vec![driver("a", 4, 2000, 0), left], true);
        assert_eq!(found, [("b".to_owned(), Doubt::Left { share: 0.25 })]);
    }

    #[test]
    fn what_all_drivers_leave_is_no_doubt_about_one() {
        let leaves = |host: &str| DriverRecord { left_events: 100, ..driver(host, 2, 300, 0) };
        assert_eq!(doubts(vec![leaves("a"), leaves("b")], true), []);
    }

    #[test]
    fn a_driver_that_began_later_is_told_before_it_is_too_late() {
        let late = DriverRecord { began_after_seconds: Some(0.5), ..driver("b", 2, 1000, 0) };
        assert_eq!(too_late_seconds(&late), None);
        let found = doubts(vec![driver("a", 2, 1000, 0), late], false);
        assert_eq!(found, [("b".to_owned(), Doubt::Late { share: 0.05 })]);
    }

    #[test]
    fn a_driver_may_begin_a_moment_later() {
        let after = |seconds| DriverRecord { began_after_seconds: Some(seconds), ..driver("a", 1, 1, 0) };
        assert_eq!((too_late_seconds(&after(0.9)), too_late_seconds(&after(1.5))), (None, Some(1.5)));
        assert_eq!(too_late_seconds(&driver("a", 1, 1, 0)), None);
        // A trial of a few events may take only milliseconds. The message that tells a driver to begin may take as
        // long.
        let short = DriverRecord { seconds: 0.01, ..after(0.05) };
        assert_eq!(too_late_seconds(&short), None);
    }
}
