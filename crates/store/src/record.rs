//! What goes into the results file: a run, its systems, its steps and their trials.

use serde::{Deserialize, Serialize};

use crate::columns::{Counts, Usage};

/// One execution of a plan, as it is known when it starts.
#[derive(Clone, Debug, PartialEq)]
pub struct RunRecord {
    /// The plan's name (`first-look`).
    pub plan_name: String,
    /// The plan's title, a line for people.
    pub plan_title: String,
    /// The plan file, word for word.
    pub plan_text: String,
    /// Version of the Dyno that runs it.
    pub dyno_version: String,
    /// Seed of everything random in the run.
    pub seed: u64,
    /// Factor on the plan's table sizes and times; 1 is the plan as written.
    pub scale: f64,
    /// When it started, in milliseconds since 1970 UTC.
    pub started_at_ms: i64,
    /// Facts about the host (`host::HostFacts` as JSON).
    pub host: serde_json::Value,
    /// The command that started it.
    pub command_line: String,
}

/// A system under test.
#[derive(Clone, Debug, PartialEq)]
pub struct SystemRecord {
    /// Its id in the plan (`mysql56`).
    pub id: String,
    /// Engine and storage engine as the plan names them (`mysql@5.6.24/innodb`).
    pub name: String,
    /// The version that the server itself tells; none until it has started once.
    pub engine_version: Option<String>,
    /// Place in the plan, from 0.
    pub position: u32,
    /// Whether the others are compared to this one.
    pub is_base: bool,
    /// The settings that the plan asks for.
    pub requested_settings: serde_json::Value,
    /// Every variable that the server reports, as name and effective value.
    pub variables: Vec<(String, String)>,
}

/// What a step's rate counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Operation {
    /// A statement.
    Query,
    /// An event of the workload script.
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

/// One workload at its client counts: a row of the reports.
#[derive(Clone, Debug, PartialEq)]
pub struct StepRecord {
    /// Its id in the plan (`point-query`).
    pub id: String,
    /// The group of steps that it belongs to (`read-only`).
    pub group: String,
    /// Place in the plan, from 0.
    pub position: u32,
    /// The workload: a built-in name or a path.
    pub workload: String,
    /// The script command (`run`, `prepare`).
    pub command: String,
    /// What its rate counts.
    pub operation: Operation,
    /// Client counts at which it runs, in order.
    pub clients: Vec<u32>,
    /// Trials planned for each system and client count.
    pub trials: u32,
    /// Measured time of a trial; none for a command that ends by itself.
    pub seconds: Option<f64>,
    /// Time before measuring begins.
    pub warmup_seconds: f64,
    /// Options of the workload.
    pub options: serde_json::Value,
}

/// One pass of one system through one step at one client count.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialRecord {
    /// Which system.
    pub system_id: String,
    /// Which step.
    pub step_id: String,
    /// Client connections.
    pub clients: u32,
    /// Its number among this system's trials of this step and client count, from 0. Trials of two systems
    /// with the same number are a pair.
    pub trial: u32,
    /// Its place in the order in which the run executed its trials, from 0.
    pub position: u32,
    /// When it started, in milliseconds since 1970 UTC.
    pub started_at_ms: i64,
    /// How it ended.
    pub outcome: Outcome,
    /// What was measured; none if the trial failed before measuring began.
    pub measured: Option<Measured>,
    /// What was burned while measuring.
    pub usage: Usage,
    /// The system's data on disk after the trial, in bytes.
    pub disk_bytes_after: Option<u64>,
    /// One sample a second. `Store::load_run` leaves them in the file; see `Store::samples`.
    pub samples: Vec<SampleRecord>,
}

/// How a trial ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// As planned.
    Completed,
    /// Early. What was measured until then is kept and no report counts it.
    Failed {
        /// One line: what failed, where.
        message: String,
        /// The server's last log lines.
        log_tail: String,
    },
}

/// What a system delivered in an interval.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    /// The interval's length.
    pub seconds: f64,
    /// What was done.
    pub counts: Counts,
    /// Latencies of its events in µs, as an HDR histogram in V2 format.
    pub latency: Vec<u8>,
}

/// One interval of a trial, usually a second.
#[derive(Clone, Debug, PartialEq)]
pub struct SampleRecord {
    /// Number from 0, where the load began.
    pub number: u32,
    /// Whether results count it.
    pub phase: Phase,
    /// What was delivered.
    pub measured: Measured,
    /// What was burned.
    pub usage: Usage,
}

/// The part of a trial that a sample belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Before measuring began.
    Warmup,
    /// Counted in the trial's result.
    Measure,
}
