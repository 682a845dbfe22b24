//! The work of a system in an interval: a trial, or one of its seconds.

use super::columns::{CountsRecord, Usage};
use super::latency::LatencyRecord;

/// The work of a system in an interval.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    pub seconds: f64,
    pub counts: CountsRecord,
    /// Events that became due in it; `None` in a closed loop, in which an event is due when its client is
    /// free.
    pub due: Option<u64>,
    /// Latencies of its events.
    pub latency: LatencyRecord,
}

impl Measured {
    /// Operations per second; `None` for an interval of length 0.
    pub fn operations_per_second(&self) -> Option<f64> {
        (self.seconds > 0.0).then(|| self.counts.operations as f64 / self.seconds)
    }
}

/// One interval of a trial, usually a second.
#[derive(Clone, Debug, PartialEq)]
pub struct SampleRecord {
    /// Number, from 0 at the start of the load.
    pub number: u32,
    /// Whether results count it.
    pub phase: Phase,
    pub measured: Measured,
    pub usage: Usage,
}

/// The part of a trial that a sample belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Warmup,
    /// Counted in the trial's result.
    Measure,
}
