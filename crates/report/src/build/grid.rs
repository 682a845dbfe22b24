//! The shape that the matrices of throughput, of ratios and of costs share, with the analysis of each cell.

use std::collections::HashMap;

use dyno_judge::{Analysis, Test, TestComparison};
use dyno_store::{Ending, Run, RunState, StepRecord, Trial};

use crate::build::footnotes::Footnotes;
use crate::model::{Cell, Content, Matrix, Row};

/// An analysis that can be looked up by step, client count and system.
pub(crate) struct Grid<'a> {
    run: &'a Run,
    footnotes: &'a Footnotes,
    client_counts: Vec<u32>,
    tests: HashMap<(&'a str, u32), &'a Test>,
}

/// A system in a test with at least one completed round.
#[derive(Clone, Copy)]
pub(crate) struct CellInput<'a> {
    pub(crate) step: &'a StepRecord,
    pub(crate) clients: u32,
    pub(crate) found: &'a dyno_judge::Cell,
    /// Median over rounds, in operations per second.
    pub(crate) rate: f64,
}

impl<'a> Grid<'a> {
    pub(crate) fn new(run: &'a Run, analysis: &'a Analysis, footnotes: &'a Footnotes) -> Self {
        let mut client_counts: Vec<u32> =
            run.steps.iter().flat_map(|step| step.clients.iter().copied()).collect();
        client_counts.sort_unstable();
        client_counts.dedup();
        let tests = analysis.tests.iter().map(|test| ((test.step.as_str(), test.clients), test)).collect();
        Self { run, footnotes, client_counts, tests }
    }

    /// The client counts at which at least one step runs, ascending.
    pub(crate) fn client_counts(&self) -> &[u32] {
        &self.client_counts
    }

    /// Builds a matrix. `content` computes the cells that have a completed round.
    pub(crate) fn matrix<T>(&self, content: impl Fn(CellInput<'a>) -> Content<T>) -> Matrix<T> {
        Matrix { rows: self.run.steps.iter().map(|step| self.row(step, &content)).collect() }
    }

    pub(crate) fn row<T>(
        &self,
        step: &'a StepRecord,
        content: &impl Fn(CellInput<'a>) -> Content<T>,
    ) -> Row<T> {
        let systems = || self.run.systems.iter().map(|system| system.id.as_str());
        let places =
            self.client_counts.iter().flat_map(|&clients| systems().map(move |system| (clients, system)));
        let cell = |(clients, system): (u32, &str)| Cell {
            system: system.to_owned(),
            clients,
            footnote: self.footnotes.number_at(&step.id, clients, system),
            content: self.content(step, clients, system, content),
        };
        Row {
            group: step.group.clone(),
            step: step.id.clone(),
            operation: step.operation,
            limit: step.find.map(|find| find.to_string()),
            cells: places.map(cell).collect(),
        }
    }

    fn content<T>(
        &self,
        step: &'a StepRecord,
        clients: u32,
        system: &str,
        content: &impl Fn(CellInput<'a>) -> Content<T>,
    ) -> Content<T> {
        match self.found(&step.id, clients, system) {
            Some(found) => match found.rate {
                Some(rate) => content(CellInput { step, clients, found, rate }),
                None if found.failed > 0 => Content::Failed,
                None if found.is_disturbed() => Content::Disturbed,
                None if has_no_trials(self.run, step, system) => Content::Unplanned,
                None => Content::Missing,
            },
            None if step.clients.contains(&clients) => Content::Missing,
            None => Content::Unplanned,
        }
    }

    /// The analysis of a system in a test; `None` if the plan has no such test.
    pub(crate) fn found(&self, step: &str, clients: u32, system: &str) -> Option<&'a dyno_judge::Cell> {
        self.tests.get(&(step, clients))?.cells.iter().find(|cell| cell.system == system)
    }
}

/// The comparisons of candidates with the base, by candidate, step and client count.
pub(crate) struct Ratios<'a>(HashMap<(&'a str, &'a str, u32), &'a TestComparison>);

impl<'a> Ratios<'a> {
    pub(crate) fn against(base: &str, analysis: &'a Analysis) -> Self {
        let comparisons = analysis.judgement(base).into_iter().flat_map(|judgement| &judgement.comparisons);
        let of_candidate = |comparison: &'a dyno_judge::Comparison| {
            let candidate = comparison.candidate.system.as_str();
            comparison.tests.iter().map(move |test| ((candidate, test.step.as_str(), test.clients), test))
        };
        Self(comparisons.flat_map(of_candidate).collect())
    }

    /// The comparison of a candidate with the base in a test.
    pub(crate) fn get(&self, candidate: &str, step: &str, clients: u32) -> Option<&'a TestComparison> {
        self.0.get(&(candidate, step, clients)).copied()
    }

    /// The comparison of a cell's system with the base in the cell's test.
    pub(crate) fn at(&self, place: CellInput<'_>) -> Option<&'a TestComparison> {
        self.get(&place.found.system, &place.step.id, place.clients)
    }
}

/// Whether a system has no trials in a step. An example is a finished run in which a load step ran only for other
/// systems, because this system's data was kept from an earlier run or is shared with another system.
pub(crate) fn has_no_trials(run: &Run, step: &StepRecord, system: &str) -> bool {
    let is_own = |trial: &Trial| trial.record.step_id == step.id && trial.record.system_id == system;
    let is_for_others = step.not_for.iter().any(|id| id == system);
    let is_left_out = step.command == "prepare"
        && run.state == RunState::Ended(Ending::Finished)
        && !run.trials.iter().any(is_own);
    is_for_others || is_left_out
}
