//! Computes figures from the latency histograms of trials.

use dyno_store::{LatencyCounts, TrialRecord};
use serde::Serialize;

/// A lower bound counts as exact if the true value is certainly at most this many times as large.
const CLOSE: f64 = 1.01;

/// A latency, or a lower bound of it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct LatencyUs {
    pub us: f64,
    pub is_lower_bound: bool,
}

/// The latencies of one or more trials, including censored ones.
///
/// The latency of an event that was abandoned or never started is censored: only a lower bound is known, the time that
/// the event waited. So figures may be lower bounds too. To find out whether a quantile is a lower bound, the quantile
/// is computed a second time with infinity for each censored latency. The quantile is exact if it stays the same.
/// Strictly, the maximum and the mean would always be lower bounds. They count as exact if few events are censored, and
/// no censored event had waited longer than most events take.
pub struct Latencies {
    all: LatencyCounts,
    censored: Option<LatencyCounts>,
}

impl Latencies {
    /// The merged latencies of trials; `None` if no event finished or waited.
    pub fn of<'a>(trials: impl IntoIterator<Item = &'a TrialRecord>) -> Option<Self> {
        let (mut all, mut censored) = (None, None);
        for trial in trials {
            let finished = trial.measured.as_ref().map(|measured| &measured.latency);
            add(&mut all, finished.and_then(LatencyCounts::of));
            add(&mut censored, trial.latency_censored.as_deref().and_then(LatencyCounts::from_bytes));
        }
        Some(Self { all: all.filter(|all| all.events() > 0)?, censored })
    }

    /// Finished and censored events, merged.
    pub fn counts(&self) -> &LatencyCounts {
        &self.all
    }

    /// The latency that the share `quantile` of the events does not exceed.
    pub fn quantile(&self, quantile: f64) -> LatencyUs {
        let us = self.all.quantile_us(quantile);
        let rank = (quantile * self.all.events() as f64).ceil() as u64;
        LatencyUs { us, is_lower_bound: self.finished_within((us * CLOSE) as u64) < rank }
    }

    pub fn mean(&self) -> LatencyUs {
        LatencyUs { us: self.all.mean_us(), is_lower_bound: self.has_stragglers() }
    }

    pub fn max(&self) -> LatencyUs {
        LatencyUs { us: self.all.max_us(), is_lower_bound: self.has_stragglers() }
    }

    /// Number of finished events that took at most this time.
    fn finished_within(&self, us: u64) -> u64 {
        let censored = self.censored.as_ref().map_or(0, |censored| censored.events_within(us));
        self.all.events_within(us).saturating_sub(censored)
    }

    /// Whether more than 1% of the events are censored, or a censored event had waited longer than the 99th percentile
    /// of all events.
    fn has_stragglers(&self) -> bool {
        self.censored.as_ref().is_some_and(|censored| {
            censored.events().saturating_mul(100) > self.all.events()
                || censored.max_us() > self.all.quantile_us(0.99)
        })
    }
}

/// Adds the events of a histogram, if there is one.
fn add(into: &mut Option<LatencyCounts>, counts: Option<LatencyCounts>) {
    let Some(counts) = counts else { return };
    match into {
        None => *into = Some(counts),
        Some(into) => into.add(&counts),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{latency, trial};

    fn of(finished: impl IntoIterator<Item = u64>, censored: &[u64]) -> Option<Latencies> {
        let mut trial = trial("reads", "db", 4, 0, 10.0);
        let all: Vec<u64> = finished.into_iter().chain(censored.iter().copied()).collect();
        trial.measured.as_mut().unwrap().latency = latency(all);
        trial.latency_censored = (!censored.is_empty()).then(|| latency(censored.iter().copied()).histogram);
        Latencies::of([&trial])
    }

    #[test]
    fn figures_of_the_first_hundred_numbers() {
        let known = |us| LatencyUs { us, is_lower_bound: false };
        let latencies = of(1..=100, &[]).unwrap();
        assert_eq!([0.5, 0.95, 0.99].map(|at| latencies.quantile(at)), [50.0, 95.0, 99.0].map(known));
        assert_eq!((latencies.mean(), latencies.max()), (known(50.5), known(100.0)));
        assert!(of([], &[]).is_none());
        let mut garbage = trial("reads", "db", 4, 0, 10.0);
        garbage.measured.as_mut().unwrap().latency.histogram = b"garbage".to_vec();
        assert!(Latencies::of([&garbage]).is_none());
    }

    #[test]
    fn a_quantile_is_a_bound_if_its_rank_falls_among_what_is_censored() {
        let stopped = of((1..=900).map(|_| 1000), &[500_000; 100]).unwrap();
        assert_eq!(stopped.quantile(0.5), LatencyUs { us: 1000.0, is_lower_bound: false });
        assert_eq!(stopped.quantile(0.89), LatencyUs { us: 1000.0, is_lower_bound: false });
        assert!(stopped.quantile(0.95).is_lower_bound && stopped.quantile(0.95).us >= 499_000.0);
        assert!(stopped.max().is_lower_bound && stopped.mean().is_lower_bound);
        let early = of((1..=90).map(|_| 1000), &[10; 10]).unwrap();
        assert!(early.quantile(0.95).is_lower_bound, "they may take longer than all others");
        assert!(!early.quantile(0.9).is_lower_bound);
    }

    #[test]
    fn an_event_that_has_just_become_due_says_nothing() {
        let usual = of((1..=10_000).map(|at| 1000 + at % 100), &[20, 30]).unwrap();
        let figures = [usual.quantile(0.5), usual.quantile(0.99), usual.mean(), usual.max()];
        assert!(figures.iter().all(|figure| !figure.is_lower_bound), "{figures:?}");
    }
}
