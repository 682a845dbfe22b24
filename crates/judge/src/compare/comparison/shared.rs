//! Adjusts the p-values of tests that share rounds, by max-T.

use std::collections::BTreeSet;

use dyno_stats::{SharedTest, max_t};

use super::test::Measured;
use crate::compare::pair::PairRound;
use crate::compare::rule::{ROUNDS_WITH_VERDICT_MIN, Rule};

/// Seed of the random sign reversals, which are used if there are too many rounds to try all reversals. It is
/// fixed, so that the same results always have the same verdicts.
const SEED: u64 = 15;

/// The adjusted p-values of tests by [`max_t`]; `None` unless every test has paired rounds or pairs of sessions.
pub(super) fn adjusted_by_rounds(tests: &[&Measured<'_>], rule: &Rule) -> Option<Vec<f64>> {
    let pairs: Vec<&[PairRound]> = tests.iter().map(|test| test.ratios.pairs()).collect::<Option<_>>()?;
    let rounds: BTreeSet<u32> = pairs.iter().copied().flatten().map(|round| round.round).collect();
    let shared = |(test, own): (&&Measured<'_>, &&[PairRound])| {
        // A test with too few rounds for a verdict is left out. With few rounds, t can be large by chance, and would
        // hide the differences that other tests show.
        let own = if own.len() < ROUNDS_WITH_VERDICT_MIN { &[] } else { *own };
        let of = |number: &u32| own.iter().find(|round| round.round == *number);
        let ln_ratios = rounds.iter().map(|number| Some(of(number)?.ln_ratio)).collect();
        SharedTest { ln_ratios, margin: test.alarm_margin }
    };
    let tests: Vec<SharedTest> = tests.iter().zip(&pairs).map(shared).collect();
    Some(max_t(&tests, rounds.len(), SEED).into_iter().map(|p| rule.over_looks(p)).collect())
}
