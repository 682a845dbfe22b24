//! Latency histograms. All have the same layout, so they are merged without loss.

use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};
use serde::de::Error as _;

/// Longest recorded latency: an hour. A longer latency is recorded as an hour.
pub const LATENCY_US_MAX: u64 = 3_600_000_000;

/// Significant digits of a latency.
const DIGITS: u8 = 3;

/// The place of the highest trackable value in the bytes of a histogram in HDR's V2 format.
const HIGHEST_BYTES: std::ops::Range<usize> = 24..32;

/// A histogram without latencies.
static EMPTY: LazyLock<Histogram<u64>> =
    LazyLock::new(|| Histogram::new(DIGITS).expect("a constant number of digits is valid"));

/// Latencies: their distribution, and their exact minimum, maximum and sum.
///
/// The distribution is in µs, with three significant digits from 1 µs to [`LATENCY_US_MAX`] (HDR histogram).
/// It grows with the longest latency: it takes no memory before the first latency, 90 kB up to a second, and
/// twice that up to an hour.
#[derive(Clone, Debug, Default)]
pub struct Latency {
    histogram: Option<Histogram<u64>>,
    exact: LatencyNs,
}

/// The shortest and longest of some latencies, and their sum, in ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct LatencyNs {
    pub min_ns: u64,
    pub max_ns: u64,
    pub sum_ns: u64,
}

/// The value for no latencies. Merging it into another value does not change the other value.
impl Default for LatencyNs {
    fn default() -> Self {
        Self { min_ns: u64::MAX, max_ns: 0, sum_ns: 0 }
    }
}

impl LatencyNs {
    pub(crate) fn merge(&mut self, other: Self) {
        self.min_ns = self.min_ns.min(other.min_ns);
        self.max_ns = self.max_ns.max(other.max_ns);
        self.sum_ns = self.sum_ns.saturating_add(other.sum_ns);
    }
}

impl Latency {
    /// Creates the latencies from pairs of a latency in µs and the number of times that it occurred.
    ///
    /// # Panics
    /// Never: each latency counts as at most [`LATENCY_US_MAX`], so the histogram fits into memory.
    pub(crate) fn of_bins(bins: impl Iterator<Item = (u64, u64)>, exact: LatencyNs) -> Self {
        let mut latency = Self { histogram: None, exact };
        for (us, latencies) in bins {
            let recorded = latency.grown().record_n(us.clamp(1, LATENCY_US_MAX), latencies);
            recorded.expect("a histogram of an hour fits into memory");
        }
        latency
    }

    /// Records one latency. In the distribution, less than 1 µs counts as 1 µs.
    ///
    /// # Panics
    /// Never: in the distribution, a latency counts as at most [`LATENCY_US_MAX`], so the histogram fits into memory.
    pub fn record_ns(&mut self, latency_ns: u64) {
        self.exact.merge(LatencyNs { min_ns: latency_ns, max_ns: latency_ns, sum_ns: latency_ns });
        let recorded = self.grown().record((latency_ns / 1000).clamp(1, LATENCY_US_MAX));
        recorded.expect("a histogram of an hour fits into memory");
    }

    /// Records one latency.
    pub fn record_us(&mut self, latency_us: u64) {
        self.record_ns(latency_us.saturating_mul(1000));
    }

    /// Adds other latencies.
    ///
    /// # Panics
    /// Never: the histogram grows to the range of the other histogram.
    pub fn merge(&mut self, other: &Self) {
        self.exact.merge(other.exact);
        if let Some(other) = &other.histogram {
            self.grown().add(other).expect("a histogram of an hour fits into memory");
        }
    }

    /// The histogram. Creates it if it is missing.
    fn grown(&mut self) -> &mut Histogram<u64> {
        self.histogram.get_or_insert_with(|| EMPTY.clone())
    }

    pub fn clear(&mut self) {
        self.exact = LatencyNs::default();
        if let Some(histogram) = &mut self.histogram {
            histogram.reset();
        }
    }

    /// The distribution. The minimum, maximum and mean of a histogram are computed from its buckets, so they are not
    /// exact. [`Self::exact`] has the exact values.
    pub fn histogram(&self) -> &Histogram<u64> {
        self.histogram.as_ref().unwrap_or(&EMPTY)
    }

