//! Steps: workloads with their client counts.

use serde::{Deserialize, Serialize};

use crate::record::trial::capacity::FindRecord;

/// The kind of operation that a step's rate counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Operation {
    Query,
    /// A transaction, which is an event of the workload script.
    #[default]
    Transaction,
    /// A row that was loaded or scanned.
    Row,
}

impl Operation {
    /// The word for the operation in the results file and in reports.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Query => "query",
            Self::Transaction => "transaction",
            Self::Row => "row",
        }
    }
}

/// Longest allowed name of a plan, system, step or group, in bytes. Names are limited because reports repeat them
/// in every table.
pub const NAME_BYTES_MAX: usize = 1000;

/// Largest number of client counts of a step. It is limited because reports take time for each client count.
pub const CLIENT_COUNTS_MAX: usize = 256;

/// A workload with its client counts: a row of the reports.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepRecord {
    /// The step's id in the plan (`point-query`).
    pub id: String,
    /// The group to which the step belongs (`read-only`).
    pub group: String,
    /// Position in the plan, from 0.
    pub position: u32,
    /// The workload: a built-in name or a path.
    pub workload: String,
    /// The script command (`run`, `prepare`).
    pub command: String,
    pub operation: Operation,
    /// Client counts at which the step runs, in order. There are at most [`CLIENT_COUNTS_MAX`].
    pub clients: Vec<u32>,
    /// Number of rounds in which the step is measured: one, or all.
    pub rounds: u32,
    /// Measured time of a trial, in seconds; `None` for a command that ends by itself.
    pub seconds: Option<f64>,
    /// Time of the warm-up, in seconds.
    pub warmup_seconds: f64,
    pub options: serde_json::Value,
    /// Rate of events, as the plan writes it; `None` in a closed loop.
    pub rate: Option<String>,
    /// The limit within which trials of the step search for the highest rate; `None` if the step does not search.
    pub find: Option<FindRecord>,
    /// For a background load: the id of the step during whose trials the load ran. The trials of the load are
    /// recorded with the client counts of that step.
    pub background_of: Option<String>,
    /// The id of the earlier step that this step repeats. The difference between the two steps shows the effect of
    /// the steps that ran between them.
    pub repeats: Option<String>,
    /// For a background load: when clients join, in order of time. Empty if all clients run all the time.
    pub joins: Vec<JoinRecord>,
    /// The ids of the systems that do not run the step.
    pub not_for: Vec<String>,
}

/// A time at which more clients join a background load.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct JoinRecord {
    /// Seconds since the measurement began.
    pub at_seconds: f64,
    /// Number of clients that run from then on, including those that joined earlier.
    pub clients: u32,
}
