//! Counters that the plan chooses.

use serde::Serialize;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChosenCounter {
    /// The counter's name in the plan.
    pub chosen: String,
    /// The server's name for the counter, with its source. `None` if no system has the counter.
    pub name: Option<String>,
    /// Whether the counter is a gauge rather than a count of events.
    pub is_gauge: bool,
    /// A value for each system that has the counter, in each test.
    pub values: Vec<CounterValue>,
}

/// A counter of a system in a test.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CounterValue {
    pub step: String,
    pub clients: u32,
    pub system: String,
    /// Median over rounds. The value of a round is the counter's change per operation, or for a gauge its value at
    /// the end of the measurement.
    pub median: f64,
    /// Median over rounds of the largest value of a gauge in a trial, including the warm-up. `None` if the gauge was
    /// not read every second.
    pub peak: Option<f64>,
}
