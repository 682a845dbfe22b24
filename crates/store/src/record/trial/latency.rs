//! Latency histograms: their encoding as bytes, and figures that are stored beside them, because SQL cannot compute
//! figures from the bytes.

use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Serializer as _, V2Serializer};
use rusqlite::Row;
use rusqlite::types::Value;

/// The columns that [`figures`] fills.
pub(crate) const COLUMNS: &[&str] = &[
    "latency_min_ns",
    "latency_max_ns",
    "latency_sum_ns",
    "latency_mean_us",
    "latency_p50_us",
    "latency_p95_us",
    "latency_p99_us",
    "latency_max_us",
];

/// Latencies of events: their distribution, and exact figures that the distribution does not give.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LatencyRecord {
    /// The distribution in µs, as an HDR histogram in V2 format.
    pub histogram: Vec<u8>,
    /// Exact figures; `None` without events.
    pub exact: Option<LatencyNs>,
}

/// The shortest and the longest of some latencies, and the sum of all, in ns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LatencyNs {
    pub min_ns: u64,
    pub max_ns: u64,
    pub sum_ns: u64,
}

impl LatencyNs {
    /// Returns the figures of the latencies of `self` and `other` together.
    fn with(self, other: Self) -> Self {
        Self {
            min_ns: self.min_ns.min(other.min_ns),
            max_ns: self.max_ns.max(other.max_ns),
            sum_ns: self.sum_ns.saturating_add(other.sum_ns),
        }
    }

    /// Whether these figures are possible for this number of latencies: whether the sum lies between `events` times
    /// the shortest and `events` times the longest.
    fn can_be_of(self, events: u64) -> bool {
        let all = |each_ns: u64| u128::from(each_ns) * u128::from(events);
        (all(self.min_ns)..=all(self.max_ns)).contains(&u128::from(self.sum_ns))
    }
}

/// Bounds of all histograms: smallest and largest latency in µs, and number of significant digits.
const BOUNDS: (u64, u64, u8) = (1, 3_600_000_000, 3);

/// Bytes before the bins of HDR V2 format: cookie, length of the bins, offset, digits, bounds, ratio.
const HEADER_BYTES: usize = 40;
/// Cookie of HDR V2 format without compression.
const COOKIE: u32 = 0x1c84_9303 | 0x10;

/// log₂ of the number of bins that are 1 µs wide. These 2¹¹ bins give latencies a precision of three digits. In each
/// further group of 2¹⁰ bins, the bins are twice as wide as in the group before.
const LINEAR_BITS: u32 = 11;
const HALF: u64 = 1 << (LINEAR_BITS - 1);

/// The record of some latencies in µs, in the form of [`Measured::latency`](crate::Measured).
pub fn latency_record(latencies_us: impl IntoIterator<Item = u64>) -> LatencyRecord {
    let latencies_us: Vec<u64> = latencies_us.into_iter().collect();
    let alone = |us: &u64| {
        let ns = us.saturating_mul(1000);
        LatencyNs { min_ns: ns, max_ns: ns, sum_ns: ns }
    };
    let exact = latencies_us.iter().map(alone).reduce(LatencyNs::with);
    LatencyRecord { histogram: latency_bytes(latencies_us), exact }
}

/// A histogram of latencies in µs as bytes in HDR V2 format, for [`LatencyRecord`]. A latency above an hour counts
/// as an hour.
///
/// # Panics
/// Never, because the bounds are valid and writes to memory do not fail.
pub fn latency_bytes(latencies_us: impl IntoIterator<Item = u64>) -> Vec<u8> {
    let (low, high, digits) = BOUNDS;
    let mut histogram = Histogram::<u64>::new_with_bounds(low, high, digits).expect("valid bounds");
    latencies_us.into_iter().for_each(|latency_us| histogram.saturating_record(latency_us));
    let mut bytes = Vec::new();
    V2Serializer::new().serialize(&histogram, &mut bytes).expect("memory takes every byte");
    bytes
}

/// Bins of a latency histogram that contain events.
///
/// The `hdrhistogram` crate keeps and visits all 23,552 bins, most of which are empty. In a study of 4,543 trials,
/// reading them took three quarters of the time of a report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LatencyCounts {
    /// The bins that have events, in ascending order of latency.
    bins: Vec<Bin>,
    events: u64,
    /// Exact figures; `None` if there is only the histogram.
    exact: Option<LatencyNs>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Bin {
    index: u64,
    events: u64,
}

