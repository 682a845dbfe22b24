//! A gate over a history. It reports the tests that regressed at one of the newest runs.

use dyno_stats::{Better, holm};

use crate::past::history::{History, LevelChange, TestHistory};

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct HistoryGate {
    /// How many of the newest runs are examined. A change counts if the first run after it is among them.
    pub runs: usize,
    /// Largest probability that any test is reported if no test changed.
    pub error_max: f64,
}

/// A test that regressed.
#[derive(Clone, Debug, PartialEq)]
pub struct HistoryRegression {
    pub system: String,
    pub step: String,
    pub clients: u32,
    /// The last change of the test's level.
    pub change: LevelChange,
}

impl HistoryGate {
    /// Tests whose last change is a regression that began in one of the newest runs. The largest regression comes
    /// first.
    ///
    /// The p-values of the changes are adjusted for all tests of the history by Holm's correction. Several runs are
    /// needed to distinguish a change from noise, so a regression is reported some runs after it happened.
    pub fn regressions(&self, history: &History) -> Vec<HistoryRegression> {
        let newest = &history.runs[history.runs.len().saturating_sub(self.runs)..];
        let is_regression = |change: &&LevelChange| {
            let is_worse = match history.quantity.better() {
                Better::Higher => change.ratio < 1.0,
                Better::Lower => change.ratio > 1.0,
            };
            is_worse && newest.contains(&change.run)
        };
        let last = |test: &TestHistory| test.changes.last().filter(is_regression).cloned();
        let candidates: Vec<Option<LevelChange>> = history.tests.iter().map(last).collect();
        // Holm's correction counts all tests, so a test without a regression takes part with a p-value of 1.
        let p: Vec<f64> =
            candidates.iter().map(|change| change.as_ref().map_or(1.0, |change| change.p)).collect();
        let tests = history.tests.iter().zip(candidates).zip(holm(&p));
        let named = tests.filter(|(_, p)| *p <= self.error_max).filter_map(|((test, change), _)| {
            Some(HistoryRegression {
                system: test.system.clone(),
                step: test.step.clone(),
                clients: test.clients,
                change: change?,
            })
        });
        let mut named: Vec<_> = named.collect();
        let size = |found: &HistoryRegression| found.change.ratio.ln().abs();
        named.sort_by(|a, b| size(b).total_cmp(&size(a)));
        named
    }

    /// Tests that the newest run lacks, although another of the newest runs has them. It is unknown whether these
    /// tests regressed.
    pub fn dropped_out<'a>(&self, history: &'a History) -> Vec<&'a TestHistory> {
        let newest = &history.runs[history.runs.len().saturating_sub(self.runs)..];
        let is_dropped = |test: &&TestHistory| {
            let last = test.points.last().map(|point| point.run);
            last != newest.last().copied() && last.is_some_and(|run| newest.contains(&run))
        };
        history.tests.iter().filter(is_dropped).collect()
    }

    /// Number of permutations that a search for changes needs. With fewer permutations, a change of one of `tests`
    /// tests could not be significant after the correction for the number of tests.
    pub fn permutations(&self, tests: usize) -> usize {
        (tests.max(1) as f64 / self.error_max).ceil() as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::past::history::HistoryPoint;
    use crate::trial::quantity::Quantity;

    fn test(system: &str, changes: &[(i64, f64, f64)]) -> TestHistory {
        let change = |&(run, ratio, p): &(i64, f64, f64)| LevelChange {
            run,
            engine_version: None,
            version_before: None,
            ratio,
            p,
        };
        TestHistory {
            system: system.to_owned(),
            step: "point-query".to_owned(),
            clients: 1,
            points: Vec::new(),
            changes: changes.iter().map(change).collect(),
            autocorrelation: 0.0,
            newest: None,
        }
    }

    fn named(quantity: Quantity, tests: Vec<TestHistory>) -> Vec<String> {
        let history =
            History { quantity, circumstances: String::new(), anchor: None, runs: (1..=20).collect(), tests };
        let gate = HistoryGate { runs: 7, error_max: 0.05 };
        gate.regressions(&history).into_iter().map(|found| found.system).collect()
    }

    #[test]
    fn only_a_recent_last_change_for_the_worse_counts() {
        let tests = vec![
            test("lately", &[(5, 1.1, 0.001), (14, 0.9, 0.001)]),
            test("most", &[(20, 0.5, 0.001)]),
            test("long-ago", &[(13, 0.9, 0.001)]),
            test("better", &[(16, 1.2, 0.001)]),
            test("recovered", &[(15, 0.9, 0.001), (18, 1.1, 0.001)]),
            test("steady", &[]),
        ];
        assert_eq!(named(Quantity::Throughput, tests.clone()), ["most", "lately"]);
        assert_eq!(named(Quantity::Fsyncs, tests), ["better", "recovered"]);
    }

    #[test]
    fn a_test_that_the_newest_run_lacks_has_dropped_out_while_the_window_has_it() {
        let last_in = |system: &str, run: i64| {
            let point = HistoryPoint { run, started_at_ms: run, engine_version: None, value: 1.0 };
            TestHistory { points: vec![point], ..test(system, &[]) }
        };
        let tests =
            vec![last_in("there", 20), last_in("lately", 19), last_in("first", 14), last_in("ever", 13)];
        let history = History {
            quantity: Quantity::Throughput,
            circumstances: String::new(),
            anchor: None,
            runs: (1..=20).collect(),
            tests,
        };
        let gate = HistoryGate { runs: 7, error_max: 0.05 };
        let names: Vec<&str> = gate.dropped_out(&history).iter().map(|test| test.system.as_str()).collect();
        assert_eq!(names, ["lately", "first"]);
    }

    #[test]
    fn many_tests_take_more_evidence_of_each() {
        let weak = || test("weak", &[(16, 0.9, 0.01)]);
        let steady = |count: usize| std::iter::repeat_with(|| test("steady", &[])).take(count);
        assert_eq!(named(Quantity::Throughput, steady(4).chain([weak()]).collect()), ["weak"]);
        assert!(named(Quantity::Throughput, steady(5).chain([weak()]).collect()).is_empty());
        let gate = HistoryGate { runs: 7, error_max: 0.05 };
        assert_eq!(gate.permutations(1), 20);
        let p_least = 1.0 / (gate.permutations(300) + 1) as f64;
        assert!(p_least * 300.0 <= gate.error_max);
    }
}
