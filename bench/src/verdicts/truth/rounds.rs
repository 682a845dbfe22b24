//! The fewest rounds in which every test of a family can have a verdict.

use dyno_stats::{CONFIDENCE, Margin, SharedTest, max_t};

use super::score::{Goal, Score};

const ROUNDS_MAX: usize = 20;

/// Finds the fewest rounds in which `max-t` decides all tests of a family if their differences are clear. There are two
/// families: one of 24 tests and one of 296.
pub(super) fn scores() -> Vec<Score> {
    let score = |tests: usize, goal: f64| {
        let rounds = (2..ROUNDS_MAX).find(|rounds| is_decided(tests, *rounds)).unwrap_or(ROUNDS_MAX);
        let what = "rounds for a verdict on every test of a family".to_owned();
        Score::count(what, format!("{tests} tests"), rounds, Goal::AtMost(goal))
    };
    vec![score(24, 6.0), score(296, 7.0)]
}

fn is_decided(tests: usize, rounds: usize) -> bool {
    let value = |test: usize, round: usize| 0.5 + 0.001 * ((round * 7 + test) % 5) as f64;
    let family: Vec<SharedTest> = (0..tests)
        .map(|test| SharedTest {
            ln_ratios: (0..rounds).map(|round| Some(value(test, round))).collect(),
            margin: Margin::least(),
        })
        .collect();
    max_t(&family, rounds, 1).iter().all(|p| *p <= 1.0 - CONFIDENCE)
}
