//! Rounds, instances and variances of a run.

use std::collections::{BTreeMap, BTreeSet};

use dyno_stats::{Interval, Method, median};
use dyno_store::Outcome;

use super::Replication;
use crate::compare::comparison::{Judgement, TestComparison};
use crate::trial::evidence::Evidence;

/// Computes rounds, instances and variances from the run and the comparisons with the plan's base.
pub(super) fn replication(evidence: &Evidence<'_>, against_base: Option<&Judgement>) -> Replication {
    let run = evidence.run;
    let tests: Vec<&TestComparison> = against_base
        .into_iter()
        .flat_map(|judgement| &judgement.comparisons)
        .flat_map(|comparison| &comparison.tests)
        .collect();
    let middle = |component: fn(&TestComparison) -> Option<f64>| {
        median(&tests.iter().filter_map(|test| component(test)).collect::<Vec<_>>())
    };
    let intervals: Vec<Interval> = tests
        .iter()
        .filter(|test| test.method != Method::ThisPairOnly)
        .filter_map(|test| test.interval)
        .collect();
    let completed = run.trials.iter().filter(|trial| trial.record.outcome == Outcome::Completed);
    Replication {
        rounds_planned: run.record.rounds,
        rounds: completed.map(|trial| trial.record.round).collect::<BTreeSet<u32>>().len() as u32,
        is_fresh: run.systems.iter().all(|system| evidence.is_fresh(&system.id)),
        restart_seconds: restart_seconds(evidence),
        between_loads: middle(|test| test.between_loads),
        between_instances: middle(|test| test.between_instances),
        between_slices: middle(|test| test.between_slices),
        intervals: intervals.len(),
        exclusions: intervals.iter().filter(|interval| interval.excludes_one()).count(),
        exclusions_expected: intervals.iter().map(|interval| 1.0 - interval.confidence).sum(),
        left_tests: run.left_tests.len(),
    }
}

/// Median over rounds of the time to restart all systems, in seconds. Systems start and settle at the same time, but
/// read their tables one after another. Instances that are used again are not restarted and do not count.
fn restart_seconds(evidence: &Evidence<'_>) -> Option<f64> {
    let mut of_round: BTreeMap<u32, [f64; 3]> = BTreeMap::new();
    for instance in evidence.run.instances.iter().filter(|instance| instance.is_fresh) {
        let [starting, settling, warming] = of_round.entry(instance.round).or_default();
        *starting = starting.max(instance.start_seconds);
        *settling = settling.max(instance.settle_seconds);
        *warming += instance.warm_seconds;
    }
    median(&of_round.into_values().map(|parts| parts.iter().sum()).collect::<Vec<_>>())
}
