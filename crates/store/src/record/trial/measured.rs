//! The work of a system in an interval: a trial, or one of its seconds.

use super::columns::{CountsRecord, Usage};
use super::latency::LatencyRecord;

/// The work of a system in an interval.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    pub seconds: f64,
    pub counts: CountsRecord,
    /// Events that became due in the interval; `None` in a closed loop, in which each client begins its next event as
    /// soon as the previous one has ended.
    pub due: Option<u64>,
    /// Latencies of the interval's events.
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
    /// Number of the interval, from 0 at the start of the load.
    pub number: u32,
    /// Whether the interval belongs to the warm-up or to the measurement.
    pub phase: Phase,
    pub measured: Measured,
    pub usage: Usage,
}

/// The part of a trial that a sample belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Warmup,
    /// The part that counts in the trial's result.
    Measure,
}
