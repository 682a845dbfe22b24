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

/// A part of a trial in which the trial's system is under load while the other systems rest.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SliceRecord {
    /// Number of the cycle, from 0. In a cycle, every system of the step has one slice.
    pub cycle: u32,
    /// Start of the measurement, in µs since the first slice of the step in this round.
    pub started_us: u64,
    /// Measured length in seconds, up to the end of the events in flight.
    pub seconds: f64,
    /// Operations that the step's rate counts. An event that began before the slice or ended after it counts as a
    /// fraction: the share of its time that lies within the slice.
    pub operations: f64,
}

/// The measurement of one instance in one step at one client count.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TrialRecord {
    pub system_id: String,
    pub step_id: String,
    pub clients: u32,
    /// The round, from 0. Trials of two systems in the same round are compared.
    pub round: u32,
    /// Position in the order of execution, from 0.
    pub position: u32,
    /// When the trial started, in milliseconds since 1970 UTC.
    pub started_at_ms: i64,
    pub outcome: Outcome,
    /// The measurement; `None` if the trial failed before the measurement.
    pub measured: Option<Measured>,
    /// CPU, I/O and context switches during the measurement.
    pub usage: Usage,
    /// Memory during the measurement.
    pub memory: Memory,
    /// How much of the host's CPU time neighbours used during the measurement.
    pub neighbours: Neighbours,
    /// CPU time, in µs, that the server used between its slices, while other systems were measured. It was used for
    /// deferred work and for idling. `None` for a trial without slices, or if unknown.
    pub rest_cpu_us: Option<u64>,
    /// Total time for thawing the server before its slices, in µs. `None` if the server was not frozen during the
    /// slices of other systems.
    pub thaw_us: Option<u64>,
    /// Length of the lead in seconds. The lead is the time at the beginning of each slice in which nothing is measured.
    /// `None` for a trial without slices.
    pub lead_seconds: Option<f64>,
    /// The trial's slices in order; empty for a trial without slices.
    pub slices: Vec<SliceRecord>,
    /// Time under load before the measurement, in seconds; `None` for a load of data, or without a warm-up.
    pub warmup_seconds: Option<f64>,
    /// Size of the system's data on disk after the trial, in bytes.
    pub disk_bytes_after: Option<u64>,
    /// Events that were due but had not started at the end (open loop).
    pub backlog: Option<u64>,
    /// Number of events in flight at the end that were abandoned after a time limit; `None` if not known.
    pub unfinished: Option<u64>,
    /// Ages of the events of `backlog` and `unfinished` in µs, as an HDR histogram in V2 format; `None` without such
    /// events. The trial's latencies contain these ages, as lower bounds.
    pub latency_censored: Option<Vec<u8>>,
    /// Times without a finished event; `None` for a load of data.
    pub gaps: Option<GapsRecord>,
    /// The highest rate within the step's limit; `None` without a search, or if no rate keeps the limit.
    pub capacity: Option<CapacityRecord>,
    /// The probes of the search, in order; empty without a search.
    pub probes: Vec<ProbeRecord>,
    /// The hosts from which the trial's load came, in the plan's order. Empty if the load came from the host of the
    /// run.
    pub drivers: Vec<DriverRecord>,
    /// Numbers of ignored errors, by error code.
    pub error_codes: BTreeMap<String, u64>,
    /// The plan's events, in the plan's order. An event is an action on the system while its load runs.
    pub step_events: Vec<StepEventRecord>,
    /// When events of the workload ended. Recorded only in a step with events of the plan; otherwise `None`.
    pub timeline: Option<Timeline>,
    /// The replicas of the system, by number; empty without replicas.
    pub replicas: Vec<ReplicaRecord>,
    /// Step ids of the loads that were repeated for this instance without measurement. The instance's tables
    /// therefore do not come from a measured load.
    pub loaded_again: Vec<String>,
    /// Limits of the system as the kernel reported them, and the CPUs of pinned threads. `None` if the system has no
    /// limits and no thread was pinned.
    pub limits: Option<LimitsRecord>,
    /// Figures of the wait for pending writes after the trial, as JSON.
    pub drain: Option<serde_json::Value>,
    /// Stacks of the server, if they were sampled.
    pub stacks: Option<StackProfile>,
    /// The server's plan for the step's query, if it was requested.
    pub query_plan: Option<QueryPlan>,
    /// The server's answer to the step's query, if it was requested.
    pub query_answer: Option<QueryAnswer>,
    /// The server's plans for the trial's statements. `Store::load_run` does not read them; see
    /// `Store::statement_plans`.
    pub statement_plans: Vec<StatementPlan>,
    /// Figures of the replay of a server's traffic; `None` for trials that replay nothing.
    pub replay: Option<ReplayRecord>,
    /// The statements that the trial replayed, by digest.
    pub replayed: Vec<DigestRecord>,
    /// The server's counters. `Store::load_run` reads only those of
    /// [`RunRecord::counters`](crate::RunRecord::counters), and the values of each second only for gauges; see
    /// `Store::counters`.
    pub counters: Vec<CounterRecord>,
    /// One sample per second. `Store::load_run` does not read them; see `Store::samples`.
    pub samples: Vec<SampleRecord>,
}

impl TrialRecord {
    /// Whether the trial was completed and its measured time is not 0. Trials for which this is false do not count in
    /// reports.
    pub fn is_complete(&self) -> bool {
        self.outcome == Outcome::Completed
            && self.measured.as_ref().is_some_and(|measured| measured.seconds > 0.0)
    }

    /// Whether Dyno pinned the server's busy threads and the load to CPUs of their own.
    pub fn is_pinned(&self) -> bool {
        self.limits.as_ref().is_some_and(|limits| limits.in_force.get(LimitsRecord::PINNED).is_some())
    }
}

/// Periods of a trial in which no event and no statement finished, with a precision of 0.1 s.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GapsRecord {
    pub longest_seconds: f64,
    /// Start of the longest gap, in seconds since the measurement began; `None` for a trial in slices.
    pub longest_began_seconds: Option<f64>,
    /// Length of the gap at the end, in seconds.
    pub last_seconds: f64,
}

/// How a trial ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Outcome {
    #[default]
    Completed,
    /// The trial ended early. Its measurements are kept, but no report counts them.
    Failed {
        kind: FailureKind,
        /// What failed and where, in one line.
        message: String,
        /// The server's last log lines.
        log_tail: String,
    },
}

impl Outcome {
    /// Returns a failure of the trial itself, without lines of a log.
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
    /// The word for the kind in the results file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Start => "start",
            Self::Trial => "trial",
        }
    }
}
