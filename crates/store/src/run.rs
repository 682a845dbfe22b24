//! Runs as they are read from the results file.

use crate::record::{InstanceRecord, ResumptionRecord, RunRecord, StepRecord, SystemRecord, TrialRecord};

/// A run's number in its file, from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RunId(pub i64);

impl std::fmt::Display for RunId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// A trial's number in its file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TrialId(pub i64);

/// Which run to load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunChoice {
    /// The one that started last.
    Latest,
    Id(RunId),
}

/// How a run ended, as the run itself says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Every trial was executed, failed ones included.
    Finished,
    /// Someone stopped it; what was measured until then is kept.
    Interrupted,
    /// It could not go on.
    Failed,
}

/// Where a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunState {
    /// Its process is alive.
    Running,
    /// Its process is gone and said nothing: it was killed, or the host went down.
    Killed,
    Ended(Ending),
}

impl RunState {
    /// One word for people.
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
    /// Name of its plan.
    pub plan_name: String,
    /// Title of its plan.
    pub plan_title: String,
    /// When it started, in milliseconds since 1970 UTC.
    pub started_at_ms: i64,
    /// When it ended, in milliseconds since 1970 UTC; none for a running or killed one.
    pub finished_at_ms: Option<i64>,
    pub state: RunState,
    pub completed_trials: u64,
    pub failed_trials: u64,
}

/// A run with all that reports need.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    pub id: RunId,
    /// What was known when it started.
    pub record: RunRecord,
    pub state: RunState,
    /// When it ended, in milliseconds since 1970 UTC; none for a running or killed one.
    pub finished_at_ms: Option<i64>,
    /// Its systems, in the plan's order.
    pub systems: Vec<SystemRecord>,
    /// Its steps, in the plan's order.
    pub steps: Vec<StepRecord>,
    /// Its trials, in the order of execution, without their samples and counters.
    pub trials: Vec<Trial>,
    /// Trials that were disturbed and run again, in the same order: they count no more.
    pub superseded: Vec<Trial>,
    /// The instances of its systems, by round and then in the plan's order.
    pub instances: Vec<InstanceRecord>,
    /// How a time budget was divided, as JSON; none without one.
    pub allocation: Option<serde_json::Value>,
    /// What the check of comparability found, as JSON; none if it was not made.
    pub audit: Option<serde_json::Value>,
    /// When it was continued after an end before its time.
    pub resumptions: Vec<ResumptionRecord>,
}

/// A trial that the file holds.
#[derive(Clone, Debug, PartialEq)]
pub struct Trial {
    /// Its number, for [`crate::Store::samples`] and [`crate::Store::counters`].
    pub id: TrialId,
    /// What was measured; `samples` and `counters` are empty.
    pub record: TrialRecord,
}
