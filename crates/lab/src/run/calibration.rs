//! How a block is cut into slices: found out when it is first run.

use dyno_load::Slice;
use dyno_stats::{Truncation, mser5};

use crate::plan::Slicing;

/// What bins of the first slices are long.
pub(super) const BIN_SECONDS: f64 = 0.002;
/// How long the first slices are.
pub(super) const FIRST_SLICE_SECONDS: f64 = 0.3;
/// How many of them each system has.
pub(super) const FIRST_SLICES: u32 = 2;

/// The least that is left out at the beginning of a slice: threads wake up, caches fill.
const LEAD_SECONDS_MIN: f64 = 0.005;
const LEAD_SECONDS_MAX: f64 = 0.1;
/// Events in flight at the beginning are all as old as the slice; after so many times their latency they are mixed.
const LEAD_LATENCIES: f64 = 2.0;

/// Slices of steps that read, and of steps that write: there a commit takes longer, and work that is put off must not
/// all fall into another system's slice.
const READ_SLICE_SECONDS: f64 = 0.1;
const WRITE_SLICE_SECONDS: f64 = 0.2;
/// A slice holds at least so many events, or its rate is coarse.
const EVENTS_MIN: f64 = 40.0;
/// Longer slices would no longer take turns within the machine's drift: then whole trials do as well.
const SLICE_SECONDS_MAX: f64 = 2.0;
/// A trial has at least so many slices.
pub(super) const SLICES_MIN: u32 = 4;

/// How the slices of a block are cut, the same for every system.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Interleaving {
    /// Left out at the beginning of each slice, in seconds.
    pub(crate) lead_seconds: f64,
    /// Counted after that, in seconds.
    pub(crate) slice_seconds: f64,
}

impl Interleaving {
    /// Decides by the first slices of each system; none if the block takes whole trials.
    ///
    /// The lead is that of the system that needs the longest, so that none is at a disadvantage.
    pub(crate) fn find(systems: &[Vec<Slice>], slicing: Slicing, trial_seconds: f64) -> Option<Self> {
        let slices = || systems.iter().flatten();
        let lead_seconds = systems.iter().map(|slices| lead_seconds(slices)).fold(LEAD_SECONDS_MIN, f64::max);
        let writes = slices().any(|slice| slice.counts_whole.writes > 0);
        let slowest = systems.iter().map(|slices| rate(slices)).fold(f64::INFINITY, f64::min);
        let longest = SLICE_SECONDS_MAX.min(trial_seconds / f64::from(SLICES_MIN));
        let slice_seconds = match slicing {
            Slicing::Whole => return None,
            Slicing::Seconds(seconds) => seconds,
            Slicing::Auto => {
                let usual = if writes { WRITE_SLICE_SECONDS } else { READ_SLICE_SECONDS };
                usual.min(longest.max(READ_SLICE_SECONDS)).max(EVENTS_MIN / slowest)
            }
        };
        let fits = slicing != Slicing::Auto || slice_seconds <= longest;
        fits.then_some(Self { lead_seconds, slice_seconds })
    }

    /// Slices of each system in a trial that measures for so long: an even number, as cycles come in twos.
    pub(crate) fn cycles(&self, trial_seconds: f64) -> u32 {
        let pairs = (trial_seconds / self.slice_seconds / 2.0).round() as u32;
        2 * pairs.max(SLICES_MIN / 2)
    }
}

/// Events a second over some slices.
fn rate(slices: &[Slice]) -> f64 {
    let events: u64 = slices.iter().map(|slice| slice.counts.events).sum();
    let seconds: f64 = slices.iter().map(|slice| slice.seconds).sum();
    if seconds > 0.0 { events as f64 / seconds } else { 0.0 }
}

