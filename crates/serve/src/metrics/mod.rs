//! `/metrics`: runs, their figures and the progress of a run, for Prometheus and compatible readers.
//!
//! The figures of a plan are from its latest run that has ended and completed a trial. A run in progress has no
//! figures, because the server would have to analyse the run after each trial, which would disturb the measurement on
//! the same host.

mod exposition;
mod figures;
mod progress;
mod runs;
#[cfg(test)]
mod tests;

use std::path::Path;

use dyno_store::{RunState, RunSummary, Store, StoreError};

use self::exposition::Exposition;
use self::figures::Figures;
use crate::live;

/// Largest number of plans with metrics. If there are more plans, those with the latest runs have metrics. Each plan
/// has about a dozen series, in addition to the series of its tests.
const PLANS_MAX: usize = 50;

/// The metrics of a results file. It caches the figures of runs that have ended, because they need an analysis.
pub(crate) struct Metrics<'a> {
    results: &'a Path,
    kept: Vec<(RunSummary, Figures)>,
}

impl<'a> Metrics<'a> {
    pub(crate) fn new(results: &'a Path) -> Self {
        Self { results, kept: Vec::new() }
    }

    /// All metrics as text.
    ///
    /// # Errors
    /// The results file cannot be read.
    pub(crate) fn text(&mut self) -> Result<String, StoreError> {
        let (store, runs) = match Store::open_read_only(self.results) {
            Ok(store) => {
                let runs = store.runs()?;
                (Some(store), runs)
            }
            Err(StoreError::Empty { .. }) => (None, Vec::new()),
            Err(error) => return Err(error),
        };
        let mut exposition = Exposition::default();
        runs::write(&runs, &latest(&runs, |_| true), &mut exposition);
        let ended = latest(&runs, |run| run.state != RunState::Running && run.completed_trials > 0);
        self.keep(store.as_ref(), &ended)?;
        figures::write(&self.kept, &mut exposition);
        if let Some(running) = runs.iter().rev().find(|run| run.state == RunState::Running)
            && let Some(live) = live::read(self.results)
        {
            progress::write(&running.plan_name, &live, &mut exposition);
        }
        Ok(exposition.end())
    }

    /// Caches the figures of the wanted runs, and drops the figures of all other runs.
    fn keep(&mut self, store: Option<&Store>, wanted: &[&RunSummary]) -> Result<(), StoreError> {
        let mut kept = Vec::new();
        for run in wanted {
            let known = self.kept.iter().position(|(known, _)| known == *run);
            match (known, store) {
                (Some(known), _) => kept.push(self.kept.swap_remove(known)),
                (None, Some(store)) => kept.push(((*run).clone(), Figures::of(store, run.id)?)),
                (None, None) => {}
            }
        }
        self.kept = kept;
        Ok(())
    }
}

/// For each plan, returns the latest of the runs for which `is_one` is true. The latest run comes first. Runs that a
/// search made for its comparisons are left out.
fn latest(runs: &[RunSummary], is_one: impl Fn(&RunSummary) -> bool) -> Vec<&RunSummary> {
    let mut sorted: Vec<&RunSummary> = runs.iter().filter(|run| !run.is_of_search && is_one(run)).collect();
    sorted.sort_by_key(|run| std::cmp::Reverse((run.started_at_ms, run.id)));
    let mut latest: Vec<&RunSummary> = Vec::new();
    for run in sorted {
        if latest.len() < PLANS_MAX && latest.iter().all(|known| known.plan_name != run.plan_name) {
            latest.push(run);
        }
    }
    latest
}