impl Bin {
    /// Index of the bin that contains a latency.
    fn index_of(us: u64) -> u64 {
        let doublings = u64::from(u64::BITS - (us | (2 * HALF - 1)).leading_zeros() - LINEAR_BITS);
        doublings * HALF + (us >> doublings)
    }

    /// Lowest latency of the bin, and the bin's width.
    fn range_us(self) -> (u64, u64) {
        let doublings = (self.index / HALF).saturating_sub(1);
        ((self.index - doublings * HALF) << doublings, 1 << doublings)
    }

    fn highest_us(self) -> u64 {
        let (lowest, width) = self.range_us();
        lowest + width - 1
    }

    fn middle_us(self) -> u64 {
        let (lowest, width) = self.range_us();
        lowest + width / 2
    }
}

impl LatencyCounts {
    /// Decodes a record's histogram by [`Self::from_bytes`]. The record's exact figures are ignored if they are
    /// impossible for this number of events, as in a damaged file.
    pub fn of(record: &LatencyRecord) -> Option<Self> {
        let counts = Self::from_bytes(&record.histogram)?;
        let exact = record.exact.filter(|exact| counts.events > 0 && exact.can_be_of(counts.events));
        Some(Self { exact, ..counts })
    }

    /// Decodes HDR V2 format with the bounds of [`latency_bytes`] (<https://hdrhistogram.github.io/HdrHistogram/>,
    /// "encodeIntoByteBuffer"): counts of events as zigzag LEB128 numbers. A negative number is a number of empty
    /// bins. `None` if the bytes have another format.
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let (header, rest) = bytes.split_at_checked(HEADER_BYTES)?;
        let word = |at: usize| Some(u32::from_be_bytes(header[at..at + 4].try_into().ok()?));
        let is_plain = word(0)? == COOKIE && word(8)? == 0 && header[32..] == 1_f64.to_be_bytes();
        let (low, high, digits) = BOUNDS;
        let is_ours = word(12)? == u32::from(digits)
            && header[16..24] == low.to_be_bytes()
            && header[24..32] == high.to_be_bytes();
        let mut payload = rest.get(..word(4)? as usize).filter(|_| is_plain && is_ours)?;
        // The last group of bins of equal width is complete: it also has bins beyond the largest latency.
        let bins_max = (Bin::index_of(BOUNDS.1) / HALF + 1) * HALF;
        let (mut counts, mut index) = (Self::default(), 0_u64);
        while !payload.is_empty() {
            let number = zigzag(&mut payload)?;
            if number < 0 {
                index = index.checked_add(number.unsigned_abs())?;
                continue;
            }
            if number > 0 && index < bins_max {
                counts.bins.push(Bin { index, events: number as u64 });
                counts.events = counts.events.checked_add(number as u64)?;
            } else if number > 0 {
                return None;
            }
            index = index.checked_add(1)?;
        }
        Some(counts)
    }

    /// Adds another histogram's events. Does nothing if the number of events would overflow.
    pub fn add(&mut self, other: &Self) {
        let Some(events) = self.events.checked_add(other.events) else { return };
        self.bins.extend_from_slice(&other.bins);
        self.bins.sort_by_key(|bin| bin.index);
        self.bins.dedup_by(|later, earlier| {
            let is_same = later.index == earlier.index;
            if is_same {
                earlier.events += later.events;
            }
            is_same
        });
        self.exact = match (self.exact, other.exact) {
            (Some(own), Some(others)) => Some(own.with(others)),
            (exact, None) if other.events == 0 => exact,
            (None, exact) if self.events == 0 => exact,
            _ => None,
        };
        self.events = events;
    }

    /// Number of events.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// Number of events with at most this latency, to the precision of the bins.
    pub fn events_within(&self, us: u64) -> u64 {
        let last = Bin::index_of(us);
        self.bins.iter().take_while(|bin| bin.index <= last).map(|bin| bin.events).sum()
    }

    /// Mean in µs; 0 without events. If the exact sum is not known, the mean is computed from the middles of the
    /// bins.
    pub fn mean_us(&self) -> f64 {
        if let Some(exact) = self.exact {
            return exact.sum_ns as f64 / self.events as f64 / 1e3;
        }
        let sum: f64 = self.bins.iter().map(|bin| bin.middle_us() as f64 * bin.events as f64).sum();
        if self.events == 0 { 0.0 } else { sum / self.events as f64 }
    }

    /// The greatest latency in µs; 0 without events. If it is not known exactly, it is the upper end of the highest
    /// bin that has events.
    pub fn max_us(&self) -> f64 {
        let highest = || self.bins.last().map_or(0, |bin| bin.highest_us()) as f64;
        self.exact.map_or_else(highest, |exact| exact.max_ns as f64 / 1e3)
    }

    /// The latency in µs that a share of the events does not exceed; 0 without events. The result is the highest
    /// latency of the quantile's bin, or for a share of 0, the lowest latency of the bin. It is never below the least
    /// or above the greatest latency, if these are known.
    pub fn quantile_us(&self, quantile: f64) -> f64 {
        let us = self.bin_quantile_us(quantile) as f64;
        self.exact.map_or(us, |exact| us.clamp(exact.min_ns as f64 / 1e3, exact.max_ns as f64 / 1e3))
    }

    fn bin_quantile_us(&self, quantile: f64) -> u64 {
        let rank = ((quantile * self.events as f64).ceil() as u64).clamp(1, self.events.max(1));
        let mut events = 0;
        let at = self.bins.iter().find(|bin| {
            events += bin.events;
            events >= rank
        });
        at.map_or(0, |bin| if quantile > 0.0 { bin.highest_us() } else { bin.range_us().0 })
    }
}

