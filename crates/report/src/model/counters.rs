//! Counters that the plan chooses.

use serde::Serialize;

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChosenCounter {
    /// As the plan writes it.
    pub chosen: String,
    /// The server's name for it, with its source; none if no system has it.
    pub name: Option<String>,
    /// Whether it is a level, and not a count of events.
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
    /// Median over rounds. Of a counter its change per operation, of a gauge its value when the measurement ended.
    pub median: f64,
}
