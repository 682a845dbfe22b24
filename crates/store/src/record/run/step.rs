//! Steps: workloads with their client counts.

use serde::{Deserialize, Serialize};

use crate::record::trial::capacity::FindRecord;

/// Operation that a step's rate counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Operation {
    Query,
    /// A transaction: an event of the workload script.
    #[default]
    Transaction,
    /// A row that was loaded or scanned.
    Row,
}

impl Operation {
    /// The word that the results file and the reports use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Query => "query",
            Self::Transaction => "transaction",
            Self::Row => "row",
        }
    }
}

/// The longest name of a plan, system, step or group, in bytes. Reports repeat names in every table.
pub const NAME_BYTES_MAX: usize = 1000;

/// The most client counts of a step. Reports take time with each of them.
pub const CLIENT_COUNTS_MAX: usize = 256;

/// A workload with its client counts: a row of the reports.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StepRecord {
    /// Its id in the plan (`point-query`).
    pub id: String,
    /// The group of steps that it belongs to (`read-only`).
    pub group: String,
    /// Position in the plan, from 0.
    pub position: u32,
    /// The workload: a built-in name or a path.
    pub workload: String,
    /// The script command (`run`, `prepare`).
    pub command: String,
    pub operation: Operation,
    /// Client counts at which it runs, in order; at most [`CLIENT_COUNTS_MAX`].
    pub clients: Vec<u32>,
    /// Number of rounds in which it is measured: one, or all.
    pub rounds: u32,
    /// Measured time of a trial, in seconds; `None` for a command that ends by itself.
    pub seconds: Option<f64>,
    /// Time of the warm-up, in seconds.
    pub warmup_seconds: f64,
    pub options: serde_json::Value,
    /// Rate of events, as the plan writes it; `None` in a closed loop.
    pub rate: Option<String>,
    /// The limit within which its trials search the highest rate; `None` if they measure a rate.
    pub find: Option<FindRecord>,
    /// For a background load: the step during whose trials it ran, at that step's client counts.
    pub background_of: Option<String>,
    /// The earlier step that this one repeats. The difference shows the effect of the steps between them.
    pub repeats: Option<String>,
    /// For a background load: when its clients join, in order of time; empty if all run all the time.
    pub joins: Vec<JoinRecord>,
    /// The ids of the systems that do not run it.
    pub not_for: Vec<String>,
}

/// A time from which more clients of a background load run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct JoinRecord {
    /// Seconds since measuring began.
    pub at_seconds: f64,
    /// Clients that run from then on, including those before.
    pub clients: u32,
}
