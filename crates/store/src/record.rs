//! The records of the results file: a run, its systems, its steps and their trials.

pub(crate) mod attempt;
pub(crate) mod capacity;
pub(crate) mod columns;
pub(crate) mod crash;
pub(crate) mod driver;
pub(crate) mod event;
pub(crate) mod host;
pub(crate) mod latency;
pub(crate) mod price;
pub(crate) mod queries;
pub(crate) mod replay;
pub(crate) mod replica;
pub(crate) mod search;
pub(crate) mod seconds;
pub(crate) mod stacks;
pub(crate) mod statement_plans;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::record::capacity::{CapacityRecord, FindRecord, ProbeRecord};
use crate::record::columns::{CountsRecord, Memory, Neighbours, Usage};
use crate::record::driver::DriverRecord;
use crate::record::event::{StepEventRecord, Timeline};
use crate::record::host::HostRecord;
use crate::record::latency::LatencyRecord;
use crate::record::price::{Price, by_the_year};
use crate::record::queries::{QueryAnswer, QueryPlan};
use crate::record::replay::{DigestRecord, ReplayRecord};
use crate::record::replica::ReplicaRecord;
use crate::record::search::SearchRecord;
use crate::record::stacks::StackProfile;
use crate::record::statement_plans::StatementPlan;

/// One execution of a plan, with the facts that are known at its start.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunRecord {
    /// The plan's name (`first-look`).
    pub plan_name: String,
    /// The plan's title, one line.
    pub plan_title: String,
    /// The text of the plan file.
    pub plan_text: String,
    /// Version of the Dyno that runs it.
    pub dyno_version: String,
    /// Seed of all random choices of the run.
    pub seed: u64,
    /// Factor on the plan's table sizes and times; 1 for none.
    pub scale: f64,
    /// When it started, in milliseconds since 1970 UTC.
    pub started_at_ms: i64,
    /// The host on which it began.
    pub host: HostRecord,
    pub command_line: String,
    /// The plan's claims.
    pub claims: Vec<ClaimRecord>,
    /// Number of planned rounds. It is the maximum if the number depends on the results.
    pub rounds: u32,
    /// Number of times that the rounds may be judged before the run's end; 1 if the number of rounds is fixed.
    pub looks: u32,
    pub correction: Correction,
    /// Whether rounds that neighbours disturbed count as replicates.
    pub counts_disturbed: bool,
    /// The plan's ladders.
    pub ladders: Vec<LadderRecord>,
    /// Names of the counters that reports show, as the plan writes them.
    pub counters: Vec<String>,
    /// Id of a run whose rounds are spread over hosts, the same in the files of all its tasks; `None` for a
    /// run on one host.
    pub spread_id: Option<String>,
    /// The comparison that the run makes for a search; `None` for a run of a plan.
    pub search: Option<SearchRecord>,
}

/// How the verdicts of a run account for its number of tests.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Correction {
    /// The probability of any false alarm is limited, by reversals of whole rounds. The least number of
    /// rounds does not grow with the number of tests. Tests that share no rounds are judged by
    /// [`Self::Holm`].
    #[default]
    #[serde(rename = "max-t")]
    MaxT,
    /// The probability of any false alarm is limited, by the p-value of each test alone. The least number of rounds grows with the
    /// number of tests.
    Holm,
    /// The expected share of false alarms among the alarms is limited. Meant for exploration.
    Fdr,
    /// The probability of a false alarm is limited in each test.
    None,
}

impl Correction {
    /// The word that plans, the results file and the command line use.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Holm => "holm",
            Self::MaxT => "max-t",
            Self::Fdr => "fdr",
            Self::None => "none",
        }
    }
}

/// A chain of systems, each with one change from the one before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LadderRecord {
    /// Its id in the plan.
    pub id: String,
    /// The ids of its systems, from the first to the last; at least two.
    pub systems: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClaimRecord {
    /// Its id in the plan.
    pub id: String,
    /// The claim as an expression that can be judged.
    pub expression: String,
    /// The claim in words.
    pub says: String,
    /// The published figure.
    pub published: Option<f64>,
    /// Its source.
    pub source: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct ResumptionRecord {
    /// When, in milliseconds since 1970 UTC.
    pub resumed_at_ms: i64,
    /// The host at that time.
    pub host: HostRecord,
    /// Changes of the host since the run began, one sentence each.
    pub differences: Vec<String>,
}

/// Source of a system's engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// Dyno's catalogue, or the user's additions to it.
    #[default]
    Catalogue,
    /// The user's own build, in a folder.
    Basedir,
    /// An image of a container.
    Image,
    /// An existing server. Dyno does not start or confine it.
    Dsn,
}

impl Origin {
    /// The word that the results file uses.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Catalogue => "catalogue",
            Self::Basedir => "basedir",
            Self::Image => "image",
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
    /// The version that the server reports; `None` until it has started once.
    pub engine_version: Option<String>,
    /// Position in the plan, from 0.
    pub position: u32,
    /// Whether the others are compared with this one.
    pub is_base: bool,
    /// Whether it is the run's anchor, which each session measures unchanged. When runs are compared with
    /// each other, the figures of the others are multiples of the anchor's.
    pub is_anchor: bool,
    /// The settings that the plan requests.
    pub requested_settings: serde_json::Value,
    /// Every variable that the server reports, as name and effective value.
    pub variables: Vec<(String, String)>,
    pub origin: Origin,
    /// The system of which it is the control (an A/A pair). Their difference is noise.
    pub control_of: Option<String>,
    pub profile: Option<String>,
    /// Its confinement; `None` if it had the whole host.
    pub confinement: Option<serde_json::Value>,
    /// Price of its hardware per hour, in US dollars, if the plan states one instead of naming a price list.
    pub dollars_per_hour: Option<f64>,
    /// The price of its hardware by a list, if the plan names one.
    pub price: Option<Price>,
    /// How connections to a server that ran already are encrypted: version and cipher of TLS, or `none`. `None` if Dyno
    /// started the server, or has not reached it yet.
    pub encryption: Option<String>,
    /// The image of its server, by name and digest. `None` for other systems, and before the first start.
    pub image: Option<String>,
    /// Its place in a sweep, if it is part of one.
    pub configuration: Option<Configuration>,
}

