//! Finds the lengths of a block's slices when the block first runs, from unmeasured slices at its beginning (first
//! slices).

use dyno_load::{Slice, SliceOrder};

use crate::plan::SliceSeconds;

/// Length of the bins into which a first slice is divided, in seconds.
pub(super) const BIN_SECONDS: f64 = 0.005;
/// Number of bins of a first slice.
const BINS: usize = 20;
/// Length of a first slice, in seconds.
pub(super) const FIRST_SLICE_SECONDS: f64 = BINS as f64 * BIN_SECONDS;
/// Number of first slices of a system. The very first of them runs with cold caches and is left out. Short trials
/// need fewer, because a lead that is too long costs little in a short trial.
const FIRST_SLICES: u32 = 7;
const FIRST_SLICES_OF_SHORT_TRIALS: u32 = 4;
const SHORT_SECONDS: f64 = 0.4;

/// The pace at a bin of a first slice is the average over this many bins, from that bin on. The lead ends at the first
/// bin at which the pace is usual.
const PACE_BINS: usize = 4;
/// The pace at a bin is unusual if nearly all slices deviate from their usual pace there, all in the same direction, by
/// more than the share `PACE_TOLERANCE`. At most the share `DISSENT_MAX` of the slices may be exceptions.
const PACE_TOLERANCE: f64 = 0.1;
const DISSENT_MAX: f64 = 0.2;

/// Shortest and longest lead, in seconds. Threads wake up and caches fill within a few milliseconds. But after a
/// rest, Linux first keeps client and server threads on one core. Linux spreads the threads over idle cores as their
/// load average (PELT, half-life 32 ms) rises. With one client, this took 50 ms on a test machine, and the rate until
/// then was twice the later rate.
const LEAD_SECONDS_MIN: f64 = 0.005;
const LEAD_SECONDS_MAX: f64 = 0.05;
/// Shortest lead, as a multiple of the event latency. At the beginning of a slice, all events have the same age.
/// After one latency, their ages are mixed.
const LEAD_LATENCIES: f64 = 1.0;

/// Shortest slice, in seconds. Of lengths from 0.02 to 0.25 s, shorter ones gave narrower intervals for the same
/// measuring time, both for reads and for writes. The reason is that a disturbance that is longer than a slice
/// affects both neighbouring slices.
const SLICE_SECONDS_MIN: f64 = 0.02;
/// Range of the shortest slice of a step that writes, in seconds. The value in the range depends on the length of the
/// trials. Slices of writes are longer than others, because a part of their work (purge, write-back) is done later and
/// falls into the slices of other systems.
///
/// Two measurements compared the speed of MariaDB 10.11 with that of MySQL 5.6 when an index is updated:
///
/// - In one round, MariaDB was 2.3 and 2.8 times as fast in slices of 0.02 s, 2.0 times in slices of 0.1 s, and 1.7
///   times in slices of 0.5 s. Between these measurements, it was 2.1 and 1.6 times as fast in trials without slices.
/// - In four rounds that began with the same data and measured for 1.6 s each, MariaDB was 3.65 and 3.57 times as fast
///   in slices of 0.05 s, 3.18 times in slices of 0.1 s, and 3.57 times in trials without slices. The standard errors
///   were 0.04 to 0.09.
const WRITE_SLICE_SECONDS_MIN: std::ops::RangeInclusive<f64> = 0.05..=0.5;
/// Fewest slices of a trial of writes, unless the slices would be too short. In three quarters of a second of writes,
/// ratios of rounds varied by 6% with 8 slices and by 3% with 16.
const WRITE_SLICES_MIN: f64 = 16.0;
/// Shortest slice, as a multiple of the lead. Shorter slices would spend most of the time in leads.
const LEADS: f64 = 1.5;
/// Number of events that is enough for a slice. An event at an edge of the slice counts by the share of its time in
/// the slice.
const EVENTS_ENOUGH: f64 = 20.0;
/// Shortest slice as a multiple of the event latency, for trials that would otherwise have too few slices. In a slice
/// of this length, each client finishes this many events.
const LATENCIES: f64 = 5.0;
/// Number of slices of a trial with rare events, unless the slices would be too short.
const RARE_SLICES: f64 = 8.0;
/// Longest slice, in seconds. In longer slices the speed of the machine drifts, so they are no better than trials
/// without slices.
const SLICE_SECONDS_MAX: f64 = 2.0;
/// If events are rare, a trial is extended to the time of `SLICES_MIN` slices of `EVENTS_ENOUGH` events, but at
/// most to this multiple of its planned time.
const STRETCH_MAX: f64 = 5.0;
/// Fewest slices of a trial.
const SLICES_MIN: u32 = 2;

