//! A long run, divided into experiments.

use dyno_judge::{Finding, Rule, TestComparison, TrialChecks, analyse};
use dyno_store::Run;

/// Divides the run into runs of `rounds` rounds. Each is a separate experiment.
pub(super) fn experiments(run: &Run, rounds: u32) -> impl Iterator<Item = Run> + '_ {
    let last = run.trials.iter().map(|trial| trial.record.round + 1).max().unwrap_or(0);
    (0..last / rounds).map(move |number| part(run, number * rounds, rounds))
}

/// The run with only these rounds.
pub(super) fn part(run: &Run, first: u32, rounds: u32) -> Run {
    let range = first..first + rounds;
    let mut part = run.clone();
    part.trials.retain(|trial| range.contains(&trial.record.round));
    part.instances.retain(|instance| range.contains(&instance.round));
    part.record.rounds = rounds;
    part
}

/// The candidate's tests, without loads.
pub(super) fn tests(run: &Run, rule: &Rule) -> Vec<TestComparison> {
    let analysis = analyse(run, &TrialChecks::new(), rule);
    let comparison = analysis.comparison("a", "b").cloned();
    let tests = comparison.into_iter().flat_map(|comparison| comparison.tests);
    tests.filter(|test| test.step != "load").collect()
}

pub(super) fn has_alarm(tests: &[TestComparison]) -> bool {
    tests.iter().any(|test| matches!(test.finding, Finding::Improved | Finding::Regressed))
}
