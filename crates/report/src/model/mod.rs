//! The model of the reports, which every format writes. JSON is its serialisation.

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
    CellWarning, EventfulTest, Frontier, Hosts, JoinedTest, Ladder, LagTest, LeftOutTest, QueryPlans,
    ReplayedTest, Replication, Rule, Sensitivity, StackSummary, SteadyState, SystemNotInForce,
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

/// The three reports on a run, with sentences and warnings.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Reports {
    pub run: Header,
    /// The systems, in the plan's order.
    pub systems: Vec<System>,
    /// Client counts, ascending. Each row of a matrix has a cell for each client count and, within it, for
    /// each system.
    pub client_counts: Vec<u32>,
    /// The systems with requested settings that are not in force, in the plan's order.
    pub not_in_force: Vec<SystemNotInForce>,
    /// Findings of the audit that make comparisons doubtful, in sentences.
    #[serde(skip)]
    pub not_comparable: Vec<String>,
    /// Sentences on each candidate.
    pub summary: Vec<String>,
    /// Sentences on the evidence: rounds, their cost, variation, and how many intervals exclude 1 by chance.
    pub evidence: Vec<String>,
    /// The evidence in numbers.
    pub replication: Replication,
    /// The division of a time budget; `None` without one.
    pub allocation: Option<Allocation>,
    pub rule: Rule,
    /// Number of tests with each verdict, for each candidate.
    pub verdicts: Vec<VerdictCounts>,
    /// Operations per second.
    pub absolute: Matrix<Rate>,
    /// Throughput as a multiple of the base's.
    pub relative: Matrix<Relative>,
    /// Costs of an operation.
    pub efficiency: Matrix<Costs>,
    /// Throughput of steps that repeat an earlier step, as a multiple of the same system's throughput in the
    /// earlier one. It shows the effect of the steps between them.
    pub repeated: Vec<Repeated<RepeatedRatio>>,
    /// The highest rates within a latency limit, of steps that search for them, in run order.
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
    /// The functions in which the servers' threads were, by step, client count and system; empty if no stacks were
    /// sampled.
    pub stacks: Vec<StackSummary>,
    /// Tests in which background clients join over time. Systems are compared with the plan's base.
    pub joined: Vec<JoinedTest>,
    /// The tests in which something is done to the systems while the load continues. Systems are compared with the
    /// plan's base.
    pub events: Vec<EventfulTest>,
    /// The tests in which systems have replicas.
    pub lags: Vec<LagTest>,
    /// The steps that replay a server's traffic, by digest of its statements. Systems are compared with the plan's
    /// base.
    pub replays: Vec<ReplayedTest>,
    /// The cost of each step of the plan's ladders.
    pub ladders: Vec<Ladder>,
    /// The hosts of a run that several hosts share; `None` for a run on one host.
    pub hosts: Option<Hosts>,
    /// The hosts that sent load, in run order; empty if only the run's own host did.
    pub drivers: Vec<DriverLoad>,
    /// The counters that the plan chooses, in its order.
    pub counters: Vec<ChosenCounter>,
    /// The servers' query plans of steps, in run order; empty if none was kept.
    pub query_plans: Vec<QueryPlans>,
    /// Causes of the largest decided differences; empty if they were not requested.
    pub why: Vec<Why>,
    /// For each test, the systems with a price, and whether each is worth its price.
    pub frontiers: Vec<Frontier>,
    /// For each test, each system predicted from the others that differ only in hardware.
    pub left_out: Vec<LeftOutTest>,
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
    /// The driver's host.
    pub host: String,
    /// Clients of this driver.
    pub driver_clients: u32,
    pub rounds: usize,
    /// `None` if no time was measured.
    pub operations_per_second: Option<f64>,
    /// `None` if no event ended.
    pub latency_p99_us: Option<f64>,
    /// Cores that its load process used, on average; `None` if no time was measured.
    pub cores: Option<f64>,
    /// Time of a statement that does nothing, in µs; `None` if it was not measured.
    pub round_trip_us: Option<f64>,
    /// Bytes of a large answer in a second; `None` if it was not measured.
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
    /// When it started, as in RFC 3339, UTC.
    pub started_at: String,
    /// When it ended, in the same form. Not set while the run continues, or if it was killed.
    pub finished_at: Option<String>,
    /// Most trials that the plan can have.
    pub trials_planned: u64,
    /// Trials completed so far.
    pub trials_completed: u64,
    /// Trials failed so far.
    pub trials_failed: u64,
    /// Whether rounds that neighbours disturbed count.
    pub counts_disturbed: bool,
    /// Disturbed trials that were rerun and do not count.
    pub trials_superseded: u64,
    /// Number of times that the run could end because all tests were decided. 1 if it never ends before the planned
    /// rounds.
    pub looks: u32,
    /// Fewest and most rounds of a test; `None` if the plan has no step.
    pub rounds_per_test: Option<Range<u32>>,
    /// Shortest and longest measured time of a trial; `None` if every step ends by itself.
    pub seconds_per_trial: Option<Range<f64>>,
    pub scale: f64,
    /// Seed of all random choices. It is text, because many JSON readers lose digits of numbers this large.
    pub seed: String,
    /// Version of Dyno that ran it.
    pub dyno_version: String,
    /// The command that started it.
    pub command: String,
    /// Facts about the host, as the run recorded them.
    pub host: HostRecord,
}

