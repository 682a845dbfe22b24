//! The model of the reports. Every format writes this model. The JSON format is its serialisation.

mod capacities;
mod checks;
pub(crate) mod claims;
mod costs;
mod counters;
pub(crate) mod proof;
mod relative;
pub(crate) mod tune;
pub(crate) mod upgrade;
pub(crate) mod why;

use dyno_judge::{
    CellWarning, EventfulTest, Frontier, Hosts, JoinedTest, Ladder, LagTest, QueryPlans, ReplayedTest,
    Replication, Rule, Sensitivity, StackSummary, SteadyState, SystemNotInForce,
};
use dyno_store::{Allocation, Configuration, CrashRecord, HostRecord, Operation, Price};
use serde::Serialize;

use crate::model::claims::Claim;
use crate::model::why::Why;

pub use capacities::{RoundCapacity, TestCapacity};
pub use checks::{CheckedTrial, Evenness, TrialWarnings, VariationRow};
pub use costs::{Cost, CostValue, Costs};
pub use counters::{ChosenCounter, CounterValue};
pub use relative::{Relative, RepeatedRatio, VerdictCounts};

/// The reports on a run against one base: the three matrices, with sentences and warnings.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reports {
    pub run: Header,
    /// The systems, in the plan's order.
    pub systems: Vec<System>,
    /// Client counts, ascending. Each row of a matrix has a cell for each client count and each system, ordered by
    /// client count.
    pub client_counts: Vec<u32>,
    /// The systems with requested settings that are not in force, in the plan's order.
    pub not_in_force: Vec<SystemNotInForce>,
    /// Findings of the audit that make comparisons doubtful, in sentences.
    #[serde(skip)]
    pub not_comparable: Vec<String>,
    /// A paragraph on each candidate.
    pub summary: Vec<String>,
    /// Sentences on the evidence: rounds, their cost, variation, and how many intervals exclude 1 by chance.
    pub evidence: Vec<String>,
    /// The evidence for the verdicts in numbers: the rounds, their cost, and their variation.
    pub replication: Replication,
    /// How a time budget was divided. `None` if the run has no time budget.
    pub allocation: Option<Allocation>,
    pub rule: Rule,
    /// Number of tests with each verdict, for each candidate.
    pub verdicts: Vec<VerdictCounts>,
    /// Operations per second.
    pub absolute: Matrix<Rate>,
    /// Throughput as a multiple of the base's.
    pub relative: Matrix<Relative>,
    /// The costs of each cell.
    pub efficiency: Matrix<Costs>,
    /// Steps that repeat an earlier step: throughput as a multiple of the same system's throughput in the earlier step.
    /// The ratios show the effect of the steps that ran between the two.
    pub repeated: Vec<Repeated<RepeatedRatio>>,
    /// The highest rates within a latency limit, in run order. Only steps that search for this rate have an entry.
    pub capacities: Vec<TestCapacity>,
    /// Bytes on disk after each group of steps.
    pub disk: Vec<DiskRow>,
    /// Crash tests of systems, in the plan's order.
    pub crash_tests: Vec<CrashRecord>,
    /// Variation of throughput, for each group of steps; empty if every trial was too short.
    pub variation: Vec<VariationRow>,
    /// Tests with warnings, in run order.
    pub trial_warnings: Vec<TrialWarnings>,
    /// Checks of completed trials, in the order of execution.
    pub trial_checks: Vec<CheckedTrial>,
    /// The effects of the factors of the plan's sweeps.
    pub sensitivity: Vec<Sensitivity>,
    /// The functions that the servers' threads executed, for each step, client count and system; empty if no stacks
    /// were sampled.
    pub stacks: Vec<StackSummary>,
    /// Tests in which background clients join over time. Systems are compared with the plan's base.
    pub joined: Vec<JoinedTest>,
    /// Tests with events. An event is an action on the systems while the load continues. Systems are compared with the
    /// plan's base.
    pub events: Vec<EventfulTest>,
    /// The lag of replicas, for each test in which systems have replicas.
    pub lags: Vec<LagTest>,
    /// Steps that replay a server's traffic, with figures for each digest of statements. Systems are compared with
    /// the plan's base.
    pub replays: Vec<ReplayedTest>,
    /// The plan's ladders, with the cost of each change from one system to the next.
    pub ladders: Vec<Ladder>,
    /// The hosts among which the run's rounds were divided. `None` for a run on one host.
    pub hosts: Option<Hosts>,
    /// The measurements of hosts that sent load, in run order. Empty if only the run's own host sent load.
    pub drivers: Vec<DriverLoad>,
    /// The counters that the plan chooses, in the plan's order.
    pub counters: Vec<ChosenCounter>,
    /// The servers' plans for the queries of steps, in run order. Empty if no plan was kept.
    pub query_plans: Vec<QueryPlans>,
    /// Causes of the largest decided differences; empty if they were not requested.
    pub why: Vec<Why>,
    /// For each test, the systems with a price, and whether each is worth its price.
    pub frontiers: Vec<Frontier>,
    /// The plan's claims, with verdicts.
    pub claims: Vec<Claim>,
    pub footnotes: Vec<Footnote>,
}