impl SystemRecord {
    /// The settings that the plan requests, as text.
    pub fn asked(&self) -> BTreeMap<String, String> {
        let text =
            |value: &serde_json::Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let asked = self.requested_settings.as_object().into_iter().flatten();
        asked.map(|(name, value)| (name.clone(), text(value))).collect()
    }

    /// Price of its hardware per year, in US dollars, from a list or from the price per hour; `None` without
    /// either.
    pub fn dollars_per_year(&self) -> Option<f64> {
        let by_list = self.price.as_ref().map(Price::dollars_per_year);
        by_list.or_else(|| self.dollars_per_hour.map(by_the_year))
    }
}

/// The place of a system in a sweep.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Configuration {
    /// The id that the plan gives the sweep.
    pub sweep: String,
    /// Each factor with its level, in the plan's order.
    pub levels: Vec<FactorLevel>,
}

/// A factor of a sweep at one of its levels.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FactorLevel {
    /// A setting, a limit, or the plan's name for several of them.
    pub factor: String,
    /// Its value.
    pub level: String,
}

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

/// One start of a system on one copy of its data. Properties that stay the same during its life (memory layout, data
/// layout) differ between instances. Instances are therefore the statistical units.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct InstanceRecord {
    pub system_id: String,
    /// Number of its round, from 0.
    pub round: u32,
    /// When its start began, in milliseconds since 1970 UTC.
    pub started_at_ms: i64,
    /// Whether it differs from the instance of the previous round. False for a server that Dyno does not start.
    pub is_fresh: bool,
    /// Time until it answered queries, in seconds.
    pub start_seconds: f64,
    /// Time of reading its tables afterwards, in seconds.
    pub warm_seconds: f64,
    /// Time until it was at rest after its start, in seconds. All systems of a round wait together.
    pub settle_seconds: f64,
}

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
    /// The server's counters. `Store::load_run` reads only those of [`RunRecord::counters`], and only their first and
    /// last values; see `Store::counters`.
    pub counters: Vec<CounterRecord>,
    /// One sample per second. `Store::load_run` does not read them; see `Store::samples`.
    pub samples: Vec<SampleRecord>,
}

/// Limits of a system as the kernel had them around a trial, and the CPUs to which Dyno pinned threads.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LimitsRecord {
    /// The limits in force before the trial (`host::InForce` as JSON), the CPUs of the load process, and those of
    /// pinned threads ([`PINNED`](Self::PINNED)).
    pub in_force: serde_json::Value,
    /// Limits that differed from the plan, before or after the trial.
    pub differences: Vec<UnmetLimit>,
    /// What the host cannot limit, in words.
    pub not_limited: Vec<String>,
}

impl LimitsRecord {
    /// The name in [`in_force`](Self::in_force) of the CPUs to which Dyno pinned the server's busy threads.
    pub const PINNED: &str = "pinned_server_threads";
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

/// A limit that differed from the plan in the kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnmetLimit {
    /// Its key in plans, such as `memory`. Or `swap`, which a limit of memory sets to 0.
    pub limit: String,
    pub asked: String,
    /// The kernel's value.
    pub found: String,
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

/// One of a server's counters in a trial.
#[derive(Clone, Debug, PartialEq)]
pub struct CounterRecord {
    /// The server's name for it.
    pub name: String,
    /// Whether it is a level, such as a number of dirty pages, and not a count of events.
    pub is_gauge: bool,
    pub first: f64,
    pub last: f64,
    /// Values at the end of each sample, including the warm-up, if they were read each second; otherwise empty. NaN for
    /// a missing reading.
    pub values: Vec<f64>,
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

/// How a time budget was divided, based on the first rounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Allocation {
    pub budget_seconds: f64,
    /// Rounds that were measured before.
    pub pilot_rounds: u32,
    /// Rounds of the run.
    pub rounds: u32,
    /// Measured time of a system in a step in a round.
    pub seconds_per_trial: f64,
    /// Time of a round that is not measured, in seconds, if known.
    pub restart_seconds: Option<f64>,
    /// Standard deviation of the logarithm of a ratio between instances, if known.
    pub between_instances: Option<f64>,
    /// Standard deviation of the logarithm of a ratio between slices, if known.
    pub between_slices: Option<f64>,
}

/// A test that later rounds do not measure, because at a look it was decided, or its verdict was out of reach.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct LeftTest {
    /// The id of its step.
    pub step: String,
    pub clients: u32,
    /// The last round in which it was measured, from 0.
    pub last_round: u32,
}

/// The work of a system in an interval.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    pub seconds: f64,
    pub counts: CountsRecord,
    /// Events that became due in it; `None` in a closed loop, in which an event is due when its client is
    /// free.
    pub due: Option<u64>,
    /// Latencies of its events.
    pub latency: LatencyRecord,
}

impl Measured {
    /// Operations per second; `None` for an interval of length 0.
    pub fn operations_per_second(&self) -> Option<f64> {
        (self.seconds > 0.0).then(|| self.counts.operations as f64 / self.seconds)
    }
}

/// One interval of a trial, usually a second.
#[derive(Clone, Debug, PartialEq)]
pub struct SampleRecord {
    /// Number, from 0 at the start of the load.
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
