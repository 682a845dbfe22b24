//! What the trials of a step measure.

use dyno_store::FindRecord;

/// What a trial of a step measures, and when it ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Measure {
    /// Loading all rows of the tables.
    Load,
    /// Events in slices, for the step's seconds. During a slice one system has load while the others rest.
    Sliced(SliceSeconds),
    /// Events without slices, for the step's seconds.
    Whole,
    /// A fixed number of events over all clients, without a warm-up.
    Events(u32),
    /// The logged traffic of a server. The trial ends with the traffic.
    Traffic,
    /// The highest rate of events within a limit of latency. The search takes at most the step's seconds.
    Search(FindRecord),
}

/// The length of the measured part of slices, without their leads.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SliceSeconds {
    /// As short as the workload allows, from 0.02 s.
    Auto,
    Fixed(f64),
}
