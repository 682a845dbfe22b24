//! Stalls: times without finished events that are too long to be chance. In an open loop, only times in which
//! events were due count, and the probability is computed from the due events.

use dyno_store::TrialRecord;
use serde::Serialize;

/// The shortest stall. Shorter gaps are normal, for example in a checkpoint, a slow flush or a scheduling delay.
const STALL_SECONDS_MIN: f64 = 1.0;

/// A gap without finished events may also be chance. It counts as a stall only if the number of equally long gaps that
/// are expected by chance is at most this value.
const CHANCE_MAX: f64 = 0.001;

/// A time without finished events in a trial.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Stall {
    pub seconds: f64,
    /// Start of the stall, in seconds since the measurement began. `None` if unknown, for example in trials with
    /// slices.
    pub began_seconds: Option<f64>,
}

/// The length in seconds of the shortest gap that counts as a stall, in a trial with `events` events in `seconds`
/// seconds.
///
/// If events end independently of each other at a constant rate λ, the lengths of gaps have an exponential
/// distribution, and n·exp(−λL) of n gaps are longer than L. The events of several clients end more evenly, so long
/// gaps are even less probable.
fn limit_seconds(events: u64, seconds: f64) -> f64 {
    if events == 0 {
        return STALL_SECONDS_MIN;
    }
    let events = events as f64;
    (seconds / events * (events / CHANCE_MAX).ln()).max(STALL_SECONDS_MIN)
}

/// The limit for a trial, from [`limit_seconds`]; `None` if no event was due in the trial.
fn limit_of(trial: &TrialRecord) -> Option<f64> {
    let measured = trial.measured.as_ref()?;
    let left = trial.backlog.unwrap_or(0) + trial.unfinished.unwrap_or(0);
    let Some(due) = measured.due.map(|due| due.max(measured.counts.events + left)) else {
        // With several drivers, the recorded gap is the shortest of the drivers' longest gaps. The limit of this
        // gap follows from the number of events of the driver that finished the fewest events.
        let of_drivers = trial.drivers.iter().map(|driver| driver.events.max(driver.operations)).min();
        let finished = of_drivers.unwrap_or(measured.counts.events.max(measured.counts.operations));
        return Some(limit_seconds(finished, measured.seconds));
    };
    // In a load with a planned rate, the limit follows from the due events and not from the finished ones. Of several
    // drivers, the one with the fewest due events counts. Drivers without due events are ignored.
    let of_drivers = trial.drivers.iter().map(|driver| driver.events + driver.left_events);
    let due = of_drivers.filter(|due| *due > 0).min().unwrap_or(due);
    (due > 0).then(|| limit_seconds(due, measured.seconds))
}

pub(crate) fn longest(trial: &TrialRecord) -> Option<Stall> {
    let (gaps, limit) = (trial.gaps?, limit_of(trial)?);
    (gaps.longest_seconds >= limit)
        .then_some(Stall { seconds: gaps.longest_seconds, began_seconds: gaps.longest_began_seconds })
}

/// Length of the stall at the end of a trial; `None` if the trial did not end in a stall.
pub fn stalled_at_end_seconds(trial: &TrialRecord) -> Option<f64> {
    let (gaps, limit) = (trial.gaps?, limit_of(trial)?);
    (gaps.last_seconds >= limit).then_some(gaps.last_seconds)
}

#[cfg(test)]
mod tests {
    use dyno_store::{DriverRecord, GapsRecord};

    use super::*;
    use crate::sample;

    #[test]
    fn the_limit_is_a_second_where_events_are_many_and_longer_where_they_are_rare() {
        assert_eq!(limit_seconds(1_000_000, 60.0).to_bits(), 1.0_f64.to_bits());
        assert_eq!(limit_seconds(0, 5.0).to_bits(), 1.0_f64.to_bits());
        let rare = limit_seconds(11, 5.0);
        assert!((rare - 5.0 / 11.0 * 11_000_f64.ln()).abs() < 1e-9 && rare > 4.0, "{rare}");
    }

    #[test]
    fn the_gaps_of_drivers_are_held_against_the_events_of_one() {
        let mut trial = sample::trial("reads", "db", 4, 0, 1000.0);
        trial.gaps =
            Some(GapsRecord { longest_seconds: 2.5, longest_began_seconds: None, last_seconds: 2.5 });
        let driver = |events| DriverRecord { events, ..DriverRecord::default() };
        trial.drivers = vec![driver(10), driver(100_000)];
        assert_eq!((longest(&trial), stalled_at_end_seconds(&trial)), (None, None));
        trial.drivers = vec![driver(100_000), driver(100_000)];
        assert!(longest(&trial).is_some() && stalled_at_end_seconds(&trial).is_some());
    }

    #[test]
    fn at_a_rate_what_was_due_could_have_finished() {
        let at_a_rate = |due: u64, events: u64, gap_seconds: f64| {
            let mut trial = sample::trial("slow", "db", 1, 0, 0.0);
            let measured = trial.measured.as_mut().unwrap();
            (measured.due, measured.counts.events, measured.counts.operations) = (Some(due), events, events);
            trial.backlog = Some(due - events);
            trial.gaps = Some(GapsRecord {
                longest_seconds: gap_seconds,
                longest_began_seconds: Some(0.0),
                last_seconds: gap_seconds,
            });
            trial
        };
        let stalled =
            |trial: &TrialRecord| (longest(trial).is_some(), stalled_at_end_seconds(trial).is_some());
        assert_eq!(stalled(&at_a_rate(0, 0, 10.0)), (false, false), "nothing was due");
        assert_eq!(stalled(&at_a_rate(2, 0, 1.5)), (false, false), "two events were due, late perhaps");
        assert_eq!(
            stalled(&at_a_rate(1000, 0, 10.0)),
            (true, true),
            "a thousand were due, and none finished"
        );
        assert_eq!(stalled(&at_a_rate(1000, 900, 1.2)), (true, true));
        let mut drivers = at_a_rate(40, 40, 1.5);
        let driver = |events| DriverRecord { events, ..DriverRecord::default() };
        drivers.drivers = vec![driver(40), driver(0)];
        assert_eq!(stalled(&drivers), (false, false), "for one driver nothing was due");
    }

    #[test]
    fn a_stall_at_the_end_is_told_apart() {
        let mut trial = sample::trial("reads", "db", 4, 0, 1000.0);
        assert_eq!((longest(&trial), stalled_at_end_seconds(&trial)), (None, None));
        trial.gaps =
            Some(GapsRecord { longest_seconds: 2.5, longest_began_seconds: Some(3.0), last_seconds: 0.1 });
        assert_eq!(longest(&trial), Some(Stall { seconds: 2.5, began_seconds: Some(3.0) }));
        assert_eq!(stalled_at_end_seconds(&trial), None);
        trial.gaps =
            Some(GapsRecord { longest_seconds: 2.5, longest_began_seconds: Some(7.5), last_seconds: 2.5 });
        assert_eq!(stalled_at_end_seconds(&trial), Some(2.5));
    }
}
