//! Things that happen at certain times of a step: clients join, or events take place.

use dyno_store::{Run, StepRecord};

/// Whether a step has events. For a background load, whether the step that it belongs to has events.
pub(crate) fn has_events(run: &Run, step: &str) -> bool {
    let background_of =
        run.steps.iter().find(|known| known.id == step).and_then(|it| it.background_of.as_deref());
    let step = background_of.unwrap_or(step);
    run.trials.iter().any(|trial| trial.record.step_id == step && !trial.record.step_events.is_empty())
}

/// If clients of a background load join in a step, returns the step and the background load. `step` is the id of one of
/// the two. `None` if no clients join.
pub(crate) fn joined<'a>(run: &'a Run, step: &str) -> Option<(&'a StepRecord, &'a StepRecord)> {
    let is_joined = |load: &&StepRecord| {
        !load.joins.is_empty() && (load.id == step || load.background_of.as_deref() == Some(step))
    };
    let background = run.steps.iter().find(is_joined)?;
    let own = run.steps.iter().find(|own| Some(&own.id) == background.background_of.as_ref())?;
    Some((own, background))
}
