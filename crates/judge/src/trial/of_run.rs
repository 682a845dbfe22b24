//! The trials of a run by test. A test is a step at a client count.

use std::collections::HashMap;

use dyno_store::{Run, StepRecord, Trial};

use crate::trial::disturbance::{Disturbance, DisturbanceLimits, disturbance};

/// The trials of a run, by step, system and client count.
pub(crate) struct Trials<'a>(HashMap<&'a str, HashMap<&'a str, HashMap<u32, Cell<'a>>>>);

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
        let mut trials = Self(HashMap::new());
        let mut by_round: Vec<&Trial> =
            run.trials.iter().filter(|trial| trial.record.round <= last_round).collect();
        by_round.sort_by_key(|trial| trial.record.round);
        for trial in by_round {
            let record = &trial.record;
            let systems = trials.0.entry(&record.step_id).or_default();
            let cell = systems.entry(&record.system_id).or_default().entry(record.clients).or_default();
            let disturbed = disturbance(record, &DisturbanceLimits::default()).filter(|it| it.is_disturbed);
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

    fn cell(&self, step: &str, clients: u32, system: &str) -> Option<&Cell<'a>> {
        self.0.get(step)?.get(system)?.get(&clients)
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
