//! Reads a server's counters during a trial.

use dyno_engine::{CounterKind, CounterReading, Counters, Depth};
use dyno_store::CounterRecord;

/// Reads a server's counters during a trial. If a reading fails, the trial continues without counters.
pub(crate) struct Tally {
    /// The reader of the counters. `None` after a failed reading.
    counters: Option<Counters>,
    first: Option<CounterReading>,
    /// The reading at the end of each sample; `None` if it failed.
    seconds: Vec<Option<CounterReading>>,
}

impl Tally {
    pub(crate) fn new(counters: Option<Counters>) -> Self {
        Self { counters, first: None, seconds: Vec::new() }
    }

    pub(crate) fn begin(&mut self) {
        self.first = self.read(Depth::Full);
    }

    /// Reads the counters at the end of a sample.
    pub(crate) fn second(&mut self) {
        let reading = self.read(Depth::Light);
        self.seconds.push(reading);
    }

    fn read(&mut self, depth: Depth) -> Option<CounterReading> {
        let reading = self.counters.as_mut()?.read(depth);
        if reading.is_err() {
            self.counters = None;
        }
        reading.ok()
    }

    /// Returns the counters at the beginning and at the end. For counters that changed, also returns the value of each
    /// second.
    pub(crate) fn finish(self) -> Vec<CounterRecord> {
        self.finish_share(1.0)
    }

    /// Like [`finish`](Self::finish), for a trial in which only a share of the operations was measured. The change of
    /// each counter is multiplied by that share.
    pub(crate) fn finish_share(mut self, share: f64) -> Vec<CounterRecord> {
        let last = self.read(Depth::Full);
        let (Some(first), Some(last), Some(counters)) = (&self.first, &last, &self.counters) else {
            return Vec::new();
        };
        let record = |(id, last): (dyno_engine::CounterId, f64)| {
            let first = first.get(id)?;
            let name = counters.names().get(id.index())?;
            let is_gauge = name.kind == CounterKind::Gauge;
            let shared = |value: f64| if is_gauge { value } else { first + (value - first) * share };
            let values: Vec<f64> = self
                .seconds
                .iter()
                .map(|reading| reading.as_ref().and_then(|reading| reading.get(id)).map_or(f64::NAN, shared))
                .collect();
            let seen: Vec<f64> = values.iter().copied().filter(|value| !value.is_nan()).collect();
            let moved = seen.windows(2).any(|pair| pair[0].total_cmp(&pair[1]).is_ne());
            Some(CounterRecord {
                name: name.to_string(),
                is_gauge,
                first,
                last: shared(last),
                values: if moved { values } else { Vec::new() },
            })
        };
        last.values().filter_map(record).collect()
    }
}
