//! Figures of the latency histograms that trials keep.

use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;

/// Latencies of a trial's events, in µs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct LatencyUs {
    pub(crate) mean: f64,
    pub(crate) p50: f64,
    pub(crate) p95: f64,
    pub(crate) p99: f64,
    pub(crate) max: f64,
}

/// Reads a histogram; none if it holds no event.
pub(crate) fn figures(bytes: &[u8]) -> Option<LatencyUs> {
    let histogram = read(bytes)?;
    let quantile = |quantile| histogram.value_at_quantile(quantile) as f64;
    Some(LatencyUs {
        mean: histogram.mean(),
        p50: quantile(0.5),
        p95: quantile(0.95),
        p99: quantile(0.99),
        max: quantile(1.0),
    })
}

fn read(bytes: &[u8]) -> Option<Histogram<u64>> {
    let histogram: Histogram<u64> = Deserializer::new().deserialize(&mut &bytes[..]).ok()?;
    (!histogram.is_empty()).then_some(histogram)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::latency;

    #[test]
    fn figures_of_the_first_hundred_numbers() {
        let expected = LatencyUs { mean: 50.5, p50: 50.0, p95: 95.0, p99: 99.0, max: 100.0 };
        assert_eq!(figures(&latency(1..=100)), Some(expected));
        assert_eq!((figures(b"garbage"), figures(&latency([]))), (None, None));
    }
}