/// Returns the number of first slices in trials of this measured time.
pub(super) fn first_slices(trial_seconds: f64) -> u32 {
    if trial_seconds < SHORT_SECONDS { FIRST_SLICES_OF_SHORT_TRIALS } else { FIRST_SLICES }
}

/// Lengths of the slices of a block. They are the same for every system.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct SliceLengths {
    /// Length of the lead, in seconds. The lead is the beginning of each slice and is not measured.
    pub(crate) lead_seconds: f64,
    /// Measured time after the lead, in seconds.
    pub(crate) slice_seconds: f64,
    /// Number of slices of each system in a trial. It is even, because cycles come in pairs.
    pub(crate) cycles: u32,
}

impl SliceLengths {
    /// Finds the lengths from the first slices of each system. Returns `None` if the block's trials have no slices.
    ///
    /// All systems get the longest lead that any of them needs, so no system has an advantage.
    pub(crate) fn find(systems: &[Vec<Slice>], wanted: SliceSeconds, trial_seconds: f64) -> Option<Self> {
        let lead_seconds = systems.iter().map(|slices| lead_seconds(slices)).fold(LEAD_SECONDS_MIN, f64::max);
        let (slice_seconds, measured_seconds) = match wanted {
            SliceSeconds::Fixed(seconds) => (seconds, trial_seconds),
            SliceSeconds::Auto => automatic(systems, lead_seconds, trial_seconds)?,
        };
        let pairs = (measured_seconds / slice_seconds / 2.0).round() as u32;
        let cycles = 2 * pairs.max(SLICES_MIN / 2);
        Some(Self { lead_seconds, slice_seconds, cycles })
    }

    /// Returns the order that makes the load run one slice.
    pub(crate) fn order(self) -> SliceOrder {
        SliceOrder {
            lead_seconds: self.lead_seconds,
            seconds: self.slice_seconds,
            bin_seconds: None,
            rate: None,
        }
    }
}

/// Returns the length of a slice and the total length of all slices of a trial, in seconds. Returns `None` if events
/// are too rare for slices.
fn automatic(systems: &[Vec<Slice>], lead_seconds: f64, trial_seconds: f64) -> Option<(f64, f64)> {
    let planned = trial_seconds / f64::from(SLICES_MIN);
    let slowest = systems.iter().map(|slices| rate(slices)).fold(f64::INFINITY, f64::min);
    if slowest <= 0.0 {
        return None;
    }
    let enough = EVENTS_ENOUGH / slowest;
    let measured = trial_seconds.max((f64::from(SLICES_MIN) * enough).min(STRETCH_MAX * trial_seconds));
    let latency = systems.iter().map(|slices| latency_seconds(slices)).fold(0.0, f64::max);
    let of_events = (measured / RARE_SLICES).max(LATENCIES * latency).min(enough);
    let writes = systems.iter().flatten().any(|slice| slice.counts.writes > 0);
    let shortest = if writes { write_slice_seconds(trial_seconds) } else { SLICE_SECONDS_MIN };
    let worth_its_lead = shortest.max(LEADS * lead_seconds);
    let slice = worth_its_lead.min(planned.max(SLICE_SECONDS_MIN)).max(of_events);
    (slice <= SLICE_SECONDS_MAX.min(STRETCH_MAX * planned)).then_some((slice, measured))
}

/// Returns the length of the shortest slice of writes, in seconds, for trials of this measured time.
fn write_slice_seconds(trial_seconds: f64) -> f64 {
    let (least, most) = WRITE_SLICE_SECONDS_MIN.into_inner();
    (trial_seconds / WRITE_SLICES_MIN).clamp(least, most)
}

/// Returns the events a second in some slices.
fn rate(slices: &[Slice]) -> f64 {
    let events: u64 = slices.iter().map(|slice| slice.counts.events).sum();
    let seconds: f64 = slices.iter().map(|slice| slice.seconds).sum();
    if seconds > 0.0 { events as f64 / seconds } else { 0.0 }
}

