//! Collects a reading, and assigns numbers to counter names.

use std::time::Instant;

use super::depth::Depth;
use super::name::{CounterId, CounterKind, CounterName};
use super::reading::CounterReading;

/// Collects the values of a reading.
#[derive(Default)]
pub(super) struct Tally {
    names: Vec<CounterName>,
    /// Values by counter number. A value that this reading lacks is NaN.
    values: Vec<f64>,
}

impl Tally {
    pub(super) fn begin(&mut self) {
        self.values.clear();
        self.values.resize(self.names.len(), f64::NAN);
    }

    /// Gives a new name its number.
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

    /// The reading that was collected.
    pub(super) fn reading(&self, depth: Depth) -> CounterReading {
        CounterReading { at: Instant::now(), depth, values: self.values.clone() }
    }
}
