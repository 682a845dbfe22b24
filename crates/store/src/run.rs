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

/// How a run ended. The run's own process records this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Every trial was executed, including failed ones.
    Finished,
    /// The user stopped the run. Earlier measurements are kept.
    Interrupted,
    /// The run could not continue.
    Failed,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunState {
    /// The run's process is alive.
    Running,
    /// The run's process is gone and has not recorded an end. It was killed, or the host went down.
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

/// A run in a list of runs.
#[derive(Clone, Debug, PartialEq)]
pub struct RunSummary {
    pub id: RunId,
    pub plan_name: String,
    pub plan_title: String,
    /// When the run started, in milliseconds since 1970 UTC.
    pub started_at_ms: i64,
    /// When the run ended, in milliseconds since 1970 UTC; `None` if it is running or was killed.
    pub finished_at_ms: Option<i64>,
    pub state: RunState,
    pub completed_trials: u64,
    pub failed_trials: u64,
    /// Whether the run is a comparison of a search.
    pub is_of_search: bool,
}

/// A run with all data that reports need.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    pub id: RunId,
    /// Facts that were known when the run started.
    pub record: RunRecord,
    pub state: RunState,
    /// When the run ended, in milliseconds since 1970 UTC; `None` if it is running or was killed.
    pub finished_at_ms: Option<i64>,
    /// The run's systems, in the plan's order.
    pub systems: Vec<SystemRecord>,
    /// The run's steps, in the plan's order.
    pub steps: Vec<StepRecord>,
    /// The run's trials, in the order of execution. They lack samples, and have only the counters that the plan
    /// chooses.
    pub trials: Vec<Trial>,
    /// Disturbed trials that were repeated later, in the order of execution. They do not count.
    pub superseded: Vec<Trial>,
    /// The instances of the run's systems, by round and then in the plan's order.
    pub instances: Vec<InstanceRecord>,
    /// The crash tests of the run's systems, in the plan's order.
    pub crash_tests: Vec<CrashRecord>,
    /// Division of a time budget; `None` without a budget.
    pub allocation: Option<Allocation>,
    /// Tests that the run stopped measuring before the run ended, in the order in which their measurement stopped.
    pub left_tests: Vec<LeftTest>,
    /// Result of the audit of comparability, as JSON; `None` if there was no audit.
    pub audit: Option<serde_json::Value>,
    /// Resumptions after an early end.
    pub resumptions: Vec<ResumptionRecord>,
    /// Attempts to run rounds on other hosts, sorted by round and by the attempt's number in its round; empty for a
    /// run on one host.
    pub attempts: Vec<AttemptRecord>,
}

impl Run {
    /// A run that has no data except its record and its state.
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
    /// The trial's number, for [`crate::Store::samples`] and [`crate::Store::counters`].
    pub id: TrialId,
    /// The trial's data. `samples` is empty, and `counters` has only the counters that the plan chooses.
    pub record: TrialRecord,
}
