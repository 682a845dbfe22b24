//! Divides a long run into experiments.

use std::collections::{BTreeMap, BTreeSet};

use dyno_judge::{DisturbanceLimits, Finding, Rule, TestComparison, TrialChecks, analyse, disturbance};
use dyno_stats::{Margin, median};
use dyno_store::{Outcome, Run};

/// Returns the default rule, but with a margin of 0.
pub(super) fn no_margin() -> Rule {
    Rule { margin: Margin::new(0.0).expect("a margin"), ..Rule::default() }
}

/// Divides the whole rounds of a run into runs of `rounds` rounds each. Each is a separate experiment.
pub(in crate::verdicts) fn experiments(run: &Run, rounds: usize) -> Vec<Run> {
    whole_rounds(run).chunks_exact(rounds).map(|numbers| part(run, numbers)).collect()
}

/// Divides a run into searches. A search consists of consecutive rounds that take at most `seconds` together, restarts
/// included. Rounds with failed or disturbed trials count for the time, but are not in the returned runs.
pub(super) fn searches(run: &Run, seconds: f64) -> Vec<Run> {
    let whole: BTreeSet<u32> = whole_rounds(run).into_iter().collect();
    let (mut searches, mut numbers, mut spent) = (Vec::new(), Vec::new(), 0.0);
    for (round, round_seconds) in round_seconds(run) {
        if spent + round_seconds > seconds && spent > 0.0 {
            searches.push(part(run, &numbers));
            numbers.clear();
            spent = 0.0;
        }
        spent += round_seconds;
        numbers.extend(whole.contains(&round).then_some(round));
    }
    searches
}

/// Returns the run with only these rounds.
pub(super) fn part(run: &Run, rounds: &[u32]) -> Run {
    let mut part = Run::new(run.id, run.record.clone(), run.state);
    part.record.rounds = rounds.len() as u32;
    part.systems.clone_from(&run.systems);
    part.steps.clone_from(&run.steps);
    part.trials = run.trials.iter().filter(|trial| rounds.contains(&trial.record.round)).cloned().collect();
    part.instances =
        run.instances.iter().filter(|instance| rounds.contains(&instance.round)).cloned().collect();
    part
}

/// Returns the numbers of the rounds in which every trial was completed and undisturbed, in ascending order. If
/// other rounds were included, some tests of a family might have too few values to raise an alarm.
pub(super) fn whole_rounds(run: &Run) -> Vec<u32> {
    let tests = run.steps.iter().filter(|step| step.command == "run").map(|step| step.clients.len());
    let wanted = tests.sum::<usize>() * run.systems.len();
    let is_load = |id: &str| run.steps.iter().any(|step| step.id == id && step.command != "run");
    let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
    for trial in run.trials.iter().map(|trial| &trial.record).filter(|trial| !is_load(&trial.step_id)) {
        let found = disturbance(trial, &DisturbanceLimits::default());
        let counts_for_all = trial.outcome == Outcome::Completed && !found.is_some_and(|it| it.is_disturbed);
        *counts.entry(trial.round).or_default() += usize::from(counts_for_all);
    }
    counts.into_iter().filter(|(_, trials)| *trials == wanted).map(|(round, _)| round).collect()
}

/// Returns the wall time of each round, from the first start of an instance to the first start in the next round. For
/// the last round, and for a round before a pause of the run, the time is the median of the other rounds.
fn round_seconds(run: &Run) -> Vec<(u32, f64)> {
    let mut starts: BTreeMap<u32, i64> = BTreeMap::new();
    for instance in &run.instances {
        let start = starts.entry(instance.round).or_insert(instance.started_at_ms);
        *start = (*start).min(instance.started_at_ms);
    }
    let starts: Vec<(u32, i64)> = starts.into_iter().collect();
    let is_break = |from: i64, to: i64| {
        run.resumptions.iter().any(|resumption| (from..=to).contains(&resumption.resumed_at_ms))
    };
    let known = starts.windows(2).map(|two| {
        let (from, to) = (two[0].1, two[1].1);
        (!is_break(from, to)).then_some((to - from) as f64 / 1000.0)
    });
    let known: Vec<Option<f64>> = known.chain([None]).collect();
    let usual = median(&known.iter().copied().flatten().collect::<Vec<_>>()).unwrap_or(0.0);
    starts.iter().zip(known).map(|((round, _), seconds)| (*round, seconds.unwrap_or(usual))).collect()
}

