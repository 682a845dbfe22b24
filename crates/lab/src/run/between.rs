//! What is done to a system between its trials: restarts, loads that are missing, waiting for pending writes.

use dyno_engine::{DrainLimits, DrainProgress};

use super::attempt::load;
use super::drive::Cut;
use super::loads::foundation;
use super::observer::{Event, Observer};
use super::place::Place;
use super::{RunOptions, job};
use crate::plan::{BetweenSteps, Command, Plan};
use crate::schedule::Trial;

/// Pending writes are waited for no longer than this.
const DRAIN_SECONDS_MAX: f64 = 1200.0;

impl Plan {
    /// Whether loaded data is kept, to be put back later.
    fn keeps_data(&self) -> bool {
        let is_put_back = !self.load_every_round && self.rounds.max() > 1;
        self.reuse_data || is_put_back || self.between_steps == BetweenSteps::Restore
    }
}

/// Makes a system ready for a trial that loads it: its server is up as the plan wants, its tables are there and, in a
/// fresh instance, read.
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
    match plan.between_steps {
        BetweenSteps::Restart if place.was_loaded && place.subject().is_ok() => {
            observer.observe(&Event::Starting { system });
            place.restart_cleanly().map_err(Cut::failed)?;
        }
        BetweenSteps::Restore if place.was_loaded => {
            let loads = foundation(plan, trial.step);
            if let Some(snapshot) = place.kept(plan, &loads) {
                observer.observe(&Event::Restoring { system });
                place.restore(&snapshot, &loads).map_err(Cut::failed)?;
            }
        }
        BetweenSteps::Restart | BetweenSteps::Restore | BetweenSteps::Keep => {}
    }
    reload(plan, trial, options, place, observer)?;
    if plan.warm && place.subject().is_ok() && !place.is_warm {
        observer.observe(&Event::Warming { system });
        place.warm().map_err(Cut::failed)?;
    }
    place.was_loaded = true;
    Ok(())
}

/// Puts back the data of a load and of those that it stands on, where it was kept. Whether the system has it now.
pub(crate) fn put_back(
    plan: &Plan,
    trial: &Trial,
    place: &mut Place<'_>,
    observer: &mut dyn Observer,
) -> bool {
    if place.loads.has(trial.step) {
        return true;
    }
    let loads = foundation(plan, trial.step);
    let Some(snapshot) = place.kept(plan, &loads) else { return false };
    observer.observe(&Event::Restoring { system: &plan.systems[trial.system].id });
    // If the data could not be put back, the system is lost and its trials say so.
    place.restore(&snapshot, &loads).is_ok()
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
        let unloaded = |reason: String| Cut::failed(format!("its tables cannot be loaded: {reason}"));
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
    system: &str,
    options: &RunOptions<'_>,
    observer: &mut dyn Observer,
) -> Option<serde_json::Value> {
    let limits = DrainLimits { seconds_max: DRAIN_SECONDS_MAX, stop: options.stop, may_set: true };
    let mut progress = |DrainProgress { seconds, amounts }: DrainProgress<'_>| {
        observer.observe(&Event::Draining { system, seconds, amounts });
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