/// The measurements of a driver for a system in a test. Figures are medians over completed rounds.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DriverLoad {
    pub step: String,
    /// Clients of all drivers together.
    pub clients: u32,
    pub system: String,
    pub host: String,
    /// Clients of this driver.
    pub driver_clients: u32,
    pub rounds: usize,
    /// The driver's operations per second. `None` if no time was measured.
    pub operations_per_second: Option<f64>,
    /// 99th percentile of the driver's latency, in µs. `None` if no event ended.
    pub latency_p99_us: Option<f64>,
    /// Cores that the driver's load process used, on average. `None` if no time was measured.
    pub cores: Option<f64>,
    /// Time of a statement that does nothing, from the driver to the server and back, in µs. `None` if it was not
    /// measured.
    pub round_trip_us: Option<f64>,
    /// Bytes per second of a large answer to the driver. `None` if it was not measured.
    pub bytes_per_second: Option<f64>,
}

/// The run, its plan and its host.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Header {
    /// The run's number in its results file.
    pub id: i64,
    pub plan: String,
    pub title: String,
    /// `running`, `killed`, `finished`, `interrupted` or `failed`.
    pub state: &'static str,
    /// When the run started, in the format of RFC 3339, UTC.
    pub started_at: String,
    /// When the run ended, in the format of `started_at`. `None` while the run continues, or if it was killed.
    pub finished_at: Option<String>,
    /// Number of trials if every test runs all its planned rounds.
    pub trials_planned: u64,
    pub trials_completed: u64,
    pub trials_failed: u64,
    /// Whether rounds count although other programs or virtual machines disturbed them.
    pub counts_disturbed: bool,
    /// Disturbed trials that were rerun and do not count.
    pub trials_superseded: u64,
    /// Number of times that the run looks at its results and may end because all tests are decided. 1 if the run always
    /// makes all planned rounds.
    pub looks: u32,
    /// Fewest and most rounds of a test; `None` if the plan has no step.
    pub rounds_per_test: Option<Range<u32>>,
    /// Shortest and longest measured time of a trial, in seconds; `None` if every step ends by itself.
    pub seconds_per_trial: Option<Range<f64>>,
    pub scale: f64,
    /// Seed of all random choices. It is text, because many JSON readers lose digits of numbers this large.
    pub seed: String,
    /// Version of Dyno that made the run.
    pub dyno_version: String,
    /// The command that started the run.
    pub command: String,
    /// Facts about the host, as the run recorded them.
    pub host: HostRecord,
}

