//! The facts above the reports.

use dyno_store::{Outcome, Run, StepRecord, utc_text};

use crate::build::grid::has_no_trials;
use crate::model::{Header, Range, System};

/// The run, its plan and its host.
pub(crate) fn header(run: &Run) -> Header {
    let record = &run.record;
    let completed =
        run.trials.iter().filter(|trial| trial.record.outcome == Outcome::Completed).count() as u64;
    Header {
        id: run.id.0,
        plan: record.plan_name.clone(),
        title: record.plan_title.clone(),
        state: run.state.as_str(),
        started_at: utc_text(record.started_at_ms),
        finished_at: run.finished_at_ms.map(utc_text),
        trials_planned: run.steps.iter().map(|step| trials_of(run, step)).sum(),
        trials_completed: completed,
        trials_failed: run.trials.len() as u64 - completed,
        counts_disturbed: run.record.counts_disturbed,
        trials_superseded: run.superseded.len() as u64,
        looks: record.looks,
        rounds_per_test: range(run.steps.iter().map(|step| step.rounds)),
        seconds_per_trial: range(run.steps.iter().filter_map(|step| step.seconds)),
        scale: record.scale,
        seed: record.seed.to_string(),
        dyno_version: record.dyno_version.clone(),
        command: record.command_line.clone(),
        host: record.host.clone(),
    }
}

/// The number of planned trials of a step. Systems without trials in the step are not counted.
fn trials_of(run: &Run, step: &StepRecord) -> u64 {
    let systems = run.systems.iter().filter(|system| !has_no_trials(run, step, &system.id)).count();
    step.clients.len() as u64 * u64::from(step.rounds) * systems as u64
}

/// The systems in the plan's order. The system with the id `base` is marked as the base.
pub(crate) fn systems(run: &Run, base: &str) -> Vec<System> {
    let system = |system: &dyno_store::SystemRecord| {
        let mut usages = run
            .trials
            .iter()
            .filter(|trial| trial.record.system_id == system.id && trial.record.outcome == Outcome::Completed)
            .map(|trial| &trial.record.usage)
            .peekable();
        System {
            id: system.id.clone(),
            name: system.name.clone(),
            engine_version: system.engine_version.clone(),
            encryption: system.encryption.clone(),
            image: system.image.clone(),
            is_base: system.id == base,
            is_anchor: system.is_anchor,
            control_of: system.control_of.clone(),
            configuration: system.configuration.clone(),
            dollars_per_year: system.dollars_per_year(),
            price: system.price.clone(),
            // If the engine runs in the load process, the CPU time of this process is recorded as the server's, and
            // none is recorded as the client's.
            is_in_process: usages.peek().is_some()
                && usages
                    .all(|usage| usage.server_user_cpu_us.is_some() && usage.client_user_cpu_us.is_none()),
        }
    };
    run.systems.iter().map(system).collect()
}

fn range<T: Copy + PartialOrd>(values: impl Iterator<Item = T>) -> Option<Range<T>> {
    values.fold(None, |range, value| match range {
        None => Some(Range { min: value, max: value }),
        Some(Range { min, max }) => Some(Range {
            min: if value < min { value } else { min },
            max: if value > max { value } else { max },
        }),
    })
}