impl Header {
    /// Whether the run is not over yet.
    pub(crate) fn is_going_on(&self) -> bool {
        self.state == "running"
    }
}

/// Smallest and largest of some values.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Range<T> {
    pub min: T,
    pub max: T,
}

/// A system under test.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct System {
    /// Its id in the plan.
    pub id: String,
    /// Engine and storage engine as the plan names them.
    pub name: String,
    /// The version that the server reported; `None` if it never started.
    pub engine_version: Option<String>,
    /// How connections to a server that ran already are encrypted, or `none`; no value for other servers.
    pub encryption: Option<String>,
    /// The image of its server, by name and digest; `None` if it runs without a container.
    pub image: Option<String>,
    pub is_base: bool,
    /// Whether it is the anchor. Comparisons of runs use multiples of the anchor's figures.
    pub is_anchor: bool,
    /// Whether it ran inside the load process, so that the CPU time of both is one figure.
    pub is_in_process: bool,
    /// The system of which it is the control.
    pub control_of: Option<String>,
    /// Its configuration in a sweep; `None` if it belongs to no sweep.
    pub configuration: Option<Configuration>,
    /// Price of its hardware, in US dollars; `None` if it is not known.
    pub dollars_per_year: Option<f64>,
    /// The same price by a price list; `None` if the plan names no list.
    pub price: Option<Price>,
}

/// Rows of cells, in run order.
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
    /// The latency limit of a search for the highest rate: `p99 ≤ 5 ms`. `None` if the step is a closed loop, or if the
    /// plan sets its rates.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<String>,
    /// A cell for each client count and, within it, for each system.
    pub cells: Vec<Cell<T>>,
}

impl<T> Row<T> {
    /// The unit of its rates: `query`, or `event at p99 ≤ 5 ms`.
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
    /// The later step, with its ratio to the earlier.
    #[serde(flatten)]
    pub row: Row<T>,
}

/// A system in a step at a client count.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cell<T> {
    pub system: String,
    pub clients: u32,
    /// Number of the footnote about trials that failed here, from 1.
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
    /// Neighbours disturbed every round, so none counts.
    Disturbed,
    /// There was no trial yet, or the run ended before it.
    Missing,
    /// It was measured, but the base was not.
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
    /// Whether the rate had a level; `None` if unknown.
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
    /// Its number, from 1.
    pub number: usize,
    pub system: String,
    /// The steps in which it happened.
    pub steps: Vec<String>,
    /// Number of trials with this failure.
    pub trials: u64,
    /// The failure, in one line.
    pub message: String,
}
