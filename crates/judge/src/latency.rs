//! Figures of the latency histograms that trials keep.

use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;

/// The mean in µs; none if the histogram holds no event.
pub(crate) fn mean_us(bytes: &[u8]) -> Option<f64> {
    read(bytes).map(|histogram| histogram.mean())
}

/// The latency in µs that a share of the events does not exceed; none if the histogram holds no event.
pub(crate) fn quantile_us(bytes: &[u8], quantile: f64) -> Option<f64> {
    read(bytes).map(|histogram| histogram.value_at_quantile(quantile) as f64)
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
        let bytes = latency(1..=100);
        assert_eq!((mean_us(&bytes), quantile_us(&bytes, 0.95)), (Some(50.5), Some(95.0)));
        assert_eq!((mean_us(b"garbage"), quantile_us(&latency([]), 0.5)), (None, None));
    }
}
