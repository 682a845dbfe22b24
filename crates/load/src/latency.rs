//! Latency histograms of one layout, which merge without loss.

use std::sync::LazyLock;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2Serializer};
use serde::de::Error as _;

/// Longest recorded latency: an hour. Longer ones are recorded as this.
pub const LATENCY_US_MAX: u64 = 3_600_000_000;

/// Significant digits of a latency.
const DIGITS: u8 = 3;

/// Offset of the highest trackable value in HDR's V2 format.
const HIGHEST_BYTES: std::ops::Range<usize> = 24..32;

/// A histogram before its first latency.
static EMPTY: LazyLock<Histogram<u64>> =
    LazyLock::new(|| Histogram::new(DIGITS).expect("a constant number of digits is valid"));

/// Latencies in µs, three significant digits from 1 µs to [`LATENCY_US_MAX`] (HDR histogram). It grows with the longest
/// latency: no memory before the first, 90 kB up to a second, twice that up to an hour.
#[derive(Clone, Debug, Default)]
pub struct Latency(Option<Histogram<u64>>);

impl Latency {
    /// Records one latency; 0 counts as 1 µs.
    ///
    /// # Panics
    /// Never: the bounds keep the histogram small.
    pub fn record_us(&mut self, latency_us: u64) {
        let recorded = self.grown().record(latency_us.clamp(1, LATENCY_US_MAX));
        recorded.expect("a histogram of an hour fits into memory");
    }

    /// Adds another histogram's latencies.
    ///
    /// # Panics
    /// Never: a histogram grows to hold what another holds.
    pub fn merge(&mut self, other: &Self) {
        if let Some(other) = &other.0 {
            self.grown().add(other).expect("a histogram of an hour fits into memory");
        }
    }

    /// The histogram, created if missing.
    fn grown(&mut self) -> &mut Histogram<u64> {
        self.0.get_or_insert_with(|| EMPTY.clone())
    }

    pub fn clear(&mut self) {
        if let Some(histogram) = &mut self.0 {
            histogram.reset();
        }
    }

    pub fn histogram(&self) -> &Histogram<u64> {
        self.0.as_ref().unwrap_or(&EMPTY)
    }

    /// The histogram in HDR's V2 format, as in the results file. However far it has grown, its highest trackable value
    /// is [`LATENCY_US_MAX`], so that readers with fixed histograms can add them.
    ///
    /// # Panics
    /// Never: writing to memory cannot fail.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::new();
        V2Serializer::new().serialize(self.histogram(), &mut bytes).expect("a Vec takes every byte");
        bytes[HIGHEST_BYTES].copy_from_slice(&LATENCY_US_MAX.to_be_bytes());
        bytes
    }

    /// Parses HDR's V2 format.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let histogram: Histogram<u64> = Deserializer::new().deserialize(&mut &bytes[..]).ok()?;
        let mut latency = Self::default();
        latency.grown().add(histogram).ok()?;
        Some(latency)
    }
}

/// Equal if the latencies are equal, however far each has grown.
impl PartialEq for Latency {
    fn eq(&self, other: &Self) -> bool {
        let counts = |latency: &Self| -> Vec<(u64, u64)> {
            let recorded = latency.histogram().iter_recorded();
            recorded.map(|step| (step.value_iterated_to(), step.count_at_value())).collect()
        };
        counts(self) == counts(other)
    }
}

impl serde::Serialize for Latency {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&STANDARD_NO_PAD.encode(self.to_bytes()))
    }
}

impl<'de> serde::Deserialize<'de> for Latency {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
        STANDARD_NO_PAD
            .decode(text.as_bytes())
            .ok()
            .and_then(|bytes| Self::from_bytes(&bytes))
            .ok_or_else(|| D::Error::custom("not an HDR histogram"))
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
            assert_eq!(Latency::from_bytes(&into.to_bytes()), Some(into));
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
        assert!(serde_json::from_str::<Latency>("\"AAAA\"").is_err());
        assert!(serde_json::from_str::<Latency>("\"!\"").is_err());
    }
}