/// Takes a zigzag LEB128 number from the beginning of the bytes: seven bits per byte, eight in a ninth byte. `None` if
/// the bytes end within the number.
fn zigzag(bytes: &mut &[u8]) -> Option<i64> {
    let mut value = 0_u64;
    for at in 0..9 {
        let (first, rest) = bytes.split_first()?;
        *bytes = rest;
        let (bits, is_last) = if at == 8 { (*first, true) } else { (first & 0x7f, first & 0x80 == 0) };
        value |= u64::from(bits) << (7 * at);
        if is_last {
            break;
        }
    }
    Some((value >> 1) as i64 ^ -((value & 1) as i64))
}

/// The values of [`COLUMNS`]. All values are NULL if there are no events or no valid histogram.
pub(crate) fn figures(record: &LatencyRecord) -> [Value; 8] {
    let Some(counts) = LatencyCounts::of(record).filter(|counts| counts.events() > 0) else {
        return [const { Value::Null }; 8];
    };
    let exact = |of: fn(LatencyNs) -> u64| {
        Value::from(counts.exact.map(|exact| i64::try_from(of(exact)).unwrap_or(i64::MAX)))
    };
    let at = |quantile| Value::from(counts.quantile_us(quantile));
    [
        exact(|exact| exact.min_ns),
        exact(|exact| exact.max_ns),
        exact(|exact| exact.sum_ns),
        counts.mean_us().into(),
        at(0.5),
        at(0.95),
        at(0.99),
        counts.max_us().into(),
    ]
}

/// Reads the latencies from a row with the histogram and the figures that are computed from the latencies.
pub(crate) fn latency_of(row: &Row<'_>) -> rusqlite::Result<LatencyRecord> {
    Ok(LatencyRecord { histogram: row.get("latency")?, exact: latency_ns(row)? })
}

fn latency_ns(row: &Row<'_>) -> rusqlite::Result<Option<LatencyNs>> {
    let Some(min_ns) = row.get("latency_min_ns")? else { return Ok(None) };
    Ok(Some(LatencyNs { min_ns, max_ns: row.get("latency_max_ns")?, sum_ns: row.get("latency_sum_ns")? }))
}

#[cfg(test)]
mod tests {
    use hdrhistogram::serialization::Deserializer;

    use super::*;

    #[test]
    fn figures_of_the_first_hundred_numbers() {
        let exact: [Value; 3] = [1000.into(), 100_000.into(), 5_050_000.into()];
        let us: [Value; 5] = [50.5.into(), 50.0.into(), 95.0.into(), 99.0.into(), 100.0.into()];
        assert_eq!(figures(&latency_record(1..=100)).to_vec(), [exact.to_vec(), us.to_vec()].concat());
    }

    #[test]
    fn of_one_event_least_mean_percentiles_and_greatest_are_the_same_number() {
        let exact = LatencyNs { min_ns: 7_036_931, max_ns: 7_036_931, sum_ns: 7_036_931 };
        let one = LatencyRecord { histogram: latency_bytes([7036]), exact: Some(exact) };
        let us = || Value::from(7036.931);
        assert_eq!(figures(&one)[3..], [us(), us(), us(), us(), us()]);
        let mut two = LatencyCounts::of(&one).unwrap();
        two.add(&LatencyCounts::of(&LatencyRecord { exact: None, ..one.clone() }).unwrap());
        assert_eq!(
            (two.exact, two.quantile_us(0.5)),
            (None, 7039.0),
            "the bin is what is known of one of them"
        );
    }

