//! History: changes over the runs of one plan.

use dyno_stats::{ChangeRule, Fence, change_points, fence, median};
use dyno_store::{Run, SystemRecord, Trial};
use serde::Serialize;

use crate::compare::anchor::{self, anchor_differences, decisive};
use crate::trial::of_run::{Trials, pairs, tests};
use crate::trial::quantity::{self, Quantity};

/// The quantity whose history is searched, and the parameters of the search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HistoryRule {
    pub quantity: Quantity,
    /// Parameters of the search for changes.
    pub changes: ChangeRule,
}

impl Default for HistoryRule {
    fn default() -> Self {
        Self { quantity: Quantity::Throughput, changes: ChangeRule::default() }
    }
}

/// A series of runs under the same conditions: the same plan text, scale, CPU model, number of CPUs, memory and
/// anchor. Either all of the runs kept cores awake, or none did.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct History {
    pub quantity: Quantity,
    /// The conditions, such as `2 × Intel(R) Xeon(R), 7.8 GiB, scale 0.1, plan of run 3`.
    pub circumstances: String,
    /// The anchor, if the plan names one. All figures are divided by the anchor's figures. Without an anchor,
    /// figures also depend on the host.
    pub anchor: Option<HistoryAnchor>,
    /// The runs' numbers, oldest first.
    pub runs: Vec<i64>,
    /// The tests of all systems except the anchor and controls. A test is a system in a step at a client count, and
    /// is included if any run measured it. Systems and steps are in the order of the newest run that has them.
    pub tests: Vec<TestHistory>,
}

/// The anchor of a history.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HistoryAnchor {
    pub system: String,
    /// The version that the anchor's server reported, which is the same in all runs. `None` if the server never
    /// started.
    pub engine_version: Option<String>,
}

/// The figures of a test over the runs, and their changes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TestHistory {
    pub system: String,
    pub step: String,
    pub clients: u32,
    /// A point for each run that has a figure, oldest first.
    pub points: Vec<HistoryPoint>,
    /// Changes of level, oldest first.
    pub changes: Vec<LevelChange>,
    /// Correlation of neighbouring runs' figures, after the changes of level are removed.
    pub autocorrelation: f64,
    /// Whether the newest run is an outlier; `None` with fewer than six runs.
    pub newest: Option<Fence>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HistoryPoint {
    pub run: i64,
    /// When the run started, in milliseconds since 1970 UTC.
    pub started_at_ms: i64,
    /// The version that the server reported.
    pub engine_version: Option<String>,
    /// Median of the rounds' figures. With an anchor, each figure is first divided by the anchor's figure in the
    /// same round.
    pub value: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LevelChange {
    /// The first run after the change.
    pub run: i64,
    /// The server's version in the first run after the change.
    pub engine_version: Option<String>,
    /// The server's version in the last run before the change.
    pub version_before: Option<String>,
    /// The level after the change as a multiple of the level before the change.
    pub ratio: f64,
    /// Probability of a change this large under the null hypothesis that nothing changed. Under this hypothesis the
    /// order of the runs is random, except that neighbouring runs correlate.
    pub p: f64,
}

/// The histories of every test over the runs of one plan. The runs may be in any order and are sorted by start time.
/// Runs under different conditions are in separate histories. The history of the newest run comes first.
///
/// A run's figure is the median of its rounds. If the plan names an anchor, figures are divided by the anchor's figures
/// in the same rounds, which removes effects of the host on both systems. Runs are the replicates (Kalibera and Jones,
/// "Rigorous benchmarking in reasonable time", ISMM 2013).
pub fn histories(runs: &[Run], rule: &HistoryRule) -> Vec<History> {
    let mut runs: Vec<&Run> = runs.iter().collect();
    runs.sort_by_key(|run| (run.record.started_at_ms, run.id));
    let mut groups: Vec<Vec<&Run>> = Vec::new();
    for run in runs {
        match groups.iter_mut().rev().find(|group| are_alike(group[0], run)) {
            Some(group) => group.push(run),
            None => groups.push(vec![run]),
        }
    }
    groups.sort_by_key(|group| std::cmp::Reverse(group.last().map(|run| (run.record.started_at_ms, run.id))));
    groups.iter().map(|group| history(group, rule)).collect()
}

fn are_alike(run: &Run, other: &Run) -> bool {
    let (own, others) = (&run.record, &other.record);
    own.plan_text == others.plan_text
        && own.scale.total_cmp(&others.scale).is_eq()
        && decisive(&own.host) == decisive(&others.host)
        && anchor_differences(run, other).is_empty()
}

/// The conditions that [`are_alike`] compares, in words.
fn circumstances(run: &Run) -> String {
    let host = &run.record.host;
    let model = host.cpu_model.as_deref().unwrap_or("CPU of an unknown model");
    let cpus = host.cpus.map_or_else(|| "?".to_owned(), |cpus| cpus.to_string());
    let memory = host.memory_bytes.map_or_else(
        || "memory of an unknown size".to_owned(),
        |bytes| format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30)),
    );
    let awake = if host.are_cores_awake == Some(true) { ", idle cores kept awake" } else { "" };
    format!("{cpus} × {model}, {memory}{awake}, scale {}, plan of run {}", run.record.scale, run.id)
}