/// Returns the length of the lead, in seconds. This is the time that a system needs after a rest to reach its usual
/// pace.
///
/// The machine's pace varies by a fifth between slices, so the usual pace of a slice is the pace of its own second
/// half. The lead lasts as long as nearly all slices are faster than their usual pace, or nearly all are slower. At
/// most the share `DISSENT_MAX` of the slices may be exceptions.
fn lead_seconds(slices: &[Slice]) -> f64 {
    let courses: Vec<Vec<f64>> = slices.iter().filter_map(|slice| course(&slice.bins)).collect();
    let is_usual = |from: &usize| {
        let pace =
            |course: &Vec<f64>| course[*from..from + PACE_BINS].iter().sum::<f64>() / PACE_BINS as f64 - 1.0;
        let faster = courses.iter().filter(|course| pace(course) > PACE_TOLERANCE).count();
        let slower = courses.iter().filter(|course| pace(course) < -PACE_TOLERANCE).count();
        (courses.len() - faster.max(slower)) as f64 > DISSENT_MAX * courses.len() as f64
    };
    let transient = match (0..=BINS / 2 - PACE_BINS).find(is_usual) {
        Some(bins) => bins,
        None if courses.is_empty() => 0,
        None => BINS / 2,
    };
    let lead = f64::max(transient as f64 * BIN_SECONDS, LEAD_LATENCIES * latency_seconds(slices));
    lead.clamp(LEAD_SECONDS_MIN, LEAD_SECONDS_MAX)
}

/// Returns the mean latency of the events of the slowest slice, in seconds.
fn latency_seconds(slices: &[Slice]) -> f64 {
    slices.iter().filter_map(|slice| Some(slice.latency.mean_ns()? / 1e9)).fold(0.0, f64::max)
}

/// Returns the number of events in each bin of the first half of a slice, divided by the mean number of events in a bin
/// of the second half. Returns `None` if the second half has no events.
fn course(bins: &[u32]) -> Option<Vec<f64>> {
    let late: u32 = bins.get(BINS / 2..BINS)?.iter().sum();
    let usual = f64::from(late) / (BINS - BINS / 2) as f64;
    let relative = || bins[..BINS / 2].iter().map(|bin| f64::from(*bin) / usual);
    (usual > 0.0).then(|| relative().collect())
}

#[cfg(test)]
mod tests {
    use dyno_load::{Counts, Latency, Usage};

    use super::*;

    /// Returns slices with `per_bin` events in each bin, except that the first `slow_bins` bins have fewer.
    fn slices(per_bin: u32, slow_bins: usize, latency_us: u64) -> Vec<Slice> {
        let bins: Vec<u32> = (0..20).map(|at| if at < slow_bins { per_bin / 4 } else { per_bin }).collect();
        let events: u64 = bins.iter().map(|bin| u64::from(*bin)).sum();
        let mut latency = Latency::default();
        latency.record_us(latency_us);
        let counts = Counts { events, reads: events, ..Counts::default() };
        let slice = Slice {
            began_us: 0,
            seconds: FIRST_SLICE_SECONDS,
            counts,
            event_shares: events as f64,
            counts_whole: counts,
            error_codes: std::collections::BTreeMap::new(),
            latency,
            waiting: Latency::default(),
            backlog: 0,
            usage: Usage::default(),
            bins,
        };
        vec![slice.clone(), slice]
    }

    #[test]
    fn the_lead_is_that_of_the_system_that_wakes_up_slowest() {
        let find = |systems: &[Vec<Slice>]| SliceLengths::find(systems, SliceSeconds::Auto, 10.0).unwrap();
        let quick = slices(20, 0, 100);
        let slow = slices(20, 6, 100);
        assert!((find(&[quick.clone(), quick.clone()]).lead_seconds - LEAD_SECONDS_MIN).abs() < 1e-9);
        assert!((find(&[quick.clone(), slow]).lead_seconds - 0.03).abs() < 1e-9);
        let never = slices(20, 10, 100);
        assert!((find(&[quick, never]).lead_seconds - LEAD_SECONDS_MAX).abs() < 1e-9);
    }

    #[test]
    fn events_that_take_long_need_a_longer_lead() {
        let found = SliceLengths::find(&[slices(20, 0, 20_000)], SliceSeconds::Auto, 10.0).unwrap();
        assert!((found.lead_seconds - 0.02).abs() < 0.001, "{}", found.lead_seconds);
    }

