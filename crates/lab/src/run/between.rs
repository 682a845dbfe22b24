//! What is done to a system between its trials: restarts, loads that are missing, waiting for pending writes.

use dyno_engine::{DrainLimits, DrainProgress};

use super::attempt::load;
use super::drive::Cut;
use super::observer::{Event, Observer, TrialLabel};
use super::place::Place;
use super::{RunOptions, job};
use crate::plan::{BetweenTrials, Command, Plan};
use crate::schedule::Trial;

/// Pending writes are waited for no longer than this.
const DRAIN_SECONDS_MAX: f64 = 1200.0;

/// Makes a system ready for a trial.
pub(crate) fn between(
    plan: &Plan,
    trial: &Trial,
    options: &RunOptions<'_>,
    place: &mut Place,
    observer: &mut dyn Observer,
) -> Result<(), Cut> {
    let measures = plan.steps[trial.step].command == Command::Run;
    if measures && plan.between_trials == BetweenTrials::Restart && place.subject().is_ok() {
        observer.observe(&Event::Starting { system: &plan.systems[trial.system].id });
        place.restart_cleanly().map_err(|message| Cut::Failed { message, total: None })?;
    }
    reload(plan, trial, options, place, observer)
}

/// Loads the tables that a trial needs and that are not there: after a run was taken up again, a server has none.
fn reload(
    plan: &Plan,
    trial: &Trial,
    options: &RunOptions<'_>,
    place: &mut Place,
    observer: &mut dyn Observer,
) -> Result<(), Cut> {
    let system = &plan.systems[trial.system];
    for step in place.missing_loads(plan, trial.step) {
        let Ok(subject) = place.subject() else { return Ok(()) };
        observer.observe(&Event::Loading { system: &system.id, step: &plan.steps[step] });
        let job = job::reload(plan, system, step, trial.seed, subject.target());
        let failed = |reason: String| Cut::Failed {
            message: format!("its tables cannot be loaded: {reason}"),
            total: None,
        };
        // What is not measured need not be slow.
        subject.limit_io(false).map_err(|error| failed(error.to_string()))?;
        let loaded = load(&job, options);
        let limited = subject.limit_io(true).map_err(|error| failed(error.to_string()));
        place.note_load(plan, step, loaded.is_ok());
        loaded.map_err(|cut| match cut {
            Cut::Failed { message, .. } => failed(message),
            cut => cut,
        })?;
        limited?;
    }
    Ok(())
}

/// Waits for a system's pending writes; what was waited for, as JSON. That it failed is no reason to lose a trial.
pub(crate) fn drain(
    place: &Place,
    label: TrialLabel<'_>,
    options: &RunOptions<'_>,
    observer: &mut dyn Observer,
) -> Option<serde_json::Value> {
    let limits = DrainLimits { seconds_max: DRAIN_SECONDS_MAX, stop: options.stop, may_set: true };
    let mut progress = |DrainProgress { seconds, amounts }: DrainProgress<'_>| {
        observer.observe(&Event::Draining { system: label.system, seconds, amounts });
    };
    let report = place.subject().ok()?.drain(&limits, &mut progress);
    Some(report.map_or_else(
        |error| serde_json::json!({ "failed": error.to_string() }),
        |report| serde_json::json!(report),
    ))
}
