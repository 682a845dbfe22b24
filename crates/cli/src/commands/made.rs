//! The comparisons that earlier starts of a search have made.

use std::collections::BTreeMap;
use std::path::Path;

use dyno_lab::Plan;
use dyno_store::{Ending, RunId, RunState, RunSummary, Store, StoreError};

/// How the names of the plans of `dyno explain --prove` begin.
pub(super) const PLANS_OF_PROOFS: &str = "explain-";
/// How the names of the plans of `dyno tune` begin.
pub(super) const PLANS_OF_TUNING: &str = "tune-";

/// How the texts of the plans of `dyno explain --prove` begin, after the mark of a comment.
pub(super) const TEXTS_OF_PROOFS: &str = "dyno explain --prove of run";
/// How the texts of the plans of `dyno tune` begin.
pub(super) const TEXTS_OF_TUNING: &str = "dyno tune of";

/// Whether a run was made by a search. A plan of the user's own may have such a name too.
pub(super) fn is_of_search(store: &Store, run: &RunSummary) -> Result<bool, StoreError> {
    let has_name = [PLANS_OF_PROOFS, PLANS_OF_TUNING].iter().any(|begin| run.plan_name.starts_with(begin));
    if !has_name {
        return Ok(false);
    }
    let text = store.plan_text(run.id)?;
    let about = text.strip_prefix("# ").unwrap_or_default();
    Ok([TEXTS_OF_PROOFS, TEXTS_OF_TUNING].iter().any(|begin| about.starts_with(begin)))
}

/// A comparison of an earlier start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Made {
    Complete(RunId),
    /// It can go on while it is the last run of its plan.
    Interrupted(RunId),
}

/// The runs of a search in a results file, by the text that tells a comparison from every other.
#[derive(Debug)]
pub(super) struct MadeRuns {
    plan_name: String,
    by_text: BTreeMap<String, Made>,
}

impl MadeRuns {
    /// Reads the runs of the plans of a name. A results file that is not there has none.
    pub(super) fn read(results: &Path, plan_name: &str) -> anyhow::Result<Self> {
        let mut found = Self { plan_name: plan_name.to_owned(), by_text: BTreeMap::new() };
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
            let text = store.plan_text(summary.id)?;
            found.by_text.insert(text, made);
        }
        Ok(found)
    }

    /// The comparison of a plan, if it was made.
    pub(super) fn of(&self, plan: &Plan) -> Option<Made> {
        self.by_text.get(&plan.text).copied().filter(|_| plan.name == self.plan_name)
    }
}

/// Whether a run is still the last of its plan, which alone can go on.
pub(super) fn is_last(results: &Path, plan_name: &str, run: RunId) -> anyhow::Result<bool> {
    Ok(last(&Store::open_read_only(results)?.runs()?, plan_name) == Some(run))
}

fn last(runs: &[RunSummary], plan_name: &str) -> Option<RunId> {
    runs.iter().rfind(|run| run.plan_name == plan_name).map(|run| run.id)
}
