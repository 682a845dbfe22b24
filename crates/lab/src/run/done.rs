//! What a run has measured so far.

use std::collections::BTreeMap;

use dyno_store::{Outcome, Run};

use crate::plan::Plan;
use crate::schedule::{Block, Trial};

/// Which trial: positions of step and system, clients, number.
type Key = (usize, u32, usize, u32);

/// Completed trials with their rates in operations a second.
#[derive(Debug, Default)]
pub(crate) struct Done {
    rates: BTreeMap<Key, f64>,
    /// Trials that the run executed, failed ones and those of earlier sessions included.
    executed: u32,
}

impl Done {
    /// What an earlier session of the run measured.
    pub(crate) fn of(plan: &Plan, run: &Run) -> Self {
        let mut done = Self::default();
        for record in run.trials.iter().map(|trial| &trial.record) {
            done.executed = done.executed.max(record.position + 1);
            let step = plan.steps.iter().position(|step| step.id == record.step_id);
            let system = plan.systems.iter().position(|system| system.id == record.system_id);
            if let (Some(step), Some(system), Outcome::Completed) = (step, system, &record.outcome) {
                let rate = record.measured.as_ref().map_or(0.0, dyno_store::Measured::operations_per_second);
                done.rates.insert((step, record.clients, system, record.trial), rate);
            }
        }
        done
    }

    /// Notes a trial that was executed; none of its rate if it failed.
    pub(crate) fn note(&mut self, trial: &Trial, operations_per_second: Option<f64>) {
        self.executed += 1;
        if let Some(rate) = operations_per_second {
            self.rates.insert((trial.step, trial.clients, trial.system, trial.number), rate);
        }
    }

    pub(crate) fn has(&self, trial: &Trial) -> bool {
        self.rates.contains_key(&(trial.step, trial.clients, trial.system, trial.number))
    }

    /// Completed trials.
    pub(crate) fn count(&self) -> usize {
        self.rates.len()
    }

    /// The place of the next trial in the run's order of execution.
    pub(crate) fn next_position(&self) -> u32 {
        self.executed
    }

    /// The trials of a block in which both systems completed, as multiples of the base, by number.
    pub(crate) fn ratios(&self, block: Block, base: usize, candidate: usize) -> Vec<f64> {
        let Block { step, clients, .. } = block;
        let of = |system| move |number| self.rates.get(&(step, clients, system, number)).copied();
        let numbers = self
            .rates
            .range((step, clients, candidate, 0)..=(step, clients, candidate, u32::MAX))
            .map(|(key, _)| key.3);
        numbers
            .filter_map(|number| {
                let (base, candidate) = (of(base)(number)?, of(candidate)(number)?);
                (base > 0.0).then(|| candidate / base)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_those_of_trials_that_both_systems_completed() {
        let mut done = Done::default();
        let mut note = |system, number, rate| {
            done.note(&Trial { step: 1, clients: 4, number, system, seed: 0 }, rate);
        };
        note(0, 0, Some(100.0));
        note(2, 0, Some(150.0));
        note(0, 1, None);
        note(2, 1, Some(90.0));
        note(0, 2, Some(50.0));
        note(2, 2, Some(25.0));
        let block = Block { number: 3, step: 1, clients: 4 };
        assert_eq!(done.ratios(block, 0, 2), [1.5, 0.5]);
        assert!(done.ratios(block, 0, 1).is_empty());
        assert_eq!((done.count(), done.next_position()), (5, 6));
    }
}
