//! What goes into the results file: a run, its systems, its steps and their trials.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::columns::{Counts, Usage};

/// One execution of a plan, as it is known when it starts.
#[derive(Clone, Debug, Default, PartialEq)]
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
    /// What the plan says will be found.
    pub claims: Vec<ClaimRecord>,
    /// Rounds planned; at most, where they depend on what is measured.
    pub rounds: u32,
    /// How often the rounds may be judged before the run ends; 1 where their number is fixed beforehand.
    pub looks: u32,
}

/// Something that a plan says will be found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClaimRecord {
    /// Its id in the plan.
    pub id: String,
    /// The claim as an expression that can be judged.
    pub expression: String,
    /// The claim in words.
    pub says: String,
    /// The figure of whoever said it first.
    pub published: Option<f64>,
    /// Where they said it.
    pub source: Option<String>,
}

/// A run that was continued.
#[derive(Clone, Debug, PartialEq)]
pub struct ResumptionRecord {
    /// When, in milliseconds since 1970 UTC.
    pub resumed_at_ms: i64,
    /// Facts about the host then (`host::HostFacts` as JSON).
    pub host: serde_json::Value,
    /// What had changed on the host since the run began, a sentence each.
    pub differences: Vec<String>,
}

/// Where a system's engine comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// Dyno's catalogue, or the user's additions to it.
    #[default]
    Catalogue,
    /// A build of the user's own, in a folder.
    Basedir,
    /// A server that ran already: not started, not confined by Dyno.
    Dsn,
}

impl Origin {
    /// The word that the results file uses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Catalogue => "catalogue",
            Self::Basedir => "basedir",
            Self::Dsn => "dsn",
        }
    }
}

/// A system under test.
#[derive(Clone, Debug, Default, PartialEq)]
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
    /// Where its engine comes from.
    pub origin: Origin,
    /// The system that this one repeats, so that the difference of the two is noise (an A/A pair).
    pub twin_of: Option<String>,
    /// The profile that its settings come from.
    pub profile: Option<String>,
    /// What it was confined to; none if it had the whole host.
    pub confinement: Option<serde_json::Value>,
    /// What an hour of its hardware costs, in US dollars.
    pub dollars_per_hour: Option<f64>,
}

/// What a step's rate counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Operation {
    Query,
    /// An event of the workload script.
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

/// One workload at its client counts: a row of the reports.
#[derive(Clone, Debug, Default, PartialEq)]
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
    /// In how many of the run's rounds it is measured: one, or as many as the run has.
    pub rounds: u32,
    /// Measured time of a trial; none for a command that ends by itself.
    pub seconds: Option<f64>,
    /// Time before measuring begins.
    pub warmup_seconds: f64,
    /// Options of the workload.
    pub options: serde_json::Value,
    /// Events due a second, as the plan writes it; none in a closed loop.
    pub rate: Option<String>,
    /// For a background load, the step during whose trials it ran, at that step's client counts.
    pub background_of: Option<String>,
    /// The earlier step that this one is once more; what came between them shows in the difference.
    pub repeats: Option<String>,
}

/// One start of a system on one copy of its data. What stays the same for as long as it lives (memory layout, data
/// layout) differs from instance to instance, so instances are what statistics are made of.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InstanceRecord {
    pub system_id: String,
    /// Which round, from 0.
    pub round: u32,
    /// When its start began, in milliseconds since 1970 UTC.
    pub started_at_ms: i64,
    /// Whether it is another than in the round before; not so for a server that Dyno does not start.
    pub is_fresh: bool,
    /// Time until it answered on its data, in seconds.
    pub start_seconds: f64,
    /// Time that reading its tables took afterwards, in seconds.
    pub warm_seconds: f64,
    /// Seconds until it was at rest after its start, for which all systems of a round wait together.
    pub settle_seconds: f64,
}