/// Returns the tests of the candidate, without loads.
pub(super) fn tests(run: &Run, rule: &Rule) -> Vec<TestComparison> {
    let analysis = analyse(run, &TrialChecks::new(), rule);
    let comparison = analysis.comparison("a", "b").cloned();
    let tests = comparison.into_iter().flat_map(|comparison| comparison.tests);
    tests.filter(|test| test.step != "load").collect()
}

pub(super) fn has_alarm(tests: &[TestComparison]) -> bool {
    tests.iter().any(|test| matches!(test.finding, Finding::Improved | Finding::Regressed))
}

#[cfg(test)]
mod tests {
    use dyno_store::{
        HostRecord, InstanceRecord, Neighbours, ResumptionRecord, RunId, RunRecord, RunState, StepRecord,
        SystemRecord, Trial, TrialId, TrialRecord,
    };

    use super::*;

    /// Makes a run with rounds of ten seconds. In each round, both systems have a trial.
    fn run(rounds: u32) -> Run {
        let mut run = Run::new(RunId(1), RunRecord::default(), RunState::Ended(dyno_store::Ending::Finished));
        run.systems =
            ["a", "b"].map(|id| SystemRecord { id: id.to_owned(), ..SystemRecord::default() }).into();
        let step = StepRecord { id: "reads".to_owned(), command: "run".to_owned(), ..StepRecord::default() };
        run.steps = vec![StepRecord { clients: vec![4], ..step }];
        for (round, system) in (0..rounds).flat_map(|round| ["a", "b"].map(|system| (round, system))) {
            let record = TrialRecord {
                system_id: system.to_owned(),
                step_id: "reads".to_owned(),
                clients: 4,
                round,
                ..TrialRecord::default()
            };
            run.trials.push(Trial { id: TrialId(run.trials.len() as i64), record });
            run.instances.push(InstanceRecord {
                system_id: system.to_owned(),
                round,
                started_at_ms: i64::from(round) * 10_000,
                ..InstanceRecord::default()
            });
        }
        run
    }

    fn rounds_of(parts: &[Run]) -> Vec<Vec<u32>> {
        let rounds = |run: &Run| run.trials.iter().step_by(2).map(|trial| trial.record.round).collect();
        parts.iter().map(rounds).collect()
    }

    #[test]
    fn experiments_are_of_whole_and_undisturbed_rounds() {
        let mut run = run(9);
        run.trials.remove(1);
        run.trials[9].record.outcome = Outcome::failed("it died");
        run.trials[12].record.neighbours = Neighbours {
            watched_us: Some(1_000_000),
            watched_cpus: Some(2),
            neighbour_cpu_us: Some(500_000),
            neighbour_steal_us: Some(0),
        };
        assert_eq!(rounds_of(&experiments(&run, 3)), [[1, 2, 3], [4, 7, 8]]);
    }

    #[test]
    fn a_search_lasts_its_seconds_of_wall_time_without_the_breaks() {
        let mut run = run(8);
        assert_eq!(rounds_of(&searches(&run, 30.0)), [[0, 1, 2], [3, 4, 5]]);
        // The run paused after the third round, and a trial of the fifth round failed.
        for instance in run.instances.iter_mut().filter(|instance| instance.round > 2) {
            instance.started_at_ms += 1_000_000;
        }
        run.resumptions.push(ResumptionRecord {
            resumed_at_ms: 1_029_000,
            host: HostRecord::default(),
            differences: Vec::new(),
        });
        run.trials[8].record.outcome = Outcome::failed("it died");
        assert_eq!(rounds_of(&searches(&run, 30.0)), [vec![0, 1, 2], vec![3, 5]]);
    }
}
