//! The trials of a run by test. A test is a step at a client count.

use std::collections::HashMap;

use dyno_store::{Run, StepRecord, Trial, TrialRecord};

use crate::trial::disturbance::{Disturbance, disturbance};
use crate::trial::own_steal::OwnSteal;

/// The trials of a run, by step, system and client count.
pub(crate) struct Trials<'a> {
    cells: HashMap<&'a str, HashMap<&'a str, HashMap<u32, Cell<'a>>>>,
    own_steal: OwnSteal<'a>,
}

/// The trials of a system in a test.
#[derive(Default)]
struct Cell<'a> {
    completed: Vec<&'a Trial>,
    /// All completed trials, including those that neighbours disturbed.
    made: Vec<&'a Trial>,
    failed: Vec<u32>,
    disturbed: Vec<(u32, Disturbance)>,
}

impl<'a> Trials<'a> {
    pub(crate) fn of(run: &'a Run) -> Self {
        Self::until(run, u32::MAX)
    }

    /// The trials of all rounds up to `last_round`.
    pub(crate) fn until(run: &'a Run, last_round: u32) -> Self {
        let mut by_round: Vec<&Trial> =
            run.trials.iter().filter(|trial| trial.record.round <= last_round).collect();
        by_round.sort_by_key(|trial| trial.record.round);
        let own_steal = OwnSteal::of(by_round.iter().copied());
        let mut trials = Self { cells: HashMap::new(), own_steal };
        for trial in by_round {
            let record = &trial.record;
            let disturbed = trials.disturbance(record);
            let systems = trials.cells.entry(&record.step_id).or_default();
            let cell = systems.entry(&record.system_id).or_default().entry(record.clients).or_default();
            if record.is_complete() {
                cell.made.push(trial);
            }
            match disturbed.filter(|_| !run.record.counts_disturbed) {
                _ if !record.is_complete() => cell.failed.push(record.round),
                Some(disturbed) => cell.disturbed.push((record.round, disturbed)),
                None => cell.completed.push(trial),
            }
        }
        trials
    }

    /// Completed trials of a system in a test, by round. Disturbed trials are left out.
    pub(crate) fn completed(&self, step: &str, clients: u32, system: &str) -> &[&'a Trial] {
        self.cell(step, clients, system).map_or(&[], |cell| &cell.completed)
    }

    /// Like [`completed`](Self::completed), but including disturbed trials. Used for figures that do not depend on
    /// time.
    pub(crate) fn made(&self, step: &str, clients: u32, system: &str) -> &[&'a Trial] {
        self.cell(step, clients, system).map_or(&[], |cell| &cell.made)
    }

    /// Rounds in which the system's trial failed.
    pub(crate) fn failed(&self, step: &str, clients: u32, system: &str) -> &[u32] {
        self.cell(step, clients, system).map_or(&[], |cell| &cell.failed)
    }

    /// Rounds that a system completed but that do not count, because neighbours disturbed them.
    pub(crate) fn disturbed(&self, step: &str, clients: u32, system: &str) -> &[(u32, Disturbance)] {
        self.cell(step, clients, system).map_or(&[], |cell| &cell.disturbed)
    }

    /// How neighbours disturbed a trial; `None` if they did not.
    pub(crate) fn disturbance(&self, trial: &TrialRecord) -> Option<Disturbance> {
        disturbance(trial, &self.own_steal.limits(trial)).filter(|found| found.is_disturbed)
    }

    /// The usual share of the host's CPU time that the hypervisor takes because of a system itself. `None` if the
    /// system does not cause this.
    pub(crate) fn own_steal(&self, step: &str, clients: u32, system: &str) -> Option<f64> {
        let trial = self.made(step, clients, system).first()?;
        self.own_steal.share(&trial.record)
    }

    fn cell(&self, step: &str, clients: u32, system: &str) -> Option<&Cell<'a>> {
        self.cells.get(step)?.get(system)?.get(&clients)
    }
}

/// Every step of a run with each of its client counts, in run order.
pub(crate) fn tests(run: &Run) -> impl Iterator<Item = (&StepRecord, u32)> {
    run.steps.iter().flat_map(|step| step.clients.iter().map(move |clients| (step, *clients)))
}

/// Pairs of the trials of two systems in the same round. Both lists must be in order of rounds.
pub(crate) fn pairs<'a>(
    base: &[&'a Trial],
    candidate: &[&'a Trial],
) -> impl Iterator<Item = (&'a Trial, &'a Trial)> {
    candidate.iter().filter_map(|own| {
        let at = base.binary_search_by_key(&own.record.round, |base| base.record.round).ok()?;
        Some((base[at], *own))
    })
}