/// A stretch of a trial in which its system was loaded while the others rested.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SliceRecord {
    /// Number of the cycle, from 0; in a cycle every system of the step has one slice.
    pub cycle: u32,
    /// When measuring began, since the first slice of the step in this round.
    pub started_us: u64,
    /// Its measured length, up to the end of the events in flight.
    pub seconds: f64,
    /// What the step's rate counts. An event that began before the slice or ended after it counts by the share of its
    /// time within.
    pub operations: f64,
}

/// What one instance did in one step at one client count.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrialRecord {
    pub system_id: String,
    pub step_id: String,
    /// Client connections.
    pub clients: u32,
    /// Which round, from 0. Trials of two systems in one round are compared.
    pub round: u32,
    /// Its position in the order of execution, from 0.
    pub position: u32,
    /// When it started, in milliseconds since 1970 UTC.
    pub started_at_ms: i64,
    pub outcome: Outcome,
    /// What was measured; none if the trial failed before measuring began.
    pub measured: Option<Measured>,
    /// CPU, I/O and context switches while measuring.
    pub usage: Usage,
    /// The server's CPU time between its own slices, in µs: work that it had put off, and idling. None for a trial in
    /// one stretch, or where it is not known.
    pub rest_cpu_us: Option<u64>,
    /// Time left out at the beginning of each slice, in seconds; none for a trial in one stretch.
    pub lead_seconds: Option<f64>,
    /// Its slices in order; none for a trial in one stretch.
    pub slices: Vec<SliceRecord>,
    /// The system's data on disk after the trial, in bytes.
    pub disk_bytes_after: Option<u64>,
    /// Events that were due and had not begun at the end (open loop).
    pub backlog: Option<u64>,
    /// Events in flight at the end that were abandoned after a time limit; none if not known.
    pub unfinished: Option<u64>,
    /// Ages of the events of `backlog` and `unfinished` in µs, as an HDR histogram in V2 format; none without such events.
    /// The trial's latencies contain them, as lower bounds.
    pub latency_censored: Option<Vec<u8>>,
    /// Stretches in which nothing finished; none for a load.
    pub gaps: Option<Gaps>,
    /// Ignored errors by their code.
    pub error_codes: BTreeMap<String, u64>,
    /// The wait for pending writes after the trial.
    pub drain: Option<serde_json::Value>,
    /// The server's counters. `Store::load_run` does not read them; see `Store::counters`.
    pub counters: Vec<CounterRecord>,
    /// One sample a second. `Store::load_run` does not read them; see `Store::samples`.
    pub samples: Vec<SampleRecord>,
}

/// Stretches of a trial in which no event and no statement finished, exact to 0.1 s.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Gaps {
    pub longest_seconds: f64,
    /// Begin of the longest, in seconds since measuring began; none of a trial in slices.
    pub longest_began_seconds: Option<f64>,
    /// Length of the stretch at the end.
    pub last_seconds: f64,
}

/// One of a server's counters in a trial.
#[derive(Clone, Debug, PartialEq)]
pub struct CounterRecord {
    /// The server's own name for it.
    pub name: String,
    /// Whether it is a level, such as a number of dirty pages, rather than a count of events.
    pub is_gauge: bool,
    pub first: f64,
    pub last: f64,
    /// At the end of each sample, warm-up included, where it was read each second; else empty. NaN where a
    /// reading is missing.
    pub values: Vec<f64>,
}

/// How a trial ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Outcome {
    #[default]
    Completed,
    /// It ended early. Its measurements are kept, and no report counts them.
    Failed {
        /// One line: what failed, where.
        message: String,
        /// The server's last log lines.
        log_tail: String,
    },
}

/// The work of a system in an interval.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    pub seconds: f64,
    pub counts: Counts,
    /// Latencies of its events in µs, as an HDR histogram in V2 format.
    pub latency: Vec<u8>,
}

impl Measured {
    /// Operations per second; 0 for an interval without length.
    pub fn operations_per_second(&self) -> f64 {
        if self.seconds > 0.0 { self.counts.operations as f64 / self.seconds } else { 0.0 }
    }
}

/// One interval of a trial, usually a second.
#[derive(Clone, Debug, PartialEq)]
pub struct SampleRecord {
    /// Number from 0, where the load began.
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
