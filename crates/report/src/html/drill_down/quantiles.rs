//! A cell's latency distribution: quantiles of the merged histograms of its trials, on an axis of nines.

use dyno_judge::Latencies;
use dyno_store::TrialRecord;
use serde::Serialize;

/// Number of points for each nine. The first nine is the range from quantile 0 to 0.9, the second from 0.9 to 0.99.
const PLACES_PER_NINE: usize = 5;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Distribution {
    pub(crate) events: u64,
    /// Latencies in µs at nines 0, 1/5, 2/5 …, where nines = −log₁₀(1 − quantile).
    pub(crate) latency_us: Vec<f64>,
    /// The 50th, 95th and 99th percentile in µs.
    pub(crate) percentiles_us: [f64; 3],
    /// The slowest event, in µs.
    pub(crate) max_us: f64,
    /// Whether the 50th, 95th and 99th percentile and the slowest event are only lower bounds; `None` if all four
    /// are exact.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) lower_bounds: Option<[bool; 4]>,
}

impl Distribution {
    /// The points of the curve: the number of nines, and the latency in ms.
    pub(crate) fn points_ms(&self) -> Vec<(f64, f64)> {
        let nines = |place: usize| place as f64 / PLACES_PER_NINE as f64;
        self.latency_us.iter().enumerate().map(|(place, us)| (nines(place), us / 1e3)).collect()
    }
}

/// The distribution over several trials; `None` if no event finished.
pub(crate) fn distribution<'a>(trials: impl IntoIterator<Item = &'a TrialRecord>) -> Option<Distribution> {
    let latencies = Latencies::of(trials)?;
    let merged = latencies.counts();
    let events = merged.events();
    // Leaves out quantiles that fewer than one event exceeds.
    let places = (events as f64).log10() * PLACES_PER_NINE as f64;
    let at = |place: usize| 1.0 - 10_f64.powf(-(place as f64) / PLACES_PER_NINE as f64);
    let latency_us = (0..=places as usize).map(|place| merged.quantile_us(at(place))).collect();
    let percentiles = [0.5, 0.95, 0.99].map(|quantile| latencies.quantile(quantile));
    let [p50, p95, p99] = percentiles.map(|percentile| percentile.is_lower_bound);
    let lower_bounds = [p50, p95, p99, latencies.max().is_lower_bound];
    Some(Distribution {
        events,
        latency_us,
        percentiles_us: percentiles.map(|percentile| percentile.us),
        max_us: merged.max_us(),
        lower_bounds: lower_bounds.contains(&true).then_some(lower_bounds),
    })
}

#[cfg(test)]
mod tests {
    use dyno_store::{LatencyRecord, Measured, latency_bytes, latency_record};

    use super::*;

    fn trial(latency: LatencyRecord) -> TrialRecord {
        let measured =
            Measured { seconds: 1.0, counts: dyno_store::CountsRecord::default(), due: None, latency };
        TrialRecord { measured: Some(measured), ..TrialRecord::default() }
    }

    #[test]
    fn trials_are_merged_and_read_at_each_nine() {
        let garbage = LatencyRecord { histogram: b"garbage".to_vec(), exact: None };
        let trials = [latency_record(1..=500), latency_record(501..=1000), garbage].map(trial);
        let distribution = distribution(&trials).unwrap();
        assert_eq!(distribution.lower_bounds, None);
        assert_eq!((distribution.events, distribution.max_us), (1000, 1000.0));
        assert_eq!(Some(distribution.percentiles_us), Some([500.0, 950.0, 990.0]));
        let nines: Vec<f64> = distribution.latency_us.iter().step_by(PLACES_PER_NINE).copied().collect();
        assert_eq!(Some(nines), Some(vec![1.0, 900.0, 990.0, 999.0]));
    }

    #[test]
    fn no_event_has_no_distribution() {
        assert_eq!(distribution(&[trial(latency_record(0..0))]), None);
        assert_eq!(distribution([]), None);
    }

    #[test]
    fn events_that_never_ended_make_bounds_of_what_lies_among_them() {
        let all = latency_record((1..=98).chain([5000, 6000]));
        let stopped = TrialRecord { latency_censored: Some(latency_bytes([5000, 6000])), ..trial(all) };
        assert_eq!(distribution([&stopped]).unwrap().lower_bounds, Some([false, false, true, true]));
    }
}
