//! Figures of the latency histograms that trials keep.

use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;

/// Latencies of a trial's events, in µs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Figures {
    pub(crate) mean_us: f64,
    pub(crate) p50_us: f64,
    pub(crate) p95_us: f64,
    pub(crate) p99_us: f64,
    pub(crate) max_us: f64,
}

/// Reads a histogram; none if it holds no event.
pub(crate) fn figures(bytes: &[u8]) -> Option<Figures> {
    let histogram = read(bytes)?;
    let quantile = |quantile| histogram.value_at_quantile(quantile) as f64;
    Some(Figures {
        mean_us: histogram.mean(),
        p50_us: quantile(0.5),
        p95_us: quantile(0.95),
        p99_us: quantile(0.99),
        max_us: quantile(1.0),
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
        let expected = Figures { mean_us: 50.5, p50_us: 50.0, p95_us: 95.0, p99_us: 99.0, max_us: 100.0 };
        assert_eq!(figures(&latency(1..=100)), Some(expected));
        assert_eq!((figures(b"garbage"), figures(&latency([]))), (None, None));
    }
}
