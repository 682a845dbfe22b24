//! Collects a reading, and assigns numbers to counter names.

use std::time::Instant;

use super::depth::Depth;
use super::name::{CounterId, CounterKind, CounterName};
use super::reading::CounterReading;

/// Collects the values of a reading.
#[derive(Default)]
pub(super) struct Tally {
    names: Vec<CounterName>,
    /// Values of the current reading, by counter number. A missing value is NaN.
    values: Vec<f64>,
}

impl Tally {
    pub(super) fn begin(&mut self) {
        self.values.clear();
        self.values.resize(self.names.len(), f64::NAN);
    }

    /// Adds a name, and returns the number of the new counter.
    pub(super) fn add(&mut self, source: &'static str, name: String, kind: CounterKind) -> CounterId {
        self.names.push(CounterName { source, name, kind });
        self.values.push(f64::NAN);
        CounterId(self.names.len() - 1)
    }

    pub(super) fn put(&mut self, id: CounterId, value: f64) {
        self.values[id.0] = value;
    }

    pub(super) fn name(&self, id: CounterId) -> &str {
        &self.names[id.0].name
    }

    pub(super) fn names(&self) -> &[CounterName] {
        &self.names
    }

    /// Returns the collected values as a reading.
    pub(super) fn reading(&self, depth: Depth) -> CounterReading {
        CounterReading { at: Instant::now(), depth, values: self.values.clone() }
    }
}
