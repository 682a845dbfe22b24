//! A reading of counters, and the change between two readings.

use std::time::Instant;

use super::depth::Depth;
use super::name::{CounterId, CounterKind, CounterName};

/// Every counter of a system at one moment.
#[derive(Clone, Debug)]
pub struct CounterReading {
    /// Time of the reading.
    pub at: Instant,
    /// Which counters were read.
    pub depth: Depth,
    /// Values of this reading, by counter number. A missing value is NaN.
    pub(super) values: Vec<f64>,
}

impl CounterReading {
    /// The value of one counter, or `None` if it is missing.
    pub fn get(&self, id: CounterId) -> Option<f64> {
        self.values.get(id.0).copied().filter(|value| !value.is_nan())
    }

    /// Returns all counters that the reading has, with their values.
    pub fn values(&self) -> impl Iterator<Item = (CounterId, f64)> {
        let numbered = self.values.iter().enumerate().map(|(place, &value)| (CounterId(place), value));
        numbered.filter(|(_, value)| !value.is_nan())
    }
}

/// The change of one counter between two readings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CounterChange {
    pub id: CounterId,
    /// The difference of a counter, or the later value of a gauge.
    pub value: f64,
}

/// Returns the change between two readings. If the depth of only one of the two readings includes a counter, the
/// counter is left out. If the earlier reading lacks a counter for another reason, the counter is assumed to have begun
/// at 0. If a counter fell, `FLUSH STATUS` or a restart has reset it to 0, so its change is the later value.
pub(super) fn change(
    names: &[CounterName],
    from: &CounterReading,
    to: &CounterReading,
) -> Vec<CounterChange> {
    let is_comparable = |id| from.depth >= to.depth || from.get(id).is_some();
    let value = |id: CounterId, later: f64| match names[id.0].kind {
        CounterKind::Gauge => later,
        CounterKind::Counter => {
            let earlier = from.get(id).unwrap_or(0.0);
            if later < earlier { later } else { later - earlier }
        }
    };
    to.values()
        .filter(|&(id, _)| names[id.0].kind == CounterKind::Gauge || is_comparable(id))
        .map(|(id, later)| CounterChange { id, value: value(id, later) })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::super::tally::Tally;
    use super::*;

    fn reading(tally: &mut Tally, depth: Depth, values: &[(CounterId, f64)]) -> CounterReading {
        tally.begin();
        for &(id, value) in values {
            tally.put(id, value);
        }
        tally.reading(depth)
    }

    #[test]
    fn counters_give_differences_and_gauges_what_they_stand_at() {
        let mut tally = Tally::default();
        let selects = tally.add("s", "selects".to_owned(), CounterKind::Counter);
        let threads = tally.add("s", "threads".to_owned(), CounterKind::Gauge);
        let from = reading(&mut tally, Depth::Light, &[(selects, 10.0), (threads, 9.0)]);
        let late = tally.add("s", "late".to_owned(), CounterKind::Counter);
        let to = reading(&mut tally, Depth::Light, &[(selects, 15.0), (threads, 4.0), (late, 2.0)]);
        let values = |from, to| -> Vec<_> {
            change(tally.names(), from, to).iter().map(|change| (change.id.0, change.value)).collect()
        };
        assert_eq!(values(&from, &to), [(0, 5.0), (1, 4.0), (2, 2.0)]);
        // The later values are smaller, as after FLUSH STATUS.
        assert_eq!(values(&to, &from), [(0, 10.0), (1, 9.0)]);
        assert_eq!(from.get(late), None);
    }

    #[test]
    fn what_only_the_full_reading_has_is_not_compared_with_a_light_one() {
        let mut tally = Tally::default();
        let waits = tally.add("s", "waits".to_owned(), CounterKind::Counter);
        let light = reading(&mut tally, Depth::Light, &[]);
        let full = reading(&mut tally, Depth::Full, &[(waits, 1000.0)]);
        assert!(change(tally.names(), &light, &full).is_empty());
        assert!(change(tally.names(), &full, &light).is_empty());
    }
}
