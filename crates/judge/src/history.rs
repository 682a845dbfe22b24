//! A series of runs of one plan: when did what change?

use dyno_stats::{ChangeRule, Fence, change_points, fence, median};
use dyno_store::Run;
use serde::Serialize;

use crate::quantity::{self, Quantity};
use crate::trials::{Trials, tests};

/// How a history is read.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HistoryRule {
    /// What is followed.
    pub quantity: Quantity,
    /// How changes are found.
    pub changes: ChangeRule,
}

impl Default for HistoryRule {
    fn default() -> Self {
        Self { quantity: Quantity::Throughput, changes: ChangeRule::default() }
    }
}

/// A series of runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct History {
    /// What is followed.
    pub quantity: Quantity,
    /// Each system in each step at each number of clients that any run measured; systems and steps in the order of
    /// the newest run that has them.
    pub tests: Vec<TestHistory>,
}

/// A test over the runs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TestHistory {
    /// The system.
    pub system: String,
    /// The step.
    pub step: String,
    /// Client connections.
    pub clients: u32,
    /// One for each run that has a figure, oldest first.
    pub points: Vec<HistoryPoint>,
    /// Changes of level, oldest first.
    pub changes: Vec<Change>,
    /// Whether the newest run stands out from the one before; none with fewer than six runs.
    pub newest: Option<Fence>,
}

/// A run's figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HistoryPoint {
    /// The run's number.
    pub run: i64,
    /// When it started, in milliseconds since 1970 UTC.
    pub started_at_ms: i64,
    /// The version that the server told.
    pub engine_version: Option<String>,
    /// Median of its trials.
    pub value: f64,
}

/// A change of level.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    /// The first run after it.
    pub run: i64,
    /// The version in that run.
    pub engine_version: Option<String>,
    /// The version in the run before.
    pub version_before: Option<String>,
    /// The level after it as a multiple of the level before.
    pub ratio: f64,
    /// The chance of so great a change if the order of the runs means nothing.
    pub p: f64,
}

/// Follows every test over runs of one plan, in any order: by the time at which they started. The figure of a run is
/// the median of its trials: runs are what varies here, so runs are what is counted (Kalibera and Jones, "Rigorous
/// benchmarking in reasonable time", ISMM 2013).
pub fn history(runs: &[Run], rule: &HistoryRule) -> History {
    let mut runs: Vec<&Run> = runs.iter().collect();
    runs.sort_by_key(|run| (run.record.started_at_ms, run.id));
    let trials: Vec<Trials<'_>> = runs.iter().map(|run| Trials::of(run)).collect();
    let mut keys: Vec<(&str, &str, u32)> = Vec::new();
    for run in runs.iter().rev() {
        for (step, clients) in tests(run) {
            for system in run.systems.iter().filter(|system| system.twin_of.is_none()) {
                let key = (system.id.as_str(), step.id.as_str(), clients);
                if !keys.contains(&key) {
                    keys.push(key);
                }
            }
        }
    }
    let follow = |(system, step, clients): (&str, &str, u32)| {
        let points = runs.iter().zip(&trials);
        let points = points.filter_map(|(run, trials)| point(run, trials, system, step, clients, rule));
        let points: Vec<HistoryPoint> = points.collect();
        let values: Vec<f64> = points.iter().map(|point| point.value).collect();
        let changes = change_points(&values, &rule.changes).into_iter().map(|change| Change {
            run: points[change.at].run,
            engine_version: points[change.at].engine_version.clone(),
            version_before: points[change.at - 1].engine_version.clone(),
            ratio: change.ratio,
            p: change.p,
        });
        TestHistory {
            system: system.to_owned(),
            step: step.to_owned(),
            clients,
            changes: changes.collect(),
            newest: fence(&values),
            points,
        }
    };
    let tests = keys.into_iter().map(follow).filter(|test| !test.points.is_empty()).collect();
    History { quantity: rule.quantity, tests }
}

fn point(
    run: &Run,
    trials: &Trials<'_>,
    system: &str,
    step: &str,
    clients: u32,
    rule: &HistoryRule,
) -> Option<HistoryPoint> {
    let completed = trials.completed(step, clients, system).iter();
    let values: Vec<f64> =
        completed.filter_map(|trial| quantity::figures(&trial.record, None).remove(&rule.quantity)).collect();
    let version = run.systems.iter().find(|known| known.id == system)?.engine_version.clone();
    Some(HistoryPoint {
        run: run.id.0,
        started_at_ms: run.record.started_at_ms,
        engine_version: version,
        value: median(&values)?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{add_step, around, run};

    /// Nightly runs, 8% slower from the thirteenth on.
    fn nightly(count: i64) -> Vec<Run> {
        let night = |id| {
            let mut run = run(id, &["db"]);
            run.record.started_at_ms = id * 86_400_000;
            run.systems[0].engine_version = Some(if id < 13 { "1.0" } else { "1.1" }.to_owned());
            let rate = if id < 13 { 1000.0 } else { 920.0 };
            add_step(&mut run, "reads", "point", 4, &[("db", around(rate, 0.01, 3, id as u64))]);
            run
        };
        (1..=count).map(night).collect()
    }

    #[test]
    fn a_change_is_found_with_its_run_and_version_whatever_the_order() {
        let mut runs = nightly(24);
        runs.reverse();
        let found = history(&runs, &HistoryRule::default());
        let test = &found.tests[0];
        assert_eq!(test.points.len(), 24);
        assert!(test.points.is_sorted_by_key(|point| point.run));
        assert_eq!(test.changes.len(), 1, "{:?}", test.changes);
        let change = &test.changes[0];
        assert_eq!((change.run, change.engine_version.as_deref()), (13, Some("1.1")));
        assert_eq!(change.version_before.as_deref(), Some("1.0"));
        assert!((change.ratio - 0.92).abs() < 0.01 && change.p <= 0.01);
    }

    #[test]
    fn while_a_history_is_short_its_newest_run_is_held_against_the_others() {
        let found = history(&nightly(13), &HistoryRule::default());
        assert!(found.tests[0].changes.is_empty());
        assert!(found.tests[0].newest.unwrap().is_crossed());
        assert!(history(&nightly(4), &HistoryRule::default()).tests[0].newest.is_none());
    }

    #[test]
    fn runs_without_a_figure_are_left_out() {
        let mut runs = nightly(6);
        runs[2].trials.clear();
        assert_eq!(history(&runs, &HistoryRule::default()).tests[0].points.len(), 5);
        let cost = HistoryRule { quantity: Quantity::Fsyncs, ..HistoryRule::default() };
        assert!(history(&runs, &cost).tests.is_empty());
        assert!(history(&[], &HistoryRule::default()).tests.is_empty());
    }
}
