//! Collects the capacities that a run's searches found.

use dyno_judge::capacity;
use dyno_store::{Run, StepRecord};

use crate::model::{RoundCapacity, TestCapacity};

/// A capacity for each system in each test that searches for one, in run order.
pub(crate) fn capacities(run: &Run) -> Vec<TestCapacity> {
    let tests = run.steps.iter().flat_map(|step| step.clients.iter().map(move |clients| (step, *clients)));
    tests
        .flat_map(|(step, clients)| {
            run.systems.iter().filter_map(move |system| of_test(run, step, clients, &system.id))
        })
        .collect()
}

/// A system's capacity in a test. `None` if no search for it completed.
fn of_test(run: &Run, step: &StepRecord, clients: u32, system: &str) -> Option<TestCapacity> {
    let find = step.find.as_ref()?;
    let trials = run.trials.iter().map(|trial| &trial.record).filter(|trial| {
        (trial.step_id.as_str(), trial.clients, trial.system_id.as_str())
            == (step.id.as_str(), clients, system)
    });
    let mut rounds: Vec<RoundCapacity> = trials
        .filter(|trial| trial.is_complete())
        .filter_map(|trial| Some(RoundCapacity { round: trial.round, capacity: capacity(find, trial)? }))
        .collect();
    rounds.sort_by_key(|round| round.round);
    (!rounds.is_empty()).then(|| TestCapacity {
        step: step.id.clone(),
        clients,
        system: system.to_owned(),
        limit: find.to_string(),
        percentile: find.percentile,
        within: find.within,
        rounds,
    })
}
