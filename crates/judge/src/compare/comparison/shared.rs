//! Max-T for tests that share rounds.

use std::collections::BTreeSet;

use dyno_stats::{SharedTest, max_t};

use super::test::Measured;
use crate::compare::pair::Ratios;
use crate::compare::rule::{ROUNDS_WITH_VERDICT_MIN, Rule};

/// Seed of the random sign reversals, which are used if there are too many rounds to try all reversals. It is
/// fixed, so that the same results always have the same verdicts.
const SEED: u64 = 15;

/// The adjusted p-values of tests by [`max_t`]; `None` unless every test has paired rounds.
pub(super) fn adjusted_by_rounds(tests: &[&Measured<'_>], rule: &Rule) -> Option<Vec<f64>> {
    let are_paired = tests.iter().all(|test| matches!(test.ratios, Ratios::Paired(_)));
    let rounds: BTreeSet<u32> =
        tests.iter().flat_map(|test| test.ratios.rounds()).map(|round| round.round).collect();
    let shared = |test: &&Measured<'_>| {
        // A test with too few rounds for a verdict is left out. Its t value of few rounds would hide what the other
        // tests show.
        let own = test.ratios.rounds();
        let own = if own.len() < ROUNDS_WITH_VERDICT_MIN { &[] } else { own };
        let of = |number: &u32| own.iter().find(|round| round.round == *number);
        let ln_ratios = rounds.iter().map(|number| Some(of(number)?.ln_ratio)).collect();
        SharedTest { ln_ratios, margin: test.alarm_margin }
    };
    are_paired.then(|| {
        let tests: Vec<SharedTest> = tests.iter().map(shared).collect();
        max_t(&tests, rounds.len(), SEED).into_iter().map(|p| rule.over_looks(p)).collect()
    })
}
