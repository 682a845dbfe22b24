//! The comparisons that earlier runs of a search have made.

use std::path::Path;

use dyno_lab::Plan;
use dyno_store::{Ending, RunId, RunState, RunSummary, Store, StoredSearch};

/// A comparison from an earlier run of the search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Made {
    Complete(RunId),
    /// An interrupted run. It can be resumed only while it is the most recent run of its plan.
    Interrupted(RunId),
}

/// The comparisons of a search that are in a results file, oldest first.
#[derive(Debug)]
pub(super) struct MadeRuns {
    plan_name: String,
    runs: Vec<(Question, Made)>,
}

/// What identifies a comparison.
#[derive(Debug, PartialEq)]
struct Question {
    plan_text: String,
    scale: u64,
    record: serde_json::Value,
}

impl Question {
    fn of(plan: &Plan) -> Option<Self> {
        let record = plan.search.as_ref()?.normal();
        Some(Self { plan_text: plan.text.clone(), scale: plan.scale.to_bits(), record })
    }

    fn read(stored: StoredSearch) -> Self {
        let StoredSearch { plan_text, scale, record } = stored;
        Self { plan_text, scale: scale.to_bits(), record: record.normal() }
    }
}

impl MadeRuns {
    /// Reads the runs of the plans with this name. A results file that does not exist has no runs.
    pub(super) fn read(results: &Path, plan_name: &str) -> anyhow::Result<Self> {
        let mut found = Self { plan_name: plan_name.to_owned(), runs: Vec::new() };
        if !results.exists() {
            return Ok(found);
        }
        let store = Store::open_read_only(results)?;
        let runs = store.runs()?;
        for summary in runs.iter().filter(|run| run.plan_name == plan_name) {
            let made = match summary.state {
                RunState::Ended(Ending::Finished) => Made::Complete(summary.id),
                RunState::Killed | RunState::Ended(Ending::Interrupted)
                    if Some(summary.id) == last(&runs, plan_name) =>
                {
                    Made::Interrupted(summary.id)
                }
                _ => continue,
            };
            found.runs.extend(store.search(summary.id)?.map(|search| (Question::read(search), made)));
        }
        Ok(found)
    }

    /// Returns the latest comparison with the same question and the same plan.
    pub(super) fn of(&self, plan: &Plan) -> Option<Made> {
        let wanted = Question::of(plan).filter(|_| plan.name == self.plan_name)?;
        self.runs.iter().rev().find(|(question, _)| *question == wanted).map(|(_, made)| *made)
    }

    /// Records a comparison that was just made.
    pub(super) fn add(&mut self, plan: &Plan, run: RunId) {
        self.runs.extend(Question::of(plan).map(|question| (question, Made::Complete(run))));
    }
}

/// Returns whether a run is still the most recent run of its plan. Only the most recent run can be resumed.
pub(super) fn is_last(results: &Path, plan_name: &str, run: RunId) -> anyhow::Result<bool> {
    Ok(last(&Store::open_read_only(results)?.runs()?, plan_name) == Some(run))
}

fn last(runs: &[RunSummary], plan_name: &str) -> Option<RunId> {
    runs.iter().rfind(|run| run.plan_name == plan_name).map(|run| run.id)
}
