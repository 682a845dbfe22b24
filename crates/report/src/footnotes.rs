//! Failed trials, gathered by what went wrong.

use dyno_store::{Outcome, Run, TrialRecord};

use crate::model::Footnote;

/// A footnote for each system and message.
pub(crate) struct Footnotes(Vec<Footnote>);

impl Footnotes {
    /// Gathers a run's failures, numbered in the order in which they first happened.
    pub(crate) fn of(run: &Run) -> Self {
        let mut notes = Self(Vec::new());
        for trial in run.trials.iter().map(|trial| &trial.record) {
            if let Outcome::Failed { message, .. } = &trial.outcome {
                notes.add(trial, message);
            }
        }
        notes
    }

    /// Number of the footnote that a trial belongs to; none if it did not fail.
    pub(crate) fn number(&self, trial: &TrialRecord) -> Option<usize> {
        let Outcome::Failed { message, .. } = &trial.outcome else { return None };
        self.0.iter().find(|note| note.is_about(trial, message)).map(|note| note.number)
    }

    /// The footnotes, in order.
    pub(crate) fn into_list(self) -> Vec<Footnote> {
        self.0
    }

    fn add(&mut self, trial: &TrialRecord, message: &str) {
        let at = self.0.iter().position(|note| note.is_about(trial, message)).unwrap_or_else(|| {
            self.0.push(Footnote {
                number: self.0.len() + 1,
                system: trial.system_id.clone(),
                steps: Vec::new(),
                trials: 0,
                message: message.to_owned(),
            });
            self.0.len() - 1
        });
        let note = &mut self.0[at];
        note.trials += 1;
        if !note.steps.contains(&trial.step_id) {
            note.steps.push(trial.step_id.clone());
        }
    }
}

impl Footnote {
    fn is_about(&self, trial: &TrialRecord, message: &str) -> bool {
        self.system == trial.system_id && self.message == message
    }
}
