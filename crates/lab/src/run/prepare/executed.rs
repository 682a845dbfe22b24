//! The rounds and trials that an interrupted run has completed.

use std::collections::{BTreeMap, BTreeSet};

use dyno_store::{LeftTest, Outcome, Run};

use crate::plan::Plan;
use crate::schedule::blocks;

/// The rounds and trials that a run has executed so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Executed {
    /// The number of the next round.
    pub(crate) next_round: u32,
    /// Number of rounds in which every system completed every step. Steps that were no longer measured in a round are
    /// not required.
    pub(crate) rounds_complete: u32,
    /// The first round in which every system completed every load; `None` if there is no such round.
    pub(crate) load_round: Option<u32>,
    /// The position of the next trial in the run's order of execution.
    pub(crate) next_position: u32,
    pub(crate) trials_completed: usize,
    /// Duration of the rounds in milliseconds, without the breaks between rounds.
    pub(crate) spent_ms: u64,
    /// Tests that are no longer measured.
    pub(crate) left_tests: Vec<LeftTest>,
}

impl Executed {
    /// Counts the rounds and trials of an interrupted run. A round is not complete if it was cut short or has a
    /// failed trial. Such a round keeps its trials, and another round replaces it.
    pub(crate) fn of(plan: &Plan, run: &Run) -> Self {
        let mut rounds: BTreeMap<u32, BTreeSet<(&str, u32, &str)>> = BTreeMap::new();
        let mut executed = Self { left_tests: run.left_tests.clone(), ..Self::default() };
        for record in run.trials.iter().chain(&run.superseded).map(|trial| &trial.record) {
            executed.next_position = executed.next_position.max(record.position + 1);
            executed.next_round = executed.next_round.max(record.round + 1);
        }
        for record in run.trials.iter().map(|trial| &trial.record) {
            if record.outcome == Outcome::Completed {
                executed.trials_completed += 1;
                let key = (record.step_id.as_str(), record.clients, record.system_id.as_str());
                rounds.entry(record.round).or_default().insert(key);
            }
        }
        let of_every_round = trials_of(plan, |step| plan.measures_every_round(step));
        let was_left = |round: u32, (step, clients, _): (&str, u32, &str)| {
            let mut left = run.left_tests.iter();
            left.any(|left| left.step == step && left.clients == clients && left.last_round < round)
        };
        let has_all = |round: u32, done: &BTreeSet<_>, wanted: &[(&str, u32, &str)]| {
            wanted.iter().all(|key| done.contains(key) || was_left(round, *key))
        };
        let is_complete = |(round, done): &(&u32, &BTreeSet<_>)| has_all(**round, done, &of_every_round);
        executed.rounds_complete = rounds.iter().filter(is_complete).count() as u32;
        let loads = trials_of(plan, |step| plan.steps[step].is_load());
        let has_loaded = |(round, done): &(&u32, &BTreeSet<_>)| has_all(**round, done, &loads);
        executed.load_round = rounds.iter().find(has_loaded).map(|(round, _)| *round);
        executed.spent_ms = spent_ms(run);
        executed
    }
}

/// Sums the times of all rounds. The time of a round is from the start of its first instance to the end of its last
/// trial.
fn spent_ms(run: &Run) -> u64 {
    let starts = run.instances.iter().map(|instance| (instance.round, instance.started_at_ms));
    let ends = run.trials.iter().chain(&run.superseded).map(|trial| {
        let seconds = trial.record.measured.as_ref().map_or(0.0, |measured| measured.seconds);
        (trial.record.round, trial.record.started_at_ms.saturating_add((seconds * 1000.0) as i64))
    });
    let mut of_round: BTreeMap<u32, (i64, i64)> = BTreeMap::new();
    for (round, at_ms) in starts.chain(ends) {
        let (first, last) = of_round.entry(round).or_insert((at_ms, at_ms));
        (*first, *last) = ((*first).min(at_ms), (*last).max(at_ms));
    }
    of_round.into_values().fold(0, |sum: u64, (first, last)| sum.saturating_add(last.abs_diff(first)))
}

/// Returns the trials of one round, in the steps for which `is_wanted` returns true. Each trial is given by its step,
/// clients and system.
fn trials_of(plan: &Plan, is_wanted: impl Fn(usize) -> bool) -> Vec<(&str, u32, &str)> {
    blocks(plan)
        .into_iter()
        .filter(|block| is_wanted(block.step))
        .flat_map(|block| {
            let key = move |system: usize| {
                (plan.steps[block.step].id.as_str(), block.clients, plan.systems[system].id.as_str())
            };
            plan.systems_of(block.step).map(key)
        })
        .collect()
}