/// A history of runs under the same conditions, oldest first.
fn history(runs: &[&Run], rule: &HistoryRule) -> History {
    let trials: Vec<Trials<'_>> = runs.iter().map(|run| Trials::of(run)).collect();
    let anchor = runs.iter().rev().find_map(|run| anchor::of_run(run));
    let is_followed = |system: &&SystemRecord| system.control_of.is_none() && !system.is_anchor;
    let mut keys: Vec<(&str, &str, u32)> = Vec::new();
    for run in runs.iter().rev() {
        for (step, clients) in tests(run) {
            for system in run.systems.iter().filter(is_followed) {
                let key = (system.id.as_str(), step.id.as_str(), clients);
                if !keys.contains(&key) {
                    keys.push(key);
                }
            }
        }
    }
    let follow = |(system, step, clients): (&str, &str, u32)| {
        let points = runs.iter().zip(&trials);
        let points: Vec<HistoryPoint> = points
            .filter_map(|(run, trials)| {
                let values = values(trials, anchor.map(|it| it.id.as_str()), system, step, clients, rule);
                point(run, system, &values)
            })
            .collect();
        let values: Vec<f64> = points.iter().map(|point| point.value).collect();
        let found = change_points(&values, &rule.changes);
        let changes = found.changes.into_iter().map(|change| LevelChange {
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
            autocorrelation: found.autocorrelation,
            newest: fence(&values),
            points,
        }
    };
    let tests = keys.into_iter().map(follow).filter(|test| !test.points.is_empty()).collect();
    History {
        quantity: rule.quantity,
        circumstances: runs.first().map(|run| circumstances(run)).unwrap_or_default(),
        anchor: anchor.map(|anchor| HistoryAnchor {
            system: anchor.id.clone(),
            engine_version: anchor.engine_version.clone(),
        }),
        runs: runs.iter().map(|run| run.id.0).collect(),
        tests,
    }
}

/// A system's figures in the rounds of a run. With an anchor, they are divided by the anchor's figures in the same
/// rounds.
fn values(
    trials: &Trials<'_>,
    anchor: Option<&str>,
    system: &str,
    step: &str,
    clients: u32,
    rule: &HistoryRule,
) -> Vec<f64> {
    let figure = |trial: &Trial| {
        let figure = quantity::figures(&trial.record, None).remove(&rule.quantity)?.value;
        // A throughput of 0 is left out, because a change to or from it has no ratio.
        (rule.quantity != Quantity::Throughput || figure > 0.0).then_some(figure)
    };
    let own = trials.completed(step, clients, system);
    let Some(anchor) = anchor else { return own.iter().filter_map(|trial| figure(trial)).collect() };
    let of_anchor = trials.completed(step, clients, anchor);
    let multiple = |(of_anchor, own)| Some(figure(own)? / figure(of_anchor).filter(|it| *it > 0.0)?);
    pairs(of_anchor, own).filter_map(multiple).collect()
}

fn point(run: &Run, system: &str, values: &[f64]) -> Option<HistoryPoint> {
    let version = run.systems.iter().find(|known| known.id == system)?.engine_version.clone();
    Some(HistoryPoint {
        run: run.id.0,
        started_at_ms: run.record.started_at_ms,
        engine_version: version,
        value: median(values)?,
    })
}

#[cfg(test)]
mod tests {
    use dyno_store::HostRecord;

    use super::*;
    use crate::sample::{add_step, around, run};

    /// Nightly runs. From the thirteenth on, they are 8% slower.
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

    fn only(runs: &[Run]) -> History {
        let mut found = histories(runs, &HistoryRule::default());
        assert_eq!(found.len(), 1);
        found.remove(0)
    }

    #[test]
    fn a_change_is_found_with_its_run_and_version_whatever_the_order() {
        let mut runs = nightly(24);
        runs.reverse();
        let found = only(&runs);
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
        let found = only(&nightly(13));
        assert!(found.tests[0].changes.is_empty());
        assert!(found.tests[0].newest.unwrap().is_crossed());
        assert!(only(&nightly(4)).tests[0].newest.is_none());
    }

    #[test]
    fn runs_without_a_figure_are_left_out() {
        let mut runs = nightly(6);
        runs[2].trials.clear();
        assert_eq!(only(&runs).tests[0].points.len(), 5);
        let cost = HistoryRule { quantity: Quantity::Fsyncs, ..HistoryRule::default() };
        assert!(histories(&runs, &cost)[0].tests.is_empty());
        assert!(histories(&[], &HistoryRule::default()).is_empty());
    }

    /// Nights on which the host varies by 10%. `build` returns the speed of a night's build.
    fn beside_an_anchor(build: impl Fn(i64) -> f64) -> Vec<Run> {
        let night = |id: i64| {
            let mut run = run(id, &["pinned", "build"]);
            run.systems[0].is_anchor = true;
            run.systems[0].engine_version = Some("8.0.33".to_owned());
            run.record.started_at_ms = id * 86_400_000;
            let host = if id % 10 < 5 { 1000.0 } else { 900.0 };
            let rates = [
                ("pinned", around(host, 0.005, 3, id as u64)),
                ("build", around(host * build(id), 0.005, 3, 100 + id as u64)),
            ];
            add_step(&mut run, "reads", "point", 4, &rates);
            run
        };
        (1..=40).map(night).collect()
    }

    #[test]
    fn with_an_anchor_the_host_is_not_in_the_figures() {
        let steady = only(&beside_an_anchor(|_| 1.0));
        let anchor = steady.anchor.as_ref().map(|anchor| anchor.system.as_str());
        assert_eq!((anchor, steady.tests.len()), (Some("pinned"), 1), "the anchor itself is not followed");
        let test = &steady.tests[0];
        assert!(test.changes.is_empty(), "{:?}", test.changes);
        assert!(test.points.iter().all(|point| (point.value - 1.0).abs() < 0.01));
        let slower = only(&beside_an_anchor(|id| if id < 25 { 1.0 } else { 0.95 }));
        let changes: Vec<i64> = slower.tests[0].changes.iter().map(|change| change.run).collect();
        assert_eq!(changes, [25]);
    }

    #[test]
    fn another_anchor_is_another_history() {
        let mut runs = beside_an_anchor(|_| 1.0);
        for run in &mut runs[30..] {
            run.systems[0].engine_version = Some("8.0.34".to_owned());
        }
        // If a server never started, its version is unknown and does not count as a difference.
        runs[39].systems[0].engine_version = None;
        let found = histories(&runs, &HistoryRule::default());
        assert_eq!(found.iter().map(|history| history.runs.len()).collect::<Vec<_>>(), [10, 30]);
    }

    #[test]
    fn another_host_scale_or_plan_is_another_history() {
        let mut runs = nightly(8);
        let host = |cpus: u64| HostRecord {
            cpu_model: Some("Xeon".to_owned()),
            cpus: Some(cpus),
            memory_bytes: Some(1 << 33),
            ..HostRecord::default()
        };
        for (at, run) in runs.iter_mut().enumerate() {
            run.record.scale = 0.1;
            run.record.host = host(if at % 2 == 0 { 2 } else { 8 });
        }
        runs[6].record.scale = 1.0;
        runs[7].record.plan_text = "other".to_owned();
        runs[0].record.host.kernel = Some("7".to_owned());
        let found = histories(&runs, &HistoryRule::default());
        let words: Vec<(&str, &[i64])> =
            found.iter().map(|history| (history.circumstances.as_str(), history.runs.as_slice())).collect();
        assert_eq!(
            words,
            [
                ("8 × Xeon, 8.0 GiB, scale 0.1, plan of run 8", &[8][..]),
                ("2 × Xeon, 8.0 GiB, scale 1, plan of run 7", &[7]),
                ("8 × Xeon, 8.0 GiB, scale 0.1, plan of run 2", &[2, 4, 6]),
                ("2 × Xeon, 8.0 GiB, scale 0.1, plan of run 1", &[1, 3, 5]),
            ]
        );
        assert_eq!(found[2].tests[0].points.len(), 3);
    }
}
