//! A cell's latency distribution: the merged histograms of its trials, read at places of a log-nines axis.

use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use serde::Serialize;

/// Places in a nine: 0 to 0.9 is one, 0.9 to 0.99 the next.
const PLACES_PER_NINE: usize = 5;

/// A distribution of latencies.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub(crate) struct Distribution {
    pub(crate) events: u64,
    /// Latencies in µs at nines 0, 1/5, 2/5 …, where nines = −log₁₀(1 − quantile).
    pub(crate) latency_us: Vec<u64>,
    /// The 50th, 95th and 99th percentile in µs.
    pub(crate) percentiles_us: [u64; 3],
    /// The slowest event, in µs.
    pub(crate) max_us: u64,
}

impl Distribution {
    /// Nines, and latency in ms.
    pub(crate) fn points_ms(&self) -> Vec<(f64, f64)> {
        let nines = |place: usize| place as f64 / PLACES_PER_NINE as f64;
        self.latency_us.iter().enumerate().map(|(place, us)| (nines(place), *us as f64 / 1e3)).collect()
    }
}

/// The distribution over several trials, from their histograms in V2 format; none if no event finished.
pub(crate) fn distribution<'a>(encoded: impl Iterator<Item = &'a [u8]>) -> Option<Distribution> {
    let mut merged: Option<Histogram<u64>> = None;
    for bytes in encoded {
        let Ok(histogram) = Deserializer::new().deserialize::<u64, _>(&mut &*bytes) else { continue };
        match &mut merged {
            None => merged = Some(histogram),
            // Ours all have one range and precision, so adding loses nothing.
            Some(merged) => merged.add(&histogram).unwrap_or_default(),
        }
    }
    let merged = merged.filter(|merged| !merged.is_empty())?;
    let events = merged.len();
    // Leave out quantiles above which there is less than one event.
    let places = (events as f64).log10() * PLACES_PER_NINE as f64;
    let at = |place: usize| 1.0 - 10_f64.powf(-(place as f64) / PLACES_PER_NINE as f64);
    let latency_us = (0..=places as usize).map(|place| merged.value_at_quantile(at(place))).collect();
    let percentiles_us = [0.5, 0.95, 0.99].map(|quantile| merged.value_at_quantile(quantile));
    Some(Distribution { events, latency_us, percentiles_us, max_us: merged.max() })
}

#[cfg(test)]
mod tests {
    use hdrhistogram::serialization::{Serializer, V2Serializer};

    use super::*;

    fn encoded(values: impl Iterator<Item = u64>) -> Vec<u8> {
        let mut histogram = Histogram::<u64>::new_with_bounds(1, 3_600_000_000, 3).unwrap();
        values.for_each(|value| histogram.record(value).unwrap());
        let mut bytes = Vec::new();
        V2Serializer::new().serialize(&histogram, &mut bytes).unwrap();
        bytes
    }

    #[test]
    fn trials_are_merged_and_read_at_each_nine() {
        let trials = [encoded(1..=500), encoded(501..=1000), b"garbage".to_vec()];
        let distribution = distribution(trials.iter().map(Vec::as_slice)).unwrap();
        assert_eq!((distribution.events, distribution.max_us), (1000, 1000));
        assert_eq!(distribution.percentiles_us, [500, 950, 990]);
        let nines: Vec<u64> = distribution.latency_us.iter().step_by(PLACES_PER_NINE).copied().collect();
        assert_eq!(nines, [1, 900, 990, 999]);
    }

    #[test]
    fn no_event_has_no_distribution() {
        assert_eq!(distribution([encoded(0..0)].iter().map(Vec::as_slice)), None);
        assert_eq!(distribution(std::iter::empty()), None);
    }
}
