//! Metrics of runs: their number, states, times and trials.

use dyno_store::{Ending, RunState, RunSummary};

use super::exposition::{Exposition, Labels};

/// All states of a run.
const STATES: [RunState; 5] = [
    RunState::Running,
    RunState::Killed,
    RunState::Ended(Ending::Finished),
    RunState::Ended(Ending::Interrupted),
    RunState::Ended(Ending::Failed),
];

/// Writes the metrics of all runs, and of the latest run of each plan.
pub(super) fn write(all: &[RunSummary], latest: &[&RunSummary], to: &mut Exposition) {
    let version = vec![("version", env!("CARGO_PKG_VERSION").to_owned())];
    to.gauge("dyno_build_info", "The version of Dyno that serves these metrics.", [(version, 1.0)]);
    to.gauge(
        "dyno_runs",
        "Runs in the results file by state.",
        STATES.map(|state| {
            let count = all.iter().filter(|run| run.state == state).count();
            (vec![("state", state.as_str().to_owned())], count as f64)
        }),
    );
    to.gauge(
        "dyno_run_number",
        "Number of the latest run of a plan.",
        latest.iter().map(|run| (of_plan(run), run.id.0 as f64)),
    );
    to.gauge(
        "dyno_run_state",
        "1 for the state of the latest run of a plan, 0 for the other states.",
        latest.iter().flat_map(|run| {
            STATES.map(|state| (with(of_plan(run), "state", state.as_str()), f64::from(run.state == state)))
        }),
    );
    to.gauge(
        "dyno_run_start_timestamp_seconds",
        "When the latest run of a plan started, in seconds since 1970 UTC.",
        latest.iter().map(|run| (of_plan(run), seconds(run.started_at_ms))),
    );
    to.gauge(
        "dyno_run_end_timestamp_seconds",
        "When the latest run of a plan ended, in seconds since 1970 UTC. Without a value while it runs, and if it was killed.",
        latest.iter().filter_map(|run| Some((of_plan(run), seconds(run.finished_at_ms?)))),
    );
    to.gauge(
        "dyno_run_trials",
        "Trials of the latest run of a plan by outcome.",
        latest.iter().flat_map(|run| {
            [("completed", run.completed_trials), ("failed", run.failed_trials)]
                .map(|(outcome, count)| (with(of_plan(run), "outcome", outcome), count as f64))
        }),
    );
}

/// The labels of a plan's metrics.
pub(super) fn of_plan(run: &RunSummary) -> Labels {
    vec![("plan", run.plan_name.clone())]
}

/// Adds a label to `labels`.
pub(super) fn with(mut labels: Labels, name: &'static str, value: &str) -> Labels {
    labels.push((name, value.to_owned()));
    labels
}

fn seconds(ms: i64) -> f64 {
    ms as f64 / 1000.0
}
