//! What is done to a system between its trials: restarts, loads that are missing, waiting for pending writes.

use dyno_engine::{DrainLimits, DrainProgress};

use super::attempt::load;
use super::drive::Cut;
use super::loads::foundation;
use super::observer::{Event, Observer, TrialLabel};
use super::place::Place;
use super::{RunOptions, job};
use crate::plan::{BetweenTrials, Command, Plan};
use crate::schedule::Trial;

/// Pending writes are waited for no longer than this.
const DRAIN_SECONDS_MAX: f64 = 1200.0;

impl Plan {
    /// Whether loaded data is kept, to be put back later.
    fn keeps_data(&self) -> bool {
        self.reuse_data || self.between_trials == BetweenTrials::Restore
    }
}

/// Makes a system ready for a trial.
pub(crate) fn between(
    plan: &Plan,
    trial: &Trial,
    options: &RunOptions<'_>,
    place: &mut Place<'_>,
    observer: &mut dyn Observer,
) -> Result<(), Cut> {
    if plan.steps[trial.step].command == Command::Prepare {
        return Ok(());
    }
    let system = &plan.systems[trial.system].id;
    match plan.between_trials {
        BetweenTrials::Restart if place.subject().is_ok() => {
            observer.observe(&Event::Starting { system });
            place.restart_cleanly().map_err(failed)?;
        }
        BetweenTrials::Restore => {
            let loads = foundation(plan, trial.step);
            if let Some(snapshot) = place.kept(plan, &loads) {
                observer.observe(&Event::Restoring { system });
                return place.restore(&snapshot, &loads).map_err(failed);
            }
        }
        BetweenTrials::Restart | BetweenTrials::Keep => {}
    }
    reload(plan, trial, options, place, observer)
}

/// Leaves a load out where the same data of the same system was kept before. Whether it did.
pub(crate) fn reuse(
    plan: &Plan,
    trial: &Trial,
    place: &mut Place<'_>,
    observer: &mut dyn Observer,
) -> Result<bool, String> {
    if !plan.reuse_data || plan.steps[trial.step].command != Command::Prepare {
        return Ok(false);
    }
    if place.loads.has(trial.step) {
        return Ok(true);
    }
    let loads = foundation(plan, trial.step);
    let Some(snapshot) = place.kept(plan, &loads) else { return Ok(false) };
    observer.observe(&Event::Restoring { system: &plan.systems[trial.system].id });
    place.restore(&snapshot, &loads).map(|()| true)
}

/// Notes how a load went, and keeps its data if the plan wants that. That it could not be kept is told.
pub(crate) fn loaded(
    plan: &Plan,
    trial: &Trial,
    succeeded: bool,
    place: &mut Place<'_>,
    observer: &mut dyn Observer,
) {
    place.loads.note(plan, trial.step, succeeded);
    let loads = foundation(plan, trial.step);
    if !succeeded || !plan.keeps_data() || loads.iter().any(|&load| !place.loads.has(load)) {
        return;
    }
    if place.kept(plan, &loads).is_none()
        && let Err(reason) = place.keep(plan, &loads)
    {
        observer.observe(&Event::NotKept { system: &plan.systems[trial.system].id, reason: &reason });
    }
}

/// Loads the tables that a trial needs and that are not there: after a run was taken up again, a server has none.
fn reload(
    plan: &Plan,
    trial: &Trial,
    options: &RunOptions<'_>,
    place: &mut Place<'_>,
    observer: &mut dyn Observer,
) -> Result<(), Cut> {
    let system = &plan.systems[trial.system];
    for step in place.loads.missing(plan, trial.step) {
        let Ok(subject) = place.subject() else { return Ok(()) };
        observer.observe(&Event::Loading { system: &system.id, step: &plan.steps[step] });
        let job = job::reload(plan, system, step, trial.seed, subject.target());
        let unloaded = |reason: String| failed(format!("its tables cannot be loaded: {reason}"));
        // What is not measured need not be slow.
        subject.limit_io(false).map_err(|error| unloaded(error.to_string()))?;
        let loaded = load(&job, options);
        let limited = subject.limit_io(true).map_err(|error| unloaded(error.to_string()));
        place.loads.note(plan, step, loaded.is_ok());
        loaded.map_err(|cut| match cut {
            Cut::Failed { message, .. } => unloaded(message),
            cut => cut,
        })?;
        limited?;
    }
    Ok(())
}

/// Waits for a system's pending writes; what was waited for, as JSON. That it failed is no reason to lose a trial.
pub(crate) fn drain(
    place: &Place<'_>,
    label: TrialLabel<'_>,
    options: &RunOptions<'_>,
    observer: &mut dyn Observer,
) -> Option<serde_json::Value> {
    let limits = DrainLimits { seconds_max: DRAIN_SECONDS_MAX, stop: options.stop, may_set: true };
    let mut progress = |DrainProgress { seconds, amounts }: DrainProgress<'_>| {
        observer.observe(&Event::Draining { system: label.system, seconds, amounts });
    };
    let subject = place.subject().ok()?;
    // Writing what was put off at the pace of the limits could take hours, and nothing is measured.
    let report = subject
        .limit_io(false)
        .and_then(|()| subject.drain(&limits, &mut progress))
        .and_then(|report| subject.limit_io(true).map(|()| report));
    Some(report.map_or_else(
        |error| serde_json::json!({ "failed": error.to_string() }),
        |report| serde_json::json!(report),
    ))
}

fn failed(message: String) -> Cut {
    Cut::Failed { message, total: None }
}
