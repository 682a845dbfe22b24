//! Counters that the plan chooses.

use serde::Serialize;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChosenCounter {
    /// Its name in the plan.
    pub chosen: String,
    /// The server's name for it, with its source; `None` if no system has it.
    pub name: Option<String>,
    /// Whether it is a gauge, not a count of events.
    pub is_gauge: bool,
    /// Each system that has it, in each test.
    pub values: Vec<CounterValue>,
}

/// A counter of a system in a test.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CounterValue {
    pub step: String,
    pub clients: u32,
    pub system: String,
    /// Median over rounds: a counter's change per operation, or a gauge's value at the end of the measurement.
    pub median: f64,
    /// A gauge's largest value in the trial, with its warm-up, if it was read each second: median over rounds.
    pub peak: Option<f64>,
}
