//! What a run has measured so far.

use std::collections::{BTreeMap, BTreeSet};

use dyno_judge::{Limits, disturbance};
use dyno_store::{Measured, Outcome, Run, TrialRecord, Usage};

use crate::plan::{Command, Plan};
use crate::schedule::{Block, Trial};

/// Which trial: positions of step and system, clients, number.
type Key = (usize, u32, usize, u32);

/// Completed trials with their rates in operations a second.
#[derive(Debug, Default)]
pub(crate) struct Done {
    rates: BTreeMap<Key, f64>,
    /// Those of them during which something else used the host.
    disturbed: BTreeSet<Key>,
    /// How often each was run again.
    reruns: BTreeMap<Key, u32>,
    /// Trials that the run executed, failed ones and those of earlier sessions included.
    executed: u32,
}

impl Done {
    /// What an earlier session of the run measured.
    pub(crate) fn of(plan: &Plan, run: &Run) -> Self {
        let mut done = Self::default();
        for record in run.trials.iter().map(|trial| &trial.record) {
            done.executed = done.executed.max(record.position + 1);
            if let (Some(key), Outcome::Completed) = (key_of(plan, record), &record.outcome) {
                let rate = record.measured.as_ref().map_or(0.0, Measured::operations_per_second);
                done.rates.insert(key, rate);
                if is_disturbed(&record.usage) {
                    done.disturbed.insert(key);
                }
            }
        }
        for record in run.superseded.iter().map(|trial| &trial.record) {
            done.executed = done.executed.max(record.position + 1);
            if let Some(key) = key_of(plan, record) {
                *done.reruns.entry(key).or_default() += 1;
            }
        }
        done
    }

    /// Notes a trial that was executed; none of its rate if it failed.
    pub(crate) fn note(&mut self, trial: &Trial, operations_per_second: Option<f64>, usage: &Usage) {
        self.executed += 1;
        let key = key(trial);
        self.disturbed.remove(&key);
        if self.rates.remove(&key).is_some() {
            *self.reruns.entry(key).or_default() += 1;
        }
        if let Some(rate) = operations_per_second {
            self.rates.insert(key, rate);
            if is_disturbed(usage) {
                self.disturbed.insert(key);
            }
        }
    }

    /// Whether a trial was disturbed and was not yet run again so often.
    pub(crate) fn is_to_rerun(&self, trial: &Trial, reruns_max: u32) -> bool {
        let key = key(trial);
        self.disturbed.contains(&key) && self.reruns.get(&key).copied().unwrap_or(0) < reruns_max
    }

    /// Whether any trial, loads apart, is to be run again.
    pub(crate) fn has_to_rerun(&self, plan: &Plan) -> bool {
        self.disturbed.iter().any(|key| {
            plan.steps[key.0].command == Command::Run
                && self.reruns.get(key).copied().unwrap_or(0) < plan.rerun_disturbed
        })
    }

    pub(crate) fn has(&self, trial: &Trial) -> bool {
        self.rates.contains_key(&key(trial))
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

fn key(trial: &Trial) -> Key {
    (trial.step, trial.clients, trial.system, trial.number)
}

/// None of what runs beside a step: that is no trial of its own.
fn key_of(plan: &Plan, record: &TrialRecord) -> Option<Key> {
    let step = plan.steps.iter().position(|step| step.id == record.step_id)?;
    let system = plan.systems.iter().position(|system| system.id == record.system_id)?;
    Some((step, record.clients, system, record.trial))
}

/// Whether the verdict on a trial would be about the host rather than the system.
fn is_disturbed(usage: &Usage) -> bool {
    disturbance(usage, &Limits::default()).is_some_and(|found| found.is_disturbed)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A second of one CPU, of which the server used half and others so much.
    fn usage(others_us: u64) -> Usage {
        Usage {
            server_user_cpu_us: Some(500_000),
            server_system_cpu_us: Some(0),
            host_user_cpu_us: Some(500_000 + others_us),
            host_system_cpu_us: Some(0),
            host_iowait_cpu_us: Some(0),
            host_steal_cpu_us: Some(0),
            host_idle_cpu_us: Some(500_000 - others_us),
            ..Usage::default()
        }
    }

    #[test]
    fn a_disturbed_trial_is_run_again_until_it_is_not_or_was_often_enough() {
        let (quiet, disturbed) = (usage(10_000), usage(200_000));
        let trial = Trial { step: 1, clients: 4, number: 0, system: 0, seed: 0 };
        let mut done = Done::default();
        done.note(&trial, Some(100.0), &quiet);
        assert!(!done.is_to_rerun(&trial, 2));
        let other = Trial { number: 1, ..trial };
        done.note(&other, Some(100.0), &disturbed);
        assert!(done.is_to_rerun(&other, 2) && !done.is_to_rerun(&other, 0));
        done.note(&other, Some(90.0), &disturbed);
        assert!(done.is_to_rerun(&other, 2) && !done.is_to_rerun(&other, 1));
        done.note(&other, Some(80.0), &disturbed);
        assert!(!done.is_to_rerun(&other, 2), "it was run again twice");
        done.note(&other, Some(110.0), &quiet);
        assert!(!done.is_to_rerun(&other, 9), "it is fine now");
        assert_eq!((done.count(), done.next_position()), (2, 5));
        done.note(&other, None, &disturbed);
        assert!(!done.has(&other) && !done.is_to_rerun(&other, 9), "one that fails is no disturbed one");
    }

    #[test]
    fn an_earlier_session_knows_how_often_a_trial_was_run_again() {
        let plan = crate::plan::testing::plan();
        let record = |position, others_us| TrialRecord {
            system_id: "a".to_owned(),
            step_id: plan.steps[1].id.clone(),
            clients: 4,
            position,
            measured: Some(Measured {
                seconds: 1.0,
                counts: dyno_store::Counts::default(),
                latency: Vec::new(),
            }),
            usage: usage(others_us),
            ..TrialRecord::default()
        };
        let trial = |position, others_us| dyno_store::Trial {
            id: dyno_store::TrialId(i64::from(position)),
            record: record(position, others_us),
        };
        let run = |counts, superseded| Run {
            id: dyno_store::RunId(1),
            record: dyno_store::RunRecord::default(),
            state: dyno_store::RunState::Killed,
            finished_at_ms: None,
            systems: Vec::new(),
            steps: Vec::new(),
            trials: vec![counts],
            audit: None,
            superseded,
            resumptions: Vec::new(),
        };
        let key = Trial { step: 1, clients: 4, number: 0, system: 0, seed: 0 };
        let done = Done::of(&plan, &run(trial(7, 200_000), vec![trial(3, 200_000)]));
        assert!(done.has(&key) && done.is_to_rerun(&key, 2) && !done.is_to_rerun(&key, 1));
        assert_eq!((done.count(), done.next_position()), (1, 8));
        let done = Done::of(&plan, &run(trial(7, 10_000), vec![trial(9, 200_000)]));
        assert!(done.has(&key) && !done.is_to_rerun(&key, 9));
        assert_eq!(done.next_position(), 10);
    }

    #[test]
    fn ratios_are_those_of_trials_that_both_systems_completed() {
        let mut done = Done::default();
        let mut note = |system, number, rate| {
            done.note(&Trial { step: 1, clients: 4, number, system, seed: 0 }, rate, &Usage::default());
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
