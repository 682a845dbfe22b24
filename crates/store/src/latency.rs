//! Latency histograms: their bytes, and the figures that SQL cannot compute from these.

use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer as _, V2Serializer};
use rusqlite::types::Value;

/// The columns that [`figures`] fills.
pub(crate) const COLUMNS: &[&str] =
    &["latency_mean_us", "latency_p50_us", "latency_p95_us", "latency_p99_us", "latency_max_us"];

/// A histogram of latencies in µs in HDR V2 format, as [`Measured::latency`](crate::Measured) keeps it. Latencies above an hour
/// count as an hour.
///
/// # Panics
/// Never: the bounds are valid, and memory takes every byte.
pub fn latency_bytes(latencies_us: impl IntoIterator<Item = u64>) -> Vec<u8> {
    let mut histogram = Histogram::<u64>::new_with_bounds(1, 3_600_000_000, 3).expect("valid bounds");
    latencies_us.into_iter().for_each(|latency_us| histogram.saturating_record(latency_us));
    let mut bytes = Vec::new();
    V2Serializer::new().serialize(&histogram, &mut bytes).expect("memory takes every byte");
    bytes
}

/// Mean, median, percentiles and maximum of a histogram in HDR V2 format. All are NULL if it contains no event or is
/// invalid.
pub(crate) fn figures(bytes: &[u8]) -> [Value; 5] {
    let histogram: Option<Histogram<u64>> = Deserializer::new().deserialize(&mut &bytes[..]).ok();
    let Some(histogram) = histogram.filter(|histogram| !histogram.is_empty()) else {
        return [const { Value::Null }; 5];
    };
    let at = |quantile| Value::from(histogram.value_at_quantile(quantile) as i64);
    [histogram.mean().into(), at(0.5), at(0.95), at(0.99), at(1.0)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_of_the_first_hundred_numbers() {
        let expected: [Value; 5] = [50.5.into(), 50.into(), 95.into(), 99.into(), 100.into()];
        assert_eq!(figures(&latency_bytes(1..=100)), expected);
    }

    #[test]
    fn no_event_has_no_latency() {
        let nothing = [const { Value::Null }; 5];
        assert_eq!(figures(&latency_bytes([])), nothing);
        assert_eq!(figures(b"garbage"), nothing);
    }
}
