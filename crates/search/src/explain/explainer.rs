//! Reads from a results file the evidence that explains the differences in a run.

use std::collections::HashMap;

use dyno_judge::{
    Analysis, Counters, Explanation, Question, SettingDifference, TestComparison, TrialEvidence, explain,
};
use dyno_store::{Run, Store, StoreError};

use super::settings::differences;

/// Explains tests. Query plans are read once, settings once per pair of systems and step, and counters once per test.
pub struct Explainer<'a> {
    store: &'a Store,
    run: &'a Run,
    analysis: &'a Analysis,
    of_trials: TrialEvidence,
    settings: HashMap<(String, String, String), Vec<SettingDifference>>,
}

impl<'a> Explainer<'a> {
    /// Makes the explainer of a run's tests.
    ///
    /// # Errors
    /// The results file cannot be read.
    pub fn of(store: &'a Store, run: &'a Run, analysis: &'a Analysis) -> Result<Self, StoreError> {
        let of_trials = TrialEvidence { plans: store.statement_plans(run.id)?, ..TrialEvidence::default() };
        Ok(Self { store, run, analysis, of_trials, settings: HashMap::new() })
    }

    /// Explains the result of two systems in a test. The first of the pair is the base. Returns `None` if the test
    /// did not compare them.
    ///
    /// # Errors
    /// The results file cannot be read.
    pub fn explanation(
        &mut self,
        (base, candidate): (&str, &str),
        test: &TestComparison,
    ) -> Result<Option<Explanation>, StoreError> {
        let question = Question { base, candidate, step: &test.step, clients: test.clients };
        self.of_trials.counters = self.counters(question)?;
        let settings = self
            .settings
            .entry((base.to_owned(), candidate.to_owned(), test.step.clone()))
            .or_insert_with(|| differences(self.run, base, candidate, &test.step));
        Ok(explain(self.run, self.analysis, &self.of_trials, settings.clone(), question))
    }

    /// Returns the counters of both systems' trials in a test, and those of the base's control copies.
    fn counters(&self, question: Question<'_>) -> Result<Counters, StoreError> {
        let is_of = |system: &str| {
            let known = self.run.systems.iter().find(|it| it.id == system);
            let control_of = known.and_then(|it| it.control_of.as_deref());
            [question.base, question.candidate].contains(&system) || control_of == Some(question.base)
        };
        let trials = self.run.trials.iter().filter(|trial| {
            let record = &trial.record;
            record.step_id == question.step && record.clients == question.clients && is_of(&record.system_id)
        });
        trials.map(|trial| Ok((trial.id, self.store.counters(trial.id)?))).collect()
    }
}
