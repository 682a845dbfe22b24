//! Failed trials, grouped by message.

use std::collections::HashMap;

use dyno_store::{Outcome, Run, TrialRecord};

use crate::model::Footnote;

/// The footnotes on failures: one for each system and message.
#[derive(Default)]
pub(crate) struct Footnotes {
    notes: Vec<Footnote>,
    /// The footnote's number by step, client count and system. If a system has several failures in a test, the number
    /// is that of the first failure.
    places: HashMap<(String, u32, String), usize>,
}

impl Footnotes {
    /// Collects a run's failures, numbered in the order of their first occurrence.
    pub(crate) fn of(run: &Run) -> Self {
        let mut notes = Self::default();
        for trial in run.trials.iter().map(|trial| &trial.record) {
            if let Outcome::Failed { message, .. } = &trial.outcome {
                notes.add(trial, message);
            }
        }
        notes
    }

    /// Number of the footnote on a system's trials in a test; `None` if no trial failed.
    pub(crate) fn number_at(&self, step: &str, clients: u32, system: &str) -> Option<usize> {
        self.places.get(&(step.to_owned(), clients, system.to_owned())).copied()
    }

    /// The footnotes, in order.
    pub(crate) fn into_list(self) -> Vec<Footnote> {
        self.notes
    }

    fn add(&mut self, trial: &TrialRecord, message: &str) {
        let at = self.notes.iter().position(|note| note.is_about(trial, message)).unwrap_or_else(|| {
            self.notes.push(Footnote {
                number: self.notes.len() + 1,
                system: trial.system_id.clone(),
                steps: Vec::new(),
                trials: 0,
                message: message.to_owned(),
            });
            self.notes.len() - 1
        });
        let note = &mut self.notes[at];
        note.trials += 1;
        let place = (trial.step_id.clone(), trial.clients, trial.system_id.clone());
        self.places.entry(place).or_insert(note.number);
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