    /// Minimum, maximum and sum; `None` if there are no latencies.
    pub fn exact(&self) -> Option<LatencyNs> {
        (!self.histogram().is_empty()).then_some(self.exact)
    }

    /// Mean in ns; `None` if there are no latencies.
    pub fn mean_ns(&self) -> Option<f64> {
        Some(self.exact()?.sum_ns as f64 / self.histogram().len() as f64)
    }

    /// The latency in ns that the share `quantile` of all latencies does not exceed; `None` if there are no
    /// latencies. It has three significant digits, but is never below the minimum or above the maximum.
    pub fn quantile_ns(&self, quantile: f64) -> Option<f64> {
        let LatencyNs { min_ns, max_ns, .. } = self.exact()?;
        let of_bucket_us = self.histogram().value_at_quantile(quantile) as f64;
        Some((of_bucket_us * 1e3).clamp(min_ns as f64, max_ns as f64))
    }

    /// [`Self::quantile_ns`] in µs.
    pub fn quantile_us(&self, quantile: f64) -> Option<f64> {
        Some(self.quantile_ns(quantile)? / 1e3)
    }

    /// The histogram in HDR's V2 format, as in the results file. In this format, a histogram states its highest
    /// trackable value. Here this value is always [`LATENCY_US_MAX`], even if the histogram is smaller. Readers whose
    /// histograms have a fixed size can therefore add several histograms.
    ///
    /// # Panics
    /// Never: writing to memory cannot fail.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        V2Serializer::new().serialize(self.histogram(), &mut bytes).expect("a Vec takes every byte");
        bytes[HIGHEST_BYTES].copy_from_slice(&LATENCY_US_MAX.to_be_bytes());
        bytes
    }

    /// Returns the bytes of [`Self::to_bytes`] as base64 without padding.
    pub fn to_base64(&self) -> String {
        STANDARD_NO_PAD.encode(self.to_bytes())
    }
}

/// Two values are equal if their latencies are equal, however far each histogram has grown.
impl PartialEq for Latency {
    fn eq(&self, other: &Self) -> bool {
        let counts = |latency: &Self| -> Vec<(u64, u64)> {
            let recorded = latency.histogram().iter_recorded();
            recorded.map(|step| (step.value_iterated_to(), step.count_at_value())).collect()
        };
        self.exact == other.exact && counts(self) == counts(other)
    }
}

/// The form of latencies in the JSON of a frame.
#[derive(serde::Serialize, serde::Deserialize)]
struct Sent<'a> {
    histogram: std::borrow::Cow<'a, str>,
    exact: Option<LatencyNs>,
}

impl serde::Serialize for Latency {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let sent = Sent { histogram: self.to_base64().into(), exact: self.exact() };
        serde::Serialize::serialize(&sent, serializer)
    }
}

impl<'de> serde::Deserialize<'de> for Latency {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let sent: Sent<'_> = serde::Deserialize::deserialize(deserializer)?;
        let bytes = STANDARD_NO_PAD.decode(sent.histogram.as_bytes()).ok();
        let histogram: Option<Histogram<u64>> =
            bytes.and_then(|bytes| Deserializer::new().deserialize(&mut &bytes[..]).ok());
        let histogram = histogram.ok_or_else(|| D::Error::custom("not an HDR histogram"))?;
        let mut latency = Self::default();
        latency.grown().add(histogram).map_err(|_| D::Error::custom("a histogram of other bounds"))?;
        match (sent.exact, latency.histogram().is_empty()) {
            (Some(exact), false) if exact.min_ns <= exact.max_ns => latency.exact = exact,
            (None, true) => {}
            _ => return Err(D::Error::custom("latencies without their least, greatest and sum")),
        }
        Ok(latency)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_histogram_survives_the_trip_as_json() {
        let mut latency = Latency::default();
        for us in [0, 1, 250, 70_000, u64::MAX] {
            latency.record_us(us);
        }
        let json = serde_json::to_string(&latency).unwrap();
        let back: Latency = serde_json::from_str(&json).unwrap();
        assert_eq!(back, latency);
        assert_eq!(back.histogram().len(), 5);
        assert!(back.histogram().max() >= LATENCY_US_MAX);
        let nothing = serde_json::to_string(&Latency::default()).unwrap();
        assert_eq!(serde_json::from_str::<Latency>(&nothing).unwrap().exact(), None);
    }

