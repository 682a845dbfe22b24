//! The shape that the three matrices share, and the trials that stand in each cell.

use std::collections::HashMap;

use dyno_store::{Outcome, Run, StepRecord, TrialRecord};

use crate::footnotes::Footnotes;
use crate::model::{Cell, Content, Matrix, Repeated, Row};

/// A run's trials by step, client count and system.
pub(crate) struct Grid<'a> {
    run: &'a Run,
    footnotes: &'a Footnotes,
    client_counts: Vec<u32>,
    trials: HashMap<(&'a str, u32, &'a str), Vec<&'a TrialRecord>>,
}

impl<'a> Grid<'a> {
    pub(crate) fn new(run: &'a Run, footnotes: &'a Footnotes) -> Self {
        let mut client_counts: Vec<u32> =
            run.steps.iter().flat_map(|step| step.clients.iter().copied()).collect();
        client_counts.sort_unstable();
        client_counts.dedup();
        let mut trials: HashMap<_, Vec<_>> = HashMap::new();
        for trial in run.trials.iter().map(|trial| &trial.record) {
            let place = (trial.step_id.as_str(), trial.clients, trial.system_id.as_str());
            trials.entry(place).or_default().push(trial);
        }
        for trials in trials.values_mut() {
            trials.sort_by_key(|trial| trial.trial);
        }
        Self { run, footnotes, client_counts, trials }
    }

    /// Client counts of any step, ascending.
    pub(crate) fn client_counts(&self) -> &[u32] {
        &self.client_counts
    }

    /// Fills the shape. `content` gets the base's and the cell's own completed trials, of which there is at
    /// least one.
    pub(crate) fn matrix<T>(
        &self,
        content: impl Fn(&[&TrialRecord], &[&TrialRecord]) -> Content<T>,
    ) -> Matrix<T> {
        let base = self.run.systems.iter().find(|system| system.is_base);
        let row = |step: &'a StepRecord| {
            let of_base = |clients, _: &'a str| {
                base.map_or_else(Vec::new, |base| self.completed(&step.id, clients, &base.id))
            };
            self.row(step, of_base, &content)
        };
        Matrix { rows: self.run.steps.iter().map(row).collect() }
    }

    /// The steps that repeat an earlier one. `content` gets the same system's completed trials of the earlier step and
    /// the cell's own, of which there is at least one.
    pub(crate) fn repeated<T>(
        &self,
        content: impl Fn(&[&TrialRecord], &[&TrialRecord]) -> Content<T>,
    ) -> Vec<Repeated<T>> {
        let repeated = |step: &'a StepRecord| {
            let earlier = step.repeats.as_deref()?;
            let row = self.row(step, |clients, system| self.completed(earlier, clients, system), &content);
            Some(Repeated { repeats: earlier.to_owned(), row })
        };
        self.run.steps.iter().filter_map(repeated).collect()
    }

    fn row<T>(
        &self,
        step: &'a StepRecord,
        partners: impl Fn(u32, &'a str) -> Vec<&'a TrialRecord>,
        content: &impl Fn(&[&TrialRecord], &[&TrialRecord]) -> Content<T>,
    ) -> Row<T> {
        Row {
            group: step.group.clone(),
            step: step.id.clone(),
            operation: step.operation,
            cells: self.cells(step, partners, content),
        }
    }

    fn cells<T>(
        &self,
        step: &'a StepRecord,
        partners: impl Fn(u32, &'a str) -> Vec<&'a TrialRecord>,
        content: &impl Fn(&[&TrialRecord], &[&TrialRecord]) -> Content<T>,
    ) -> Vec<Cell<T>> {
        let mut cells = Vec::new();
        for &clients in &self.client_counts {
            for system in &self.run.systems {
                let all = self.all(&step.id, clients, &system.id);
                let completed = self.completed(&step.id, clients, &system.id);
                let content = if !completed.is_empty() {
                    content(&partners(clients, &system.id), &completed)
                } else if !all.is_empty() {
                    Content::Failed
                } else if step.clients.contains(&clients) {
                    Content::Missing
                } else {
                    Content::Unplanned
                };
                let footnote = all.iter().find_map(|trial| self.footnotes.number(trial));
                cells.push(Cell { system: system.id.clone(), clients, footnote, content });
            }
        }
        cells
    }

    fn all(&self, step: &'a str, clients: u32, system: &'a str) -> &[&'a TrialRecord] {
        self.trials.get(&(step, clients, system)).map_or(&[], Vec::as_slice)
    }

    fn completed(&self, step: &'a str, clients: u32, system: &'a str) -> Vec<&'a TrialRecord> {
        self.all(step, clients, system).iter().copied().filter(|trial| is_complete(trial)).collect()
    }
}

/// Whether results count a trial.
pub(crate) fn is_complete(trial: &TrialRecord) -> bool {
    trial.outcome == Outcome::Completed
        && trial.measured.as_ref().is_some_and(|measured| measured.seconds > 0.0)
}

/// Trials of the base and of a candidate that have the same number. Both are in order of that number.
pub(crate) fn pairs<'a>(
    base: &'a [&TrialRecord],
    candidate: &'a [&TrialRecord],
) -> impl Iterator<Item = (&'a TrialRecord, &'a TrialRecord)> {
    candidate.iter().filter_map(|own| {
        let at = base.binary_search_by_key(&own.trial, |base| base.trial).ok()?;
        Some((base[at], *own))
    })
}
