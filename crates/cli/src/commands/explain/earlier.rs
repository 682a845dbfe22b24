//! The comparisons that earlier starts of a proof have left in the results file.

use std::path::Path;

use dyno_lab::Plan;
use dyno_store::{Ending, RunChoice, RunId, RunState, Store};

/// A comparison of an earlier start.
pub(super) enum Earlier {
    Complete(RunId),
    /// The last run of its plan, which can go on.
    Interrupted,
}

/// Finds the run of a comparison: that of the same text.
pub(super) fn earlier(results: &Path, plan: &Plan) -> anyhow::Result<Option<Earlier>> {
    let store = Store::open_read_only(results)?;
    let runs = store.runs()?;
    let last = runs.iter().rfind(|run| run.plan_name == plan.name).map(|run| run.id);
    for summary in runs.iter().rev().filter(|run| run.plan_name == plan.name) {
        let is_complete = summary.state == RunState::Ended(Ending::Finished);
        let can_go_on = Some(summary.id) == last
            && matches!(summary.state, RunState::Killed | RunState::Ended(Ending::Interrupted));
        if (is_complete || can_go_on)
            && store.load_run(RunChoice::Id(summary.id))?.record.plan_text == plan.text
        {
            return Ok(Some(if is_complete { Earlier::Complete(summary.id) } else { Earlier::Interrupted }));
        }
    }
    Ok(None)
}
