//! A trial: the measurement of one instance in one step.

pub(crate) mod capacity;
pub(crate) mod columns;
pub(crate) mod counters;
pub(crate) mod driver;
pub(crate) mod event;
pub(crate) mod latency;
pub(crate) mod limits;
pub(crate) mod measured;
pub(crate) mod queries;
pub(crate) mod replay;
pub(crate) mod replica;
pub(crate) mod seconds;
pub(crate) mod stacks;
pub(crate) mod statement_plans;

use std::collections::BTreeMap;

use self::capacity::{CapacityRecord, ProbeRecord};
use self::columns::{Memory, Neighbours, Usage};
use self::counters::CounterRecord;
use self::driver::DriverRecord;
use self::event::{StepEventRecord, Timeline};
use self::limits::LimitsRecord;
use self::measured::{Measured, SampleRecord};
use self::queries::{QueryAnswer, QueryPlan};
use self::replay::{DigestRecord, ReplayRecord};
use self::replica::ReplicaRecord;
use self::stacks::StackProfile;
use self::statement_plans::StatementPlan;

/// A part of a trial in which its system is under load while the others rest.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SliceRecord {
    /// Number of the cycle, from 0. In a cycle every system of the step has one slice.
    pub cycle: u32,
    /// Start of the measurement, in µs since the first slice of the step in this round.
    pub started_us: u64,
    /// Measured length in seconds, up to the end of the events in flight.
    pub seconds: f64,
    /// Operations that the step's rate counts. An event that began before the slice or ended after it counts by the
    /// share of its time within.
    pub operations: f64,
}

/// The measurement of one instance in one step at one client count.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrialRecord {
    pub system_id: String,
    pub step_id: String,
    pub clients: u32,
    /// Number of its round, from 0. Trials of two systems in one round are compared.
    pub round: u32,
    /// Position in the order of execution, from 0.
    pub position: u32,
    /// When it started, in milliseconds since 1970 UTC.
    pub started_at_ms: i64,
    pub outcome: Outcome,
    /// The measurement; `None` if the trial failed before it.
    pub measured: Option<Measured>,
    /// CPU, I/O and context switches during the measurement.
    pub usage: Usage,
    /// Memory during the measurement.
    pub memory: Memory,
    /// CPU time of the host that neighbours used during the measurement.
    pub neighbours: Neighbours,
    /// The server's CPU time between its own slices, in µs: deferred work, and idling. `None` for a trial
    /// without slices, or if unknown.
    pub rest_cpu_us: Option<u64>,
    /// Time for thawing the server before its slices, in µs; `None` if it was not frozen during the slices of others.
    pub thaw_us: Option<u64>,
    /// Lead of each slice, in seconds. It is not measured. `None` for a trial without slices.
    pub lead_seconds: Option<f64>,
    /// Its slices in order; empty for a trial without slices.
    pub slices: Vec<SliceRecord>,
    /// Time under load before the measurement, in seconds; `None` for a load, or without a warm-up.
    pub warmup_seconds: Option<f64>,
    /// The system's data on disk after the trial, in bytes.
    pub disk_bytes_after: Option<u64>,
    /// Events that were due but had not started at the end (open loop).
    pub backlog: Option<u64>,
    /// Events in flight at the end that were abandoned after a time limit; `None` if not known.
    pub unfinished: Option<u64>,
    /// Ages of the events of `backlog` and `unfinished` in µs, as an HDR histogram in V2 format; `None`
    /// without such events. The trial's latencies contain them, as lower bounds.
    pub latency_censored: Option<Vec<u8>>,
    /// Times without a finished event; `None` for a load.
    pub gaps: Option<GapsRecord>,
    /// The highest rate within the step's limit; `None` without a search, or if no rate keeps the limit.
    pub capacity: Option<CapacityRecord>,
    /// The probes of the search, in order; empty without a search.
    pub probes: Vec<ProbeRecord>,
    /// The hosts from which its load came, in the plan's order; empty if it came from the host of the run.
    pub drivers: Vec<DriverRecord>,
    /// Ignored errors by their code.
    pub error_codes: BTreeMap<String, u64>,
    /// What was done to its system while its load ran, in the plan's order.
    pub step_events: Vec<StepEventRecord>,
    /// When events of its workload ended, in a step with events of the plan; otherwise `None`.
    pub timeline: Option<Timeline>,
    /// The replicas of its system, by number; empty without replicas.
    pub replicas: Vec<ReplicaRecord>,
    /// Ids of the loads that were repeated for this instance without measurement, so that its tables are not those of a
    /// measured load.
    pub loaded_again: Vec<String>,
    /// Limits of the system as the kernel had them, and the CPUs of pinned threads, if there are any.
    pub limits: Option<LimitsRecord>,
    /// The wait for pending writes after the trial.
    pub drain: Option<serde_json::Value>,
    /// Stacks of its server, if they were sampled.
    pub stacks: Option<StackProfile>,
    /// Its server's plan for the step's query, if it was requested.
    pub query_plan: Option<QueryPlan>,
    /// Its server's answer to the step's query, if it was requested.
    pub query_answer: Option<QueryAnswer>,
    /// Its server's plans for its statements. `Store::load_run` does not read them; see `Store::statement_plans`.
    pub statement_plans: Vec<StatementPlan>,
    /// Figures of its replay of a server's traffic; `None` for other trials.
    pub replay: Option<ReplayRecord>,
    /// The statements that it replayed, by digest.
    pub replayed: Vec<DigestRecord>,
    /// The server's counters. `Store::load_run` reads only those of
    /// [`RunRecord::counters`](crate::RunRecord::counters), and only their first and last values; see
    /// `Store::counters`.
    pub counters: Vec<CounterRecord>,
    /// One sample per second. `Store::load_run` does not read them; see `Store::samples`.
    pub samples: Vec<SampleRecord>,
}

impl TrialRecord {
    /// Whether it counts: it was completed, and its measured time is not 0.
    pub fn is_complete(&self) -> bool {
        self.outcome == Outcome::Completed
            && self.measured.as_ref().is_some_and(|measured| measured.seconds > 0.0)
    }

    /// Whether Dyno pinned the server's busy threads and the load to CPUs of their own.
    pub fn is_pinned(&self) -> bool {
        self.limits.as_ref().is_some_and(|limits| limits.in_force.get(LimitsRecord::PINNED).is_some())
    }
}

/// Times of a trial without a finished event or statement, exact to 0.1 s.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GapsRecord {
    pub longest_seconds: f64,
    /// Start of the longest one, in seconds since the measurement began; `None` for a trial in slices.
    pub longest_began_seconds: Option<f64>,
    /// Length of the one at the end, in seconds.
    pub last_seconds: f64,
}

/// How a trial ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Outcome {
    #[default]
    Completed,
    /// It ended early. Its measurements are kept, but no report counts them.
    Failed {
        kind: FailureKind,
        /// The failure and its place, in one line.
        message: String,
        /// The server's last log lines.
        log_tail: String,
    },
}

impl Outcome {
    /// A failure of the trial itself, without a log.
    pub fn failed(message: impl Into<String>) -> Self {
        Self::Failed { kind: FailureKind::Trial, message: message.into(), log_tail: String::new() }
    }
}

/// The kind of a failure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FailureKind {
    /// The system could not be fetched or started.
    Start,
    /// The trial itself failed.
    #[default]
    Trial,
}

impl FailureKind {
    /// Its name in the results file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Trial => "trial",
        }
    }
}