impl Header {
    /// Whether the run is still in progress.
    pub(crate) fn is_going_on(&self) -> bool {
        self.state == "running"
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Range<T> {
    pub min: T,
    pub max: T,
}

/// A system under test.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct System {
    /// The system's id in the plan.
    pub id: String,
    /// Engine and storage engine as the plan names them.
    pub name: String,
    /// The version that the server reported; `None` if it never started.
    pub engine_version: Option<String>,
    /// For a server that already ran when Dyno connected to it: how connections are encrypted, or `none`. `None` for
    /// other servers.
    pub encryption: Option<String>,
    /// The image of the system's server, by name and digest. `None` if the server runs without a container.
    pub image: Option<String>,
    pub is_base: bool,
    /// Whether the system is the anchor. Comparisons of runs use multiples of the anchor's figures.
    pub is_anchor: bool,
    /// Whether the engine ran inside the load process, so that the CPU time of the engine and of the load is one
    /// figure.
    pub is_in_process: bool,
    /// The id of the system that this system repeats as a control. `None` if the system is no control.
    pub control_of: Option<String>,
    /// The system's levels in a sweep. `None` if it belongs to no sweep.
    pub configuration: Option<Configuration>,
    /// Price of the system's hardware in US dollars per year. `None` if it is not known.
    pub dollars_per_year: Option<f64>,
    /// The price list, instance and volume behind the price. `None` if the plan names no price list.
    pub price: Option<Price>,
}

/// A cell for each test and system, in rows. Rows are in run order.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(transparent)]
pub struct Matrix<T> {
    pub rows: Vec<Row<T>>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row<T> {
    pub group: String,
    pub step: String,
    pub operation: Operation,
    /// The latency limit, if the step searches for the highest rate: `p99 ≤ 5 ms`. `None` if the step is a closed
    /// loop, or if the plan sets its rates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
    /// A cell for each client count and each system, ordered by client count.
    pub cells: Vec<Cell<T>>,
}

impl<T> Row<T> {
    /// The unit that the row's rates count: `query`, or `event at p99 ≤ 5 ms`.
    pub fn unit(&self) -> String {
        match &self.limit {
            Some(limit) => format!("event at {limit}"),
            None => self.operation.as_str().to_owned(),
        }
    }
}

/// A step that repeats an earlier one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Repeated<T> {
    pub repeats: String,
    /// The later step, with ratios to the earlier step.
    #[serde(flatten)]
    pub row: Row<T>,
}

/// The content for a system in a step at a client count.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cell<T> {
    pub system: String,
    pub clients: u32,
    /// Number, from 1, of the footnote about failed trials. `None` if no trial of the cell failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub footnote: Option<usize>,
    #[serde(flatten)]
    pub content: Content<T>,
}

/// The state of a cell.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Content<T> {
    /// At least one trial completed.
    Measured(T),
    /// Every trial so far failed.
    Failed,
    /// Other programs or virtual machines disturbed every round, so no round counts.
    Disturbed,
    /// There was no trial yet, or the run ended before the trial.
    Missing,
    /// The system was measured, but the base was not.
    Incomparable,
    /// The step does not run at this client count, or not with this system.
    Unplanned,
}

impl<T> Cell<T> {
    /// The value, if it was measured.
    pub fn value(&self) -> Option<&T> {
        match &self.content {
            Content::Measured(value) => Some(value),
            _ => None,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rate {
    /// Median of the rounds.
    pub operations_per_second: f64,
    /// Each completed round, in order.
    pub rounds: Vec<RoundRate>,
    /// Whether the rate was level after the warm-up. `None` if this is unknown.
    pub steady_state: Option<SteadyState>,
    pub warnings: Vec<CellWarning>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RoundRate {
    /// The round's number, from 0. Trials of the same round are compared.
    pub round: u32,
    pub operations_per_second: f64,
}

/// Disk space of the systems after a group of steps.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DiskRow {
    pub group: String,
    /// Bytes for each system, in order, after the group's last trial; `None` if not measured.
    pub bytes: Vec<Option<u64>>,
}

/// A failure of a system's trials.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Footnote {
    /// The number of the footnote, from 1.
    pub number: usize,
    pub system: String,
    /// The steps in which the failure happened.
    pub steps: Vec<String>,
    /// Number of trials with this failure.
    pub trials: u64,
    /// The failure, in one line.
    pub message: String,
}