    #[test]
    fn of_one_latency_every_figure_is_the_same_number() {
        for ns in [1, 7_036_931, 3_600_000_000_000, 9_000_000_000_001] {
            let mut latency = Latency::default();
            latency.record_ns(ns);
            let one = Some(ns as f64);
            let quantiles = [0.0, 0.5, 0.99, 1.0].map(|quantile| latency.quantile_ns(quantile));
            assert_eq!((quantiles, latency.mean_ns()), ([one; 4], one), "{ns}");
            assert_eq!(latency.exact(), Some(LatencyNs { min_ns: ns, max_ns: ns, sum_ns: ns }));
        }
    }

    #[test]
    fn least_greatest_and_sum_are_exact_and_merge() {
        let mut random = 7_u64;
        let mut parts = [Latency::default(), Latency::default(), Latency::default()];
        let (mut min_ns, mut max_ns, mut sum_ns) = (u64::MAX, 0, 0);
        for at in 0..3000 {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let ns = random >> (24 + at % 40);
            parts[at % 2].record_ns(ns);
            (min_ns, max_ns, sum_ns) = (min_ns.min(ns), max_ns.max(ns), sum_ns + ns);
        }
        let [mut all, other, empty] = parts;
        all.merge(&other);
        all.merge(&empty);
        assert_eq!(all.exact(), Some(LatencyNs { min_ns, max_ns, sum_ns }));
        let (low, high) = (min_ns as f64, max_ns as f64);
        let quantiles: Vec<f64> =
            (0..=1000).filter_map(|at| all.quantile_ns(f64::from(at) / 1000.0)).collect();
        assert!(quantiles.is_sorted() && quantiles.iter().all(|ns| (low..=high).contains(ns)));
        assert!((low..=high).contains(&all.mean_ns().unwrap()));
        all.clear();
        assert_eq!((all.exact(), all.mean_ns(), all.quantile_ns(0.5)), (None, None, None));
    }

    #[test]
    fn histograms_are_merged_however_far_each_has_grown() {
        let of = |latencies_us: &[u64]| {
            let mut latency = Latency::default();
            for &us in latencies_us {
                latency.record_us(us);
            }
            latency
        };
        let (short, long) = (of(&[10, 20]), of(&[30, 5_000_000]));
        let mut cleared = long.clone();
        cleared.clear();
        assert_eq!(cleared, Latency::default());
        for (mut into, other) in [(short.clone(), long.clone()), (long, short)] {
            into.merge(&other);
            into.merge(&cleared);
            into.merge(&Latency::default());
            assert_eq!(into, of(&[10, 20, 30, 5_000_000]));
            let sent = serde_json::to_string(&into).unwrap();
            assert_eq!(serde_json::from_str::<Latency>(&sent).unwrap(), into);
        }
    }

    #[test]
    fn the_bytes_are_those_of_a_histogram_of_the_whole_range() {
        let mut latency = Latency::default();
        let mut whole: Histogram<u64> = Histogram::new_with_bounds(1, LATENCY_US_MAX, DIGITS).unwrap();
        for us in [1, 3, 4_000, 4_000, 1_234_567] {
            let mut bytes = Vec::new();
            V2Serializer::new().serialize(&whole, &mut bytes).unwrap();
            assert_eq!(latency.to_bytes(), bytes, "before {us}");
            latency.record_us(us);
            whole.record(us).unwrap();
        }
    }

    #[test]
    fn garbage_is_no_histogram() {
        let sent = |histogram: &str, exact: &str| {
            serde_json::from_str::<Latency>(&format!("{{\"histogram\":\"{histogram}\",\"exact\":{exact}}}"))
        };
        assert!(sent("AAAA", "null").is_err() && sent("!", "null").is_err());
        let mut one = Latency::default();
        one.record_us(5);
        let histogram = one.to_base64();
        assert!(sent(&histogram, r#"{"min_ns":5000,"max_ns":5000,"sum_ns":5000}"#).is_ok_and(|it| it == one));
        assert!(sent(&histogram, "null").is_err(), "an event without its latency");
        assert!(sent(&histogram, r#"{"min_ns":2,"max_ns":1,"sum_ns":1}"#).is_err());
    }
}