impl Plan {
    /// Whether each round measures the step. A load may be measured only in the first round.
    pub(crate) fn measures_every_round(&self, step: usize) -> bool {
        self.load_every_round || !self.steps[step].is_load()
    }
}

#[cfg(test)]
mod tests {
    use dyno_store::{
        CountsRecord, InstanceRecord, LatencyRecord, Measured, RunId, RunRecord, RunState, Trial, TrialId,
        TrialRecord,
    };

    use super::*;
    use crate::plan::testing::plan;

    fn run(trials: Vec<TrialRecord>) -> Run {
        let trial = |(at, record)| Trial { id: TrialId(at as i64), record };
        Run {
            trials: trials.into_iter().enumerate().map(trial).collect(),
            ..Run::new(RunId(1), RunRecord::default(), RunState::Killed)
        }
    }

    /// Returns the trials of a round, one for each system, timed step and number of clients in the plan.
    fn whole_round(round: u32) -> Vec<TrialRecord> {
        let plan = plan();
        let systems = plan.systems.iter().map(|system| system.id.clone());
        systems
            .flat_map(|system_id| {
                [1, 4].map(|clients| TrialRecord {
                    system_id: system_id.clone(),
                    step_id: "read-write".to_owned(),
                    clients,
                    round,
                    position: 10 * round,
                    ..TrialRecord::default()
                })
            })
            .collect()
    }

    #[test]
    fn a_round_that_was_cut_short_is_not_complete_and_its_number_is_used() {
        let mut trials = whole_round(0);
        trials.extend(whole_round(1).into_iter().take(2));
        let executed = Executed::of(&plan(), &run(trials));
        let expected = Executed {
            next_round: 2,
            rounds_complete: 1,
            load_round: None,
            next_position: 11,
            trials_completed: 8,
            ..Executed::default()
        };
        assert_eq!(executed, expected);
    }

    #[test]
    fn the_time_of_rounds_is_counted_without_the_breaks_between_them() {
        let instance =
            |round, started_at_ms| InstanceRecord { round, started_at_ms, ..InstanceRecord::default() };
        let measured = Measured {
            seconds: 2.0,
            counts: CountsRecord::default(),
            due: None,
            latency: LatencyRecord::default(),
        };
        let trial = |round, started_at_ms, measured| TrialRecord {
            round,
            started_at_ms,
            measured,
            ..TrialRecord::default()
        };
        let mut run =
            run(vec![trial(0, 3_000, Some(measured)), trial(0, 4_000, None), trial(1, 102_000, None)]);
        run.instances = vec![instance(0, 1_000), instance(0, 1_500), instance(1, 100_000)];
        assert_eq!(Executed::of(&plan(), &run).spent_ms, 4_000 + 2_000);
    }

    #[test]
    fn a_round_with_a_failed_trial_is_not_complete() {
        let mut trials = whole_round(0);
        trials[3].outcome = Outcome::failed("it died");
        let executed = Executed::of(&plan(), &run(trials));
        assert_eq!((executed.next_round, executed.rounds_complete, executed.trials_completed), (1, 0, 5));
    }

    #[test]
    fn a_round_without_the_tests_that_were_left_before_is_complete() {
        let without = |round| whole_round(round).into_iter().filter(|trial| trial.clients == 4);
        let mut run = run(whole_round(0).into_iter().chain(without(1)).chain(without(2)).collect());
        assert_eq!(Executed::of(&plan(), &run).rounds_complete, 1);
        run.left_tests = vec![LeftTest { step: "read-write".to_owned(), clients: 1, last_round: 1 }];
        let executed = Executed::of(&plan(), &run);
        assert_eq!((executed.rounds_complete, &executed.left_tests), (2, &run.left_tests));
        run.left_tests[0].last_round = 0;
        assert_eq!(Executed::of(&plan(), &run).rounds_complete, 3);
    }

    #[test]
    fn loads_are_measured_once_all_systems_completed_all_of_them_in_one_round() {
        let plan = plan();
        let load = |system: &str, clients, round| TrialRecord {
            system_id: system.to_owned(),
            step_id: "load".to_owned(),
            clients,
            round,
            ..TrialRecord::default()
        };
        let loads_of = |round| -> Vec<TrialRecord> {
            let ids = plan.systems.iter().map(|system| system.id.as_str());
            ids.flat_map(|id| [load(id, 1, round), load(id, 4, round)]).collect()
        };
        let mut trials = loads_of(0);
        trials.pop();
        assert_eq!(Executed::of(&plan, &run(trials.clone())).load_round, None);
        trials.extend(loads_of(1));
        assert_eq!(Executed::of(&plan, &run(trials)).load_round, Some(1));
    }
}