    #[test]
    fn exact_figures_that_no_events_can_have_are_left_out() {
        let exact = |min_ns, max_ns, sum_ns| Some(LatencyNs { min_ns, max_ns, sum_ns });
        let of =
            |exact| LatencyCounts::of(&LatencyRecord { histogram: latency_bytes([5, 7]), exact }).unwrap();
        assert_eq!(of(exact(5000, 7000, 12_000)).mean_us().to_bits(), 6.0_f64.to_bits());
        for damaged in [
            None,
            exact(7000, 5000, 12_000),
            exact(5000, 7000, 9999),
            exact(5000, 7000, 14_001),
            exact(u64::MAX, u64::MAX, u64::MAX),
        ] {
            let found = of(damaged);
            assert_eq!((found.exact, found.max_us()), (None, 7.0), "{damaged:?}");
        }
    }

    #[test]
    fn no_event_has_no_latency() {
        let nothing = [const { Value::Null }; 8];
        assert_eq!(figures(&latency_record([])), nothing);
        assert_eq!(figures(&LatencyRecord { histogram: b"garbage".to_vec(), exact: None }), nothing);
    }

    /// Latencies of every magnitude. One latency occurs very often.
    fn latencies(seed: u64) -> Vec<u64> {
        let spread =
            (0..2000_u64).map(|at| (at + seed).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (28 + at % 36));
        let often = std::iter::repeat_n(700 + seed, 100_000);
        spread.chain(often).chain([0, 1, 2047, 2048, 2049, 4095, 4096, u64::MAX]).collect()
    }

    #[test]
    fn figures_are_those_of_the_crate_that_wrote_the_bytes() {
        let (one, other) = (latency_bytes(latencies(1)), latency_bytes(latencies(2)));
        let decode = |bytes: &[u8]| Deserializer::new().deserialize::<u64, _>(&mut &bytes[..]).unwrap();
        let mut peer = decode(&one);
        peer.add(decode(&other)).unwrap();
        let mut counts = LatencyCounts::from_bytes(&one).unwrap();
        counts.add(&LatencyCounts::from_bytes(&other).unwrap());
        assert_eq!((counts.events(), counts.max_us()), (peer.len(), peer.max() as f64));
        assert!((counts.mean_us() / peer.mean() - 1.0).abs() < 1e-9, "{} {}", counts.mean_us(), peer.mean());
        for quantile in (0..=1000).map(|at| f64::from(at) / 1000.0) {
            assert_eq!(counts.bin_quantile_us(quantile), peer.value_at_quantile(quantile), "{quantile}");
        }
        for us in (0..32).map(|bits| 1_u64 << bits).flat_map(|us| [us - 1, us, us + 1]) {
            assert_eq!(counts.events_within(us), peer.count_between(0, us), "{us}");
        }
    }

    #[test]
    fn bytes_that_are_no_histogram_are_refused() {
        let whole = latency_bytes(1..=100);
        for length in 0..whole.len() {
            assert_eq!(LatencyCounts::from_bytes(&whole[..length]), None, "{length}");
        }
        for at in (0..4).chain(8..40) {
            let mut other = whole.clone();
            other[at] ^= 1;
            assert_eq!(LatencyCounts::from_bytes(&other), None, "byte {at}");
        }
        let with_bins = |payload: &[u8]| {
            let mut bytes = whole[..HEADER_BYTES].to_vec();
            bytes[4..8].copy_from_slice(&(payload.len() as u32).to_be_bytes());
            bytes.extend_from_slice(payload);
            LatencyCounts::from_bytes(&bytes).map(|counts| counts.events())
        };
        assert_eq!(with_bins(&[2, 4]), Some(3));
        assert_eq!(with_bins(&[0x80]), None, "a number that does not end");
        assert_eq!(with_bins(&[0xff; 9]), Some(0), "the longest run of empty bins");
        assert_eq!(with_bins(&[0xff, 0xff, 0x7f, 2]), None, "an event after the last bin");
        let most = [0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff];
        assert_eq!(with_bins(&[most, most, most].concat()), None, "more events than can be counted");
    }

    #[test]
    fn a_histogram_with_more_events_than_can_be_counted_is_not_added() {
        let most =
            LatencyCounts { bins: vec![Bin { index: 1, events: u64::MAX }], events: u64::MAX, exact: None };
        let mut sum = LatencyCounts::from_bytes(&latency_bytes([7])).unwrap();
        sum.add(&most);
        assert_eq!((sum.events(), sum.events_within(7)), (1, 1));
    }
}
