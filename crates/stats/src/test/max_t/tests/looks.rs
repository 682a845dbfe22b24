//! Families that are judged at looks: false alarms, and what a spending function gains over equal levels.

use super::*;
use crate::testing::equal_looks;
use crate::{Look, Looks};

const ROUNDS: usize = 12;
const TESTS: usize = 6;

/// For each test, the number of rounds at the look at which it has an alarm. Tests with an alarm are removed from the
/// family.
fn judge(family: &Family, looks: &Looks) -> Vec<Option<usize>> {
    let mut alarms = vec![None; family[0].len()];
    for &Look { rounds, alpha } in &looks.at {
        let members: Vec<usize> = (0..alarms.len()).filter(|test| alarms[*test].is_none()).collect();
        let all = shared(&family[..rounds].to_vec(), none());
        let own: Vec<SharedTest> = members.iter().map(|test| all[*test].clone()).collect();
        for (test, p) in members.iter().zip(max_t(&own, rounds, 1)) {
            alarms[*test] = (p <= alpha).then_some(rounds);
        }
    }
    alarms
}

/// Draws the noise of a round for all tests. The tests share a part of it.
type Noise = fn(&mut SplitMix64) -> Vec<f64>;

fn dependent(random: &mut SplitMix64) -> Vec<f64> {
    let common = 0.03 * normal(random);
    (0..TESTS).map(|_| common + 0.02 * normal(random)).collect()
}

fn unequal(random: &mut SplitMix64) -> Vec<f64> {
    let common = 0.01 * normal(random);
    (0..TESTS).map(|test| common + 0.01 * 1.8_f64.powi(test as i32) * normal(random)).collect()
}

fn outliers(random: &mut SplitMix64) -> Vec<f64> {
    let common = 0.02 * normal(random);
    let own = |random: &mut SplitMix64| if random.below(10) == 0 { 0.3 } else { 0.02 } * normal(random);
    (0..TESTS).map(|_| common + own(random)).collect()
}

/// Differences of two systems with the same skewed noise.
fn skewed(random: &mut SplitMix64) -> Vec<f64> {
    let own = |random: &mut SplitMix64| 0.03 * (uniform(random).ln() - uniform(random).ln());
    let common = own(random);
    (0..TESTS).map(|_| common + own(random)).collect()
}

fn families(number: usize, rounds: usize, noise: Noise, effects: [f64; TESTS]) -> Vec<Family> {
    let mut random = SplitMix64::new(23);
    let mut round = || -> Vec<f64> {
        noise(&mut random).into_iter().zip(effects).map(|(noise, effect)| effect + noise).collect()
    };
    (0..number).map(|_| (0..rounds).map(|_| round()).collect()).collect()
}

fn has_alarm(family: &Family, looks: &Looks, tests: std::ops::Range<usize>) -> bool {
    judge(family, looks)[tests].iter().any(Option::is_some)
}

#[test]
fn families_without_a_difference_seldom_alarm_at_any_look() {
    let looks = Looks::new(ROUNDS, ALPHA, 1).unwrap();
    // The mistake that the levels prevent: each look uses the whole error probability.
    let eager = Looks { at: (6..=ROUNDS).map(|rounds| Look { rounds, alpha: ALPHA }).collect() };
    let mut of_eager = 0;
    let noises: [(&str, Noise); 4] =
        [("dependent", dependent), ("unequal", unequal), ("outliers", outliers), ("skewed", skewed)];
    for (name, noise) in noises {
        let families = families(300, ROUNDS, noise, [0.0; TESTS]);
        let alarms =
            |looks: &Looks| families.iter().filter(|it| has_alarm(it, looks, 0..TESTS)).count() as u32;
        let found = alarms(&looks);
        assert!(found <= hits_max(300, ALPHA), "{name}: {found} of 300");
        of_eager += alarms(&eager);
    }
    assert!(of_eager > hits_max(1200, ALPHA), "{of_eager} of 1200");
}

#[test]
fn equals_seldom_alarm_beside_tests_that_left_the_family_at_earlier_looks() {
    let looks = Looks::new(ROUNDS, ALPHA, 1).unwrap();
    let families = families(300, ROUNDS, dependent, [0.3, 0.1, 0.05, 0.0, 0.0, 0.0]);
    let alarms = families.iter().filter(|family| has_alarm(family, &looks, 3..TESTS)).count();
    assert!(alarms as u32 <= hits_max(300, ALPHA), "{alarms} of 300");
}

#[test]
fn spending_finds_as_much_as_equal_levels_in_fewer_rounds() {
    const ROUNDS_MAX: usize = 20;
    let families = families(60, ROUNDS_MAX, outliers, [0.3, 0.15, 0.1, 0.07, 0.05, 0.04]);
    let count = |looks: &Looks| {
        let ends = families.iter().flat_map(|family| judge(family, looks));
        ends.fold((0, 0), |(found, rounds), end| {
            (found + usize::from(end.is_some()), rounds + end.unwrap_or(ROUNDS_MAX))
        })
    };
    let (found, rounds) = count(&Looks::new(ROUNDS_MAX, ALPHA, 1).unwrap());
    let (found_equal, rounds_equal) = count(&equal_looks(ROUNDS_MAX, ALPHA));
    assert!(found >= found_equal, "{found} found, {found_equal} with equal levels");
    assert!(rounds * 100 < rounds_equal * 97, "{rounds} rounds, {rounds_equal} with equal levels");
}
