//! What the trials of a step measure.

use dyno_store::FindRecord;

/// What the trials of a step measure, and what ends them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Measure {
    /// Filling the tables completely.
    Load,
    /// Events for the step's seconds, in slices. During a slice one system has load while the others rest.
    Sliced(SliceSeconds),
    /// Events for the step's seconds, without slices.
    Whole,
    /// This number of events over all clients, without a warm-up.
    Events(u32),
    /// The logged traffic of a server, until its end.
    Traffic,
    /// The highest rate of events within a limit of latency. The search takes up to the step's seconds.
    Search(FindRecord),
}

/// The measured length of slices.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SliceSeconds {
    /// As short as the workload allows, from 0.02 s.
    Auto,
    Fixed(f64),
}