/// How long a system takes after a rest until it works at its usual pace.
fn lead_seconds(slices: &[Slice]) -> f64 {
    let bins = (FIRST_SLICE_SECONDS / BIN_SECONDS) as usize;
    let mut sums = vec![0.0; bins];
    for slice in slices {
        for (sum, bin) in sums.iter_mut().zip(&slice.bins) {
            *sum += f64::from(*bin);
        }
    }
    let transient = match mser5(&sums) {
        Some(Truncation::After(bins) | Truncation::PastHalf(bins)) => bins as f64 * BIN_SECONDS,
        None => 0.0,
    };
    let latency_seconds = slices
        .iter()
        .map(|slice| slice.latency.histogram())
        .filter(|histogram| !histogram.is_empty())
        .map(|histogram| histogram.mean() / 1e6)
        .fold(0.0, f64::max);
    transient.max(LEAD_LATENCIES * latency_seconds).clamp(LEAD_SECONDS_MIN, LEAD_SECONDS_MAX)
}

#[cfg(test)]
mod tests {
    use dyno_load::{Counts, Latency, Usage};

    use super::*;

    /// Slices in which so many events came in each bin, the first few less.
    fn slices(per_bin: u32, slow_bins: usize, writes: u64, latency_us: u64) -> Vec<Slice> {
        let bins: Vec<u32> = (0..150).map(|at| if at < slow_bins { per_bin / 4 } else { per_bin }).collect();
        let events: u64 = bins.iter().map(|bin| u64::from(*bin)).sum();
        let mut latency = Latency::default();
        latency.record_us(latency_us);
        let counts = Counts { events, reads: events, writes, ..Counts::default() };
        let slice = Slice {
            began_us: 0,
            seconds: FIRST_SLICE_SECONDS,
            counts,
            counts_whole: counts,
            error_codes: std::collections::BTreeMap::new(),
            latency,
            usage: Usage::default(),
            bins,
        };
        vec![slice.clone(), slice]
    }

    #[test]
    fn the_lead_is_that_of_the_system_that_wakes_up_slowest() {
        let find = |systems: &[Vec<Slice>]| Interleaving::find(systems, Slicing::Auto, 10.0).unwrap();
        let quick = slices(20, 0, 0, 100);
        let slow = slices(20, 10, 0, 100);
        assert!((find(&[quick.clone(), quick.clone()]).lead_seconds - LEAD_SECONDS_MIN).abs() < 1e-9);
        assert!((find(&[quick, slow]).lead_seconds - 0.02).abs() < 1e-9);
    }

    #[test]
    fn events_that_take_long_need_a_longer_lead() {
        let found = Interleaving::find(&[slices(20, 0, 0, 20_000)], Slicing::Auto, 10.0).unwrap();
        assert!((found.lead_seconds - 0.04).abs() < 0.001, "{}", found.lead_seconds);
    }

    #[test]
    fn slices_are_longer_where_events_are_few_or_write() {
        let seconds = |slices: Vec<Slice>, slicing, trial| {
            Interleaving::find(&[slices], slicing, trial).map(|found| found.slice_seconds)
        };
        assert_eq!(seconds(slices(20, 0, 0, 100), Slicing::Auto, 10.0), Some(READ_SLICE_SECONDS));
        assert_eq!(seconds(slices(20, 0, 9, 100), Slicing::Auto, 10.0), Some(WRITE_SLICE_SECONDS));
        let of_events = |events| {
            let mut rare = slices(0, 0, 0, 100);
            for slice in &mut rare {
                slice.counts.events = events;
            }
            rare
        };
        assert_eq!(seconds(of_events(30), Slicing::Auto, 10.0), Some(0.4));
        assert_eq!(seconds(of_events(30), Slicing::Auto, 1.0), None, "too few slices in a trial");
        assert_eq!(seconds(of_events(0), Slicing::Auto, 10.0), None);
        assert_eq!(seconds(slices(20, 0, 9, 100), Slicing::Auto, 0.6), Some(0.15), "four slices in a trial");
        assert_eq!(seconds(slices(20, 0, 0, 100), Slicing::Seconds(0.5), 1.0), Some(0.5));
        assert_eq!(seconds(slices(20, 0, 0, 100), Slicing::Whole, 10.0), None);
    }

    #[test]
    fn cycles_come_in_twos() {
        let cut = Interleaving { lead_seconds: 0.01, slice_seconds: 0.1 };
        assert_eq!([1.0, 0.95, 0.1, 0.7].map(|seconds| cut.cycles(seconds)), [10, 10, 4, 8]);
    }
}
