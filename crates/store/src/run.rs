//! Runs, as read from the results file.

use crate::record::run::attempt::AttemptRecord;
use crate::record::run::crash::CrashRecord;
use crate::record::{
    Allocation, InstanceRecord, LeftTest, ResumptionRecord, RunId, RunRecord, StepRecord, SystemRecord,
    TrialId, TrialRecord,
};

/// Which run to load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunChoice {
    /// The run that started last.
    Latest,
    Id(RunId),
}

impl From<Option<RunId>> for RunChoice {
    fn from(run: Option<RunId>) -> Self {
        run.map_or(Self::Latest, Self::Id)
    }
}

/// How a run ended, as recorded by the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Every trial was executed, including failed ones.
    Finished,
    /// The user stopped it. Earlier measurements are kept.
    Interrupted,
    /// It could not continue.
    Failed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunState {
    /// Its process is alive.
    Running,
    /// Its process is gone and recorded no end: it was killed, or the host went down.
    Killed,
    Ended(Ending),
}

impl RunState {
    /// The state in one word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Killed => "killed",
            Self::Ended(Ending::Finished) => "finished",
            Self::Ended(Ending::Interrupted) => "interrupted",
            Self::Ended(Ending::Failed) => "failed",
        }
    }
}

/// A line of a list of runs.
#[derive(Clone, Debug, PartialEq)]
pub struct RunSummary {
    pub id: RunId,
    pub plan_name: String,
    pub plan_title: String,
    /// When it started, in milliseconds since 1970 UTC.
    pub started_at_ms: i64,
    /// When it ended, in milliseconds since 1970 UTC; `None` for a running or killed one.
    pub finished_at_ms: Option<i64>,
    pub state: RunState,
    pub completed_trials: u64,
    pub failed_trials: u64,
    /// Whether it is a comparison of a search.
    pub is_of_search: bool,
}

/// A run with all data that reports need.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    pub id: RunId,
    /// Facts that were known at its start.
    pub record: RunRecord,
    pub state: RunState,
    /// When it ended, in milliseconds since 1970 UTC; `None` for a running or killed one.
    pub finished_at_ms: Option<i64>,
    /// Its systems, in the plan's order.
    pub systems: Vec<SystemRecord>,
    /// Its steps, in the plan's order.
    pub steps: Vec<StepRecord>,
    /// Its trials, in the order of execution, without their samples, and only with the counters that the plan
    /// chooses.
    pub trials: Vec<Trial>,
    /// Disturbed trials that were repeated, in the same order. They do not count.
    pub superseded: Vec<Trial>,
    /// The instances of its systems, by round and then in the plan's order.
    pub instances: Vec<InstanceRecord>,
    /// The crash tests of its systems, in the plan's order.
    pub crash_tests: Vec<CrashRecord>,
    /// Division of a time budget; `None` without a budget.
    pub allocation: Option<Allocation>,
    /// Tests that the run stopped measuring before its end, in the order in which it left them.
    pub left_tests: Vec<LeftTest>,
    /// Result of the audit of comparability, as JSON; `None` if there was no audit.
    pub audit: Option<serde_json::Value>,
    /// Resumptions after an early end.
    pub resumptions: Vec<ResumptionRecord>,
    /// Attempts to run rounds on other hosts, by round and number; empty for a run on one host.
    pub attempts: Vec<AttemptRecord>,
}

impl Run {
    /// A run without further data.
    pub fn new(id: RunId, record: RunRecord, state: RunState) -> Self {
        Self {
            id,
            record,
            state,
            finished_at_ms: None,
            systems: Vec::new(),
            steps: Vec::new(),
            trials: Vec::new(),
            superseded: Vec::new(),
            instances: Vec::new(),
            attempts: Vec::new(),
            crash_tests: Vec::new(),
            allocation: None,
            left_tests: Vec::new(),
            audit: None,
            resumptions: Vec::new(),
        }
    }
}

/// A trial in the file.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// Its number, for [`crate::Store::samples`] and [`crate::Store::counters`].
    pub id: TrialId,
    /// The trial's data. `samples` is empty, and `counters` contains those that the plan chooses.
    pub record: TrialRecord,
}
