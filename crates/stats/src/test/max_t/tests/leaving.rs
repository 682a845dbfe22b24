//! Tests that are no longer measured after a look ("left"): how many false alarms there are, and how many rounds this
//! saves.

use super::*;
use crate::{Look, Looks};

const ROUNDS: usize = 10;

/// The looks: after 7 and 10 rounds.
fn looks() -> Looks {
    Looks::new(ROUNDS, ALPHA, 1).unwrap()
}

/// Chooses the tests whose measurement stops at a look, from the t of each test that is still measured.
type Leaves = fn(&[(usize, f64)]) -> Vec<usize>;

/// The result of judging a family at all looks.
struct Judged {
    /// Whether each test has an alarm.
    alarms: Vec<bool>,
    /// For each test, the number of rounds in which it was measured.
    rounds: Vec<usize>,
}

/// Judges a family at each look. Tests with an alarm are removed from the family. The tests that `leaves` chooses are
/// no longer measured, but stay in the family with the rounds that they have. If `forgets` is set, they are removed
/// from the family too.
fn judge(family: &Family, leaves: Leaves, forgets: bool) -> Judged {
    let (looks, tests) = (looks(), family[0].len());
    let mut judged = Judged { alarms: vec![false; tests], rounds: vec![ROUNDS; tests] };
    let mut is_left = vec![false; tests];
    for Look { rounds: look, alpha } in looks.at {
        let is_member = |test: &usize| !(judged.alarms[*test] || forgets && is_left[*test]);
        let members: Vec<usize> = (0..tests).filter(is_member).collect();
        let of = |test: usize| SharedTest {
            ln_ratios: (0..look).map(|at| (at < judged.rounds[test]).then(|| family[at][test])).collect(),
            margin: none(),
        };
        let shared: Vec<SharedTest> = members.iter().map(|test| of(*test)).collect();
        let adjusted = max_t(&shared, look, 1);
        let mut measured = Vec::new();
        for (&test, p) in members.iter().zip(adjusted) {
            if is_left[test] {
                continue;
            }
            if p <= alpha {
                (judged.alarms[test], judged.rounds[test], is_left[test]) = (true, look, true);
            } else {
                let own: Vec<f64> = family[..look].iter().map(|round| round[test]).collect();
                measured.push((test, t(&own)));
            }
        }
        for test in leaves(&measured) {
            (judged.rounds[test], is_left[test]) = (look, true);
        }
    }
    judged
}

fn t(values: &[f64]) -> f64 {
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    mean.abs() / (variance(values).unwrap() / values.len() as f64).sqrt()
}

/// Chooses all tests except the one with the largest t. This is the worst choice if the chosen tests are then removed
/// from the family.
fn all_but_the_largest(measured: &[(usize, f64)]) -> Vec<usize> {
    let largest = measured.iter().max_by(|a, b| a.1.total_cmp(&b.1)).map(|(test, _)| *test);
    measured.iter().map(|(test, _)| *test).filter(|test| Some(*test) != largest).collect()
}

/// Chooses the tests that seem to have no difference.
fn small(measured: &[(usize, f64)]) -> Vec<usize> {
    measured.iter().filter(|(_, t)| *t < 1.0).map(|(test, _)| *test).collect()
}

fn nothing(_: &[(usize, f64)]) -> Vec<usize> {
    Vec::new()
}

/// A round of tests that share a part of their noise, with outliers.
fn round(random: &mut SplitMix64, tests: usize) -> Vec<f64> {
    let common = 0.02 * normal(random);
    let noise = |random: &mut SplitMix64| if random.below(10) == 0 { 0.1 } else { 0.02 } * normal(random);
    (0..tests).map(|_| common + noise(random)).collect()
}

fn families(number: usize, tests: usize, effects: &[f64]) -> Vec<Family> {
    let mut random = SplitMix64::new(17);
    let effect = |test: usize| effects.get(test).copied().unwrap_or(0.0);
    let mut round = || -> Vec<f64> {
        let noise = round(&mut random, tests).into_iter().enumerate();
        noise.map(|(test, noise)| effect(test) + noise).collect()
    };
    (0..number).map(|_| (0..ROUNDS).map(|_| round()).collect()).collect()
}

#[test]
fn leaving_tests_does_not_raise_false_alarms() {
    let families = families(300, 6, &[]);
    let alarms = |leaves: Leaves, forgets: bool| {
        families.iter().filter(|family| judge(family, leaves, forgets).alarms.contains(&true)).count() as u32
    };
    for (name, leaves) in [("small", small as Leaves), ("all but the largest", all_but_the_largest as Leaves)]
    {
        let found = alarms(leaves, false);
        assert!(found <= hits_max(300, ALPHA), "{name}: {found} of 300");
    }
    // If tests that are no longer measured are removed from the family, there are too many false alarms.
    let forgetful = alarms(all_but_the_largest, true);
    assert!(forgetful > hits_max(300, ALPHA), "{forgetful} of 300");
}

#[test]
fn equals_beside_tests_that_alarmed_seldom_alarm() {
    let families = families(300, 6, &[0.3, 0.3, 0.3]);
    let alarms = families.iter().filter(|family| judge(family, small, false).alarms[3..].contains(&true));
    assert!(alarms.count() as u32 <= hits_max(300, ALPHA));
}

#[test]
fn leaving_tests_finds_as_much_in_fewer_trials() {
    let families = families(100, 6, &[0.1, 0.1, 0.1]);
    let count = |leaves: Leaves| {
        families.iter().map(|family| judge(family, leaves, false)).fold((0, 0), |(found, trials), judged| {
            let alarms = judged.alarms[..3].iter().filter(|alarm| **alarm).count();
            (found + alarms, trials + judged.rounds.iter().sum::<usize>())
        })
    };
    let all_rounds: usize = families
        .iter()
        .map(|family| {
            let p = adjusted(family);
            p[..3].iter().filter(|p| **p <= looks().at.last().unwrap().alpha).count()
        })
        .sum();
    let (found, trials) = count(small);
    let (found_of_all, trials_of_alarms) = count(nothing);
    // With looks, nearly all the differences are found that would be found if every test were measured in all rounds.
    // Tests with an alarm end early. Tests without a difference end early too if a look may stop their measurement.
    assert!(found * 100 >= all_rounds * 97, "{found} found, {all_rounds} by all rounds");
    assert!(found_of_all >= all_rounds, "{found_of_all} found, {all_rounds} by all rounds");
    let planned = 100 * 6 * ROUNDS;
    assert!(trials * 100 < planned * 85, "{trials} of {planned} trials");
    assert!(trials < trials_of_alarms && trials_of_alarms < planned, "{trials_of_alarms}");
}
