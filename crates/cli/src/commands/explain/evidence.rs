//! What a run has on a difference.

use dyno_judge::{Analysis, Counters, Explanation, Question, TestComparison, explain};
use dyno_store::{Run, Store};

use super::settings::differences;

/// The explanation of a test of two systems, the base first; none if they were not compared in it.
pub(super) fn explanation(
    store: &Store,
    run: &Run,
    analysis: &Analysis,
    (base, candidate): (&str, &str),
    test: &TestComparison,
) -> anyhow::Result<Option<Explanation>> {
    let question = Question { base, candidate, step: &test.step, clients: test.clients };
    let counters = counters(store, run, question)?;
    Ok(explain(run, analysis, &counters, differences(run, base, candidate), question))
}

/// The counters of the trials that a question is about, and of the base's controls.
fn counters(store: &Store, run: &Run, question: Question<'_>) -> anyhow::Result<Counters> {
    let is_of = |system: &str| {
        let twin_of = run.systems.iter().find(|it| it.id == system).and_then(|it| it.twin_of.as_deref());
        [question.base, question.candidate].contains(&system) || twin_of == Some(question.base)
    };
    let trials = run.trials.iter().filter(|trial| {
        let record = &trial.record;
        record.step_id == question.step && record.clients == question.clients && is_of(&record.system_id)
    });
    trials.map(|trial| Ok((trial.id, store.counters(trial.id)?))).collect()
}