    #[test]
    fn slices_are_longer_where_events_are_few_or_the_lead_is_long() {
        let seconds = |slices: Vec<Slice>, wanted, trial| {
            SliceLengths::find(&[slices], wanted, trial).map(|found| found.slice_seconds)
        };
        assert_eq!(seconds(slices(20, 0, 100), SliceSeconds::Auto, 10.0), Some(SLICE_SECONDS_MIN));
        let of_events = |events| {
            let mut rare = slices(0, 0, 100);
            for slice in &mut rare {
                slice.counts.events = events;
            }
            rare
        };
        let rare = seconds(of_events(30), SliceSeconds::Auto, 10.0).unwrap();
        assert!((rare - EVENTS_ENOUGH / (30.0 / FIRST_SLICE_SECONDS)).abs() < 1e-9, "{rare}");
        assert_eq!(seconds(of_events(0), SliceSeconds::Auto, 10.0), None);
        assert_eq!(
            seconds(slices(20, 10, 100), SliceSeconds::Auto, 0.1),
            Some(0.05),
            "two slices in a trial"
        );
        let mut writes = slices(20, 0, 100);
        writes[1].counts.writes = 1;
        assert_eq!(seconds(writes.clone(), SliceSeconds::Auto, 10.0), Some(0.5));
        assert_eq!(seconds(writes.clone(), SliceSeconds::Auto, 1.6), Some(0.1));
        assert_eq!(seconds(writes.clone(), SliceSeconds::Auto, 0.4), Some(0.05));
        assert_eq!(seconds(writes, SliceSeconds::Auto, 0.1), Some(0.05), "two slices in a trial");
        let behind_a_long_lead = seconds(slices(20, 10, 100), SliceSeconds::Auto, 10.0).unwrap();
        assert!((behind_a_long_lead - LEADS * LEAD_SECONDS_MAX).abs() < 1e-9, "{behind_a_long_lead}");
        assert_eq!(seconds(slices(20, 0, 100), SliceSeconds::Fixed(0.5), 1.0), Some(0.5));
    }

    /// Returns slices of a single client whose events have this latency.
    fn one_after_the_other(latency_ms: u64) -> Vec<Slice> {
        let mut rare = slices(0, 0, latency_ms * 1000);
        for slice in &mut rare {
            slice.counts.events = (FIRST_SLICE_SECONDS * 1000.0) as u64 / latency_ms;
        }
        rare
    }

    #[test]
    fn a_short_trial_of_long_events_measures_longer_in_more_slices() {
        let find = |latency_ms, seconds| {
            SliceLengths::find(&[one_after_the_other(latency_ms)], SliceSeconds::Auto, seconds)
        };
        let rare = find(20, 0.25).unwrap();
        assert!((rare.slice_seconds - LATENCIES * 0.02).abs() < 1e-3, "{rare:?}");
        assert_eq!(rare.cycles, 8, "40 events of 20 ms: {rare:?}");
        let shorter = find(20, 0.13).unwrap();
        assert_eq!(
            (shorter.slice_seconds, shorter.cycles),
            (rare.slice_seconds, 6),
            "at most 5 times as long"
        );
        assert_eq!(find(20, 0.02), None, "even a trial 5 times as long is too short");
        let long = find(20, 10.0).unwrap();
        assert!((long.slice_seconds - EVENTS_ENOUGH * 0.02).abs() < 1e-3, "{long:?}");
    }

    #[test]
    fn many_clients_finish_some_events_each_in_a_slice() {
        let mut many = slices(0, 0, 20_000);
        for slice in &mut many {
            slice.counts.events = 40;
        }
        let found = SliceLengths::find(&[many], SliceSeconds::Auto, 0.1).unwrap();
        assert!(
            (found.slice_seconds - EVENTS_ENOUGH / 400.0).abs() < 1e-9,
            "8 clients, 400 a second: {found:?}"
        );
    }

    #[test]
    fn cycles_come_in_twos() {
        let cycles = |seconds| {
            let found = SliceLengths::find(&[slices(20, 0, 100)], SliceSeconds::Fixed(0.1), seconds);
            found.unwrap().cycles
        };
        assert_eq!([1.0, 0.95, 0.1, 0.75].map(cycles), [10, 10, 2, 8]);
    }
}
