use super::*;
use crate::testing::{assert_close, hits_max, rates};

fn unpaired(base: &[f64], candidate: &[f64]) -> Ratios {
    Ratios::Unpaired { base: base.to_vec(), candidate: candidate.to_vec() }
}

const BASE: [f64; 8] = [100.0, 102.0, 99.0, 101.0, 103.0, 98.0, 100.5, 101.5];
const CANDIDATE: [f64; 8] = [110.0, 113.0, 108.0, 111.0, 112.0, 109.0, 114.0, 110.5];

#[test]
fn the_interval_is_that_of_scipy() {
    // scipy.stats.bootstrap((candidate, base), ratio of medians, method="percentile", n_resamples=400_000)
    let found = Bootstrap::of_test(&unpaired(&BASE, &CANDIDATE), 1).unwrap();
    let interval = found.interval(0.95);
    assert_close(found.estimate, 110.75 / 100.75, 1e-12);
    assert_close(interval.low, 1.079_21, 0.002);
    assert_close(interval.high, 1.125_63, 0.002);
}

#[test]
fn the_same_seed_gives_the_same_interval() {
    let test = unpaired(&BASE, &CANDIDATE);
    assert_eq!(Bootstrap::of_test(&test, 3), Bootstrap::of_test(&test, 3));
    assert_ne!(Bootstrap::of_test(&test, 3), Bootstrap::of_test(&test, 4));
}

#[test]
fn p_values_are_shares_of_resamples() {
    let found = Bootstrap::of_test(&unpaired(&BASE, &CANDIDATE), 1).unwrap();
    assert_close(found.p_above(1.0), 1.0 / 10_001.0, 1e-12);
    assert_close(found.p_below(1.0), 1.0, 1e-12);
    assert!(found.p_above(found.estimate) > 0.3);
}

#[test]
fn too_few_trials_and_nothing_to_divide_by_have_no_interval() {
    assert_eq!(Bootstrap::of_test(&unpaired(&BASE[..5], &CANDIDATE), 1), None);
    assert_eq!(Bootstrap::of_test(&Ratios::Paired(vec![1.0; 5]), 1), None);
    assert_eq!(Bootstrap::of_test(&unpaired(&[0.0; 8], &CANDIDATE), 1), None);
    assert_eq!(Bootstrap::of_group(&[], 1), None);
    assert_eq!(unpaired(&[0.0; 8], &CANDIDATE).estimate(), None);
}

#[test]
fn a_group_s_mean_is_surer_than_its_tests() {
    let mut random = SplitMix64::new(8);
    let tests: Vec<Ratios> = (0..9).map(|_| Ratios::Paired(rates(&mut random, 10, 1.1, 0.05))).collect();
    let width = |interval: Interval| interval.high.ln() - interval.low.ln();
    let group = Bootstrap::of_group(&tests, 1).unwrap();
    let one = Bootstrap::of_test(&tests[0], 1).unwrap();
    assert_close(group.estimate, 1.1, 0.03);
    assert!(width(group.interval(0.95)) < width(one.interval(0.95)) / 2.0);
}

/// How often, of 300 experiments, the interval misses the truth.
fn misses(make: impl Fn(&mut SplitMix64) -> Vec<Ratios>, truth: f64) -> u32 {
    let mut random = SplitMix64::new(2);
    let experiments = (0..300).filter(|seed| {
        let interval = Bootstrap::of_group(&make(&mut random), *seed).unwrap().interval(0.95);
        truth < interval.low || truth > interval.high
    });
    experiments.count() as u32
}

#[test]
fn intervals_enclose_the_truth_as_often_as_they_say() {
    let one_unpaired = |random: &mut SplitMix64| {
        vec![Ratios::Unpaired { base: rates(random, 10, 1.0, 0.03), candidate: rates(random, 10, 1.2, 0.03) }]
    };
    assert!(misses(one_unpaired, 1.2) <= hits_max(300, 0.05));
    let group = |random: &mut SplitMix64| {
        (0..5)
            .map(|_| Ratios::Unpaired {
                base: rates(random, 8, 1.0, 0.03),
                candidate: rates(random, 8, 0.9, 0.03),
            })
            .collect()
    };
    assert!(misses(group, 0.9) <= hits_max(300, 0.05));
}
