mod leaving;
mod looks;

use super::*;
use crate::testing::{hits_max, normal, uniform};
use crate::{holm, ratio_of_rounds};

const ALPHA: f64 = 0.05;
fn none() -> Margin {
    Margin::new(0.0).unwrap()
}

/// Log ratios of a family: in each round, one value for each test.
type Family = Vec<Vec<f64>>;

fn shared(family: &Family, margin: Margin) -> Vec<SharedTest> {
    (0..family[0].len())
        .map(|test| SharedTest { ln_ratios: family.iter().map(|round| Some(round[test])).collect(), margin })
        .collect()
}

fn adjusted(family: &Family) -> Vec<f64> {
    max_t(&shared(family, none()), family.len(), 1)
}

/// How many of 400 families without a difference have an alarm.
fn alarms(rounds: usize, tests: usize, mut round: impl FnMut(&mut SplitMix64, usize) -> Vec<f64>) -> u32 {
    let mut random = SplitMix64::new(11);
    (0..400)
        .map(|_| {
            let family: Family = (0..rounds).map(|_| round(&mut random, tests)).collect();
            u32::from(adjusted(&family).iter().any(|p| *p <= ALPHA))
        })
        .sum()
}

#[test]
fn families_without_a_difference_seldom_alarm() {
    type Round = fn(&mut SplitMix64, usize) -> Vec<f64>;
    let independent: Round = |random, tests| (0..tests).map(|_| 0.03 * normal(random)).collect();
    // All tests of a round have a part of their noise in common, as if an instance had started fast.
    let dependent: Round = |random, tests| {
        let common = 0.03 * normal(random);
        (0..tests).map(|_| common + 0.02 * normal(random)).collect()
    };
    let unequal: Round = |random, tests| {
        (0..tests).map(|test| 0.01 * 1.25_f64.powi(test as i32 % 12) * normal(random)).collect()
    };
    let outliers: Round = |random, tests| {
        (0..tests).map(|_| if random.below(10) == 0 { 0.3 } else { 0.03 } * normal(random)).collect()
    };
    // A start is either fast or slow, for both systems with the same probability.
    let starts: Round = |random, tests| {
        let mut start = || if random.below(2) == 0 { 0.1 } else { 0.0 };
        let difference = start() - start();
        (0..tests).map(|_| difference + 0.01 * normal(random)).collect()
    };
    // Differences of two systems with the same skewed noise.
    let skewed: Round =
        |random, tests| (0..tests).map(|_| 0.03 * (uniform(random).ln() - uniform(random).ln())).collect();
    for (name, round) in [
        ("independent", independent),
        ("dependent", dependent),
        ("unequal", unequal),
        ("outliers", outliers),
        ("starts", starts),
        ("skewed", skewed),
    ] {
        for (rounds, tests) in [(6, 24), (8, 24), (6, 2)] {
            let found = alarms(rounds, tests, round);
            assert!(found <= hits_max(400, ALPHA), "{name}, {rounds} rounds, {tests} tests: {found} of 400");
        }
    }
}

#[test]
fn several_candidates_share_the_noise_of_their_base() {
    let found = alarms(6, 24, |random, tests| {
        // Three candidates, each in a third of the tests, against one base with skewed noise.
        let mut skewed = || -0.03 * uniform(random).ln();
        let base: Vec<f64> = (0..tests / 3).map(|_| skewed()).collect();
        (0..tests).map(|test| skewed() - base[test % base.len()]).collect()
    });
    assert!(found <= hits_max(400, ALPHA), "{found} of 400");
}

#[test]
fn tests_without_a_difference_seldom_alarm_beside_tests_with_one() {
    let mut random = SplitMix64::new(5);
    let mut alarms = 0;
    for _ in 0..400 {
        let family: Family = (0..8)
            .map(|_| {
                (0..24).map(|test| if test < 20 { 0.2 } else { 0.0 } + 0.03 * normal(&mut random)).collect()
            })
            .collect();
        alarms += u32::from(adjusted(&family)[20..].iter().any(|p| *p <= ALPHA));
    }
    assert!(alarms <= hits_max(400, ALPHA), "{alarms} of 400");
}

/// Share of 24 tests in which a difference of 10% is found: by max-T, and by Holm's correction of Wilcoxon's test.
fn found(rounds: usize) -> (f64, f64) {
    let mut random = SplitMix64::new(3);
    let (mut by_max_t, mut by_holm) = (0, 0);
    let count = |adjusted: Vec<f64>| adjusted.iter().filter(|p| **p <= ALPHA).count();
    for _ in 0..100 {
        let family: Family = (0..rounds)
            .map(|_| (0..24).map(|_| 1.1_f64.ln() + 0.04 * normal(&mut random)).collect())
            .collect();
        by_max_t += count(adjusted(&family));
        let alone = |test: usize| {
            let rounds: Vec<f64> = family.iter().map(|round| round[test]).collect();
            ratio_of_rounds(&rounds, none(), 0.95).unwrap().p()
        };
        by_holm += count(holm(&(0..24).map(alone).collect::<Vec<_>>()));
    }
    (f64::from(by_max_t as u32) / 2_400.0, f64::from(by_holm as u32) / 2_400.0)
}

#[test]
fn six_rounds_can_decide_24_tests() {
    for (rounds, least, holm_most) in [(6, 0.6, 0.0), (8, 0.85, 0.0), (10, 0.9, 1.0)] {
        let (by_max_t, by_holm) = found(rounds);
        assert!(
            by_max_t >= least && by_holm <= holm_most && by_max_t >= by_holm,
            "{rounds} rounds: {by_max_t} by max-T, {by_holm} by Holm"
        );
    }
}

#[test]
fn the_least_p_is_that_of_two_reversals_however_many_tests() {
    for tests in [1, 24, 296] {
        let clear: Family = (0..6)
            .map(|round| (0..tests).map(|test| 0.5 + 0.001 * f64::from((round * 7 + test) % 5)).collect())
            .collect();
        assert!(
            adjusted(&clear).iter().all(|p| (p - 2.0 / 64.0).abs() < 1e-12),
            "{tests}: {:?}",
            adjusted(&clear)
        );
    }
}

#[test]
fn differences_within_the_margin_do_not_alarm() {
    let family: Family = (0..8).map(|round| vec![0.01 + 0.0001 * f64::from(round), 0.05]).collect();
    let within = max_t(&shared(&family, Margin::new(0.02).unwrap()), 8, 1);
    assert!(within[0] > 0.5 && within[1] <= ALPHA, "{within:?}");
    assert!(adjusted(&family).iter().all(|p| *p <= ALPHA));
}

#[test]
fn rounds_may_be_missing_and_many_are_reversed_at_random() {
    let mut tests = shared(&(0..20).map(|round| vec![0.1 + 0.001 * f64::from(round), 0.0]).collect(), none());
    tests[0].ln_ratios[3] = None;
    tests.push(SharedTest { ln_ratios: vec![None; 20], margin: none() });
    let p = max_t(&tests, 20, 9);
    assert!(p[0] > 0.0 && p[0] < 0.001 && p[2] > 0.999, "{p:?}");
    assert_eq!(p, max_t(&tests, 20, 9));
    assert_eq!(max_t(&[], 6, 1), []);
}
