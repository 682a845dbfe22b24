use super::*;
use crate::distribution::random::SplitMix64;
use crate::estimate::slices::slice_ratio;
use crate::test::multiple::holm;
use crate::testing::{assert_close, hits_max, normal};

/// Standard deviations of the logarithm of an instance's rate: no variation, some, and the largest observed between
/// servers.
const INSTANCES: [f64; 3] = [0.0, 0.05, 0.15];

/// Standard deviation of the logarithm of a slice's rate.
const SLICES: f64 = 0.05;

const CYCLES: u32 = 20;

fn nothing() -> Margin {
    Margin::new(0.0).unwrap()
}

/// Log ratio of a round, computed from slices. `base` and `candidate` are the logarithms of the instances' rates.
fn round(random: &mut SplitMix64, base: f64, candidate: f64) -> f64 {
    let mut slice = |instance: f64| instance + SLICES * normal(random);
    let cycles = (0..CYCLES).map(|cycle| {
        let base = slice(base);
        (cycle, slice(candidate) - base)
    });
    slice_ratio(&cycles.collect()).unwrap().ln_ratio
}

/// Log ratios of rounds, each with a new instance of both systems.
fn rounds(random: &mut SplitMix64, n: usize, instances: f64, truth: f64) -> Vec<f64> {
    (0..n)
        .map(|_| {
            let (base, own) = (instances * normal(random), instances * normal(random));
            round(random, base, truth + own)
        })
        .collect()
}

#[test]
fn a_few_rounds_have_student_s_interval() {
    // The interval is 0.7/3 ± 4.302653·0.152753/√3. t is √7, and with two degrees of freedom p = 1 − t/√(2 + t²).
    let found = ratio_of_rounds(&[0.1, 0.2, 0.4], nothing(), 0.95).unwrap();
    let interval = found.interval.unwrap();
    assert_eq!(found.method, Method::StudentT);
    assert_close(found.ratio.ln(), 0.7 / 3.0, 1e-12);
    assert_close(interval.low.ln(), -0.146_125_1, 1e-6);
    assert_close(interval.high.ln(), 0.612_791_8, 1e-6);
    assert_close(found.p(), 1.0 - 7_f64.sqrt() / 3.0, 1e-12);
}

#[test]
fn from_six_rounds_on_it_is_exact() {
    let ln_ratios = [0.3, 0.1, 0.2, 0.25, 0.15, 5.0];
    let found = ratio_of_rounds(&ln_ratios, nothing(), 0.95).unwrap();
    assert_eq!(found.method, Method::Exact);
    // Of the 21 means of two values in ascending order, the eleventh is 0.225: the mean of 0.15 and 0.3, or of 0.2 and
    // 0.25.
    assert_close(found.ratio.ln(), 0.225, 1e-12);
    assert_close(found.interval.unwrap().low.ln(), 0.1, 1e-12);
    assert_close(found.p(), 2.0 / 64.0, 1e-12);
    // With six rounds, order statistics reach a confidence of at most 97%.
    let sure = ratio_of_rounds(&ln_ratios, nothing(), 0.99).unwrap();
    assert_eq!(sure.method, Method::StudentT);
}

#[test]
fn one_round_has_no_interval_and_none_no_ratio() {
    let found = ratio_of_rounds(&[0.5], nothing(), 0.95).unwrap();
    assert_eq!((found.interval, found.method), (None, Method::None));
    assert_close(found.p(), 1.0, 0.0);
    assert_eq!(ratio_of_rounds(&[], nothing(), 0.95), None);
}

#[test]
fn rounds_without_any_difference_have_no_p_but_one_or_nothing() {
    let found = ratio_of_rounds(&[0.0; 3], nothing(), 0.95).unwrap();
    assert_close(found.p(), 1.0, 0.0);
    let apart = ratio_of_rounds(&[0.5; 3], nothing(), 0.95).unwrap();
    assert_close(apart.p(), 0.0, 0.0);
    assert_eq!(apart.interval.unwrap().low.to_bits(), apart.interval.unwrap().high.to_bits());
}

#[test]
fn an_interval_lies_beyond_the_margin_exactly_if_p_says_so() {
    let mut random = SplitMix64::new(1);
    let margin = Margin::new(0.02).unwrap();
    for n in [2, 3, 5, 6, 9, 20] {
        for _ in 0..300 {
            let ln_ratios: Vec<f64> = (0..n).map(|_| 0.05 + 0.03 * normal(&mut random)).collect();
            let found = ratio_of_rounds(&ln_ratios, margin, 0.95).unwrap();
            let interval = found.interval.unwrap();
            assert_eq!(interval.low > margin.high(), 2.0 * found.p_above <= 0.05, "{ln_ratios:?}");
            assert_eq!(interval.high < margin.low(), 2.0 * found.p_below <= 0.05, "{ln_ratios:?}");
        }
    }
}

#[test]
fn the_ratio_turns_round_with_the_systems() {
    let mut random = SplitMix64::new(4);
    for n in [3, 7] {
        let ln_ratios = rounds(&mut random, n, 0.05, 0.1);
        let turned: Vec<f64> = ln_ratios.iter().map(|ratio| -ratio).collect();
        let margin = Margin::new(0.02).unwrap();
        let (found, turned) = (
            ratio_of_rounds(&ln_ratios, margin, 0.95).unwrap(),
            ratio_of_rounds(&turned, margin, 0.95).unwrap(),
        );
        assert_close(found.ratio * turned.ratio, 1.0, 1e-12);
        assert_close(found.p_above, turned.p_below, 1e-12);
        assert_close(found.interval.unwrap().low * turned.interval.unwrap().high, 1.0, 1e-12);
    }
}

/// How many of 1000 comparisons raise an alarm (p ≤ 0.05, no margin), and how many intervals contain the true
/// ratio.
fn alarms_and_coverage(n: usize, instances: f64, truth: f64) -> (u32, u32) {
    let mut random = SplitMix64::new(20_261_122);
    let (mut alarms, mut enclosed) = (0, 0);
    for _ in 0..1000 {
        let found = ratio_of_rounds(&rounds(&mut random, n, instances, truth), nothing(), 0.95).unwrap();
        let interval = found.interval.unwrap();
        alarms += u32::from(found.p() <= 0.05);
        enclosed += u32::from(interval.low <= truth.exp() && truth.exp() <= interval.high);
    }
    (alarms, enclosed)
}

#[test]
fn between_equals_alarms_are_as_rare_as_promised_however_servers_differ() {
    for instances in INSTANCES {
        for n in [2, 3, 5, 6, 8, 12, 20] {
            let (alarms, _) = alarms_and_coverage(n, instances, 0.0);
            assert!(alarms <= hits_max(1000, 0.05), "{n} rounds, instances {instances}: {alarms}");
        }
    }
}

#[test]
fn intervals_enclose_the_truth_as_often_as_they_say_however_servers_differ() {
    for instances in INSTANCES {
        for (n, highest) in [(3, 970), (5, 970), (6, 990), (8, 1000), (20, 985)] {
            let (_, enclosed) = alarms_and_coverage(n, instances, -0.2);
            assert!((930..=highest).contains(&enclosed), "{n} rounds, instances {instances}: {enclosed}");
        }
    }
}

/// The slices of one pair of instances show how that pair differs. They show nothing about other instances.
/// Student's t of a trimmed mean is an approximation: with 20 cycles, 5.7% of its 95% intervals miss the true
/// ratio.
#[test]
fn intervals_from_the_slices_of_one_round_miss_what_servers_differ_by() {
    let mut random = SplitMix64::new(6);
    let mut missed = |instances: f64| {
        let missed = (0..4000).filter(|_| {
            let (base, own) = (instances * normal(&mut random), instances * normal(&mut random));
            let cycles = (0..CYCLES).map(|cycle| (cycle, own - base + SLICES * normal(&mut random)));
            slice_ratio(&cycles.collect()).unwrap().interval(0.95).unwrap().excludes_one()
        });
        missed.count()
    };
    assert!(missed(0.0) <= hits_max(4000, 0.055) as usize);
    assert!(missed(0.05) > 2000 && missed(0.15) > 3200);
}

/// Log ratios of rounds. Each instance is fast or slow by chance, and stays so until it is stopped.
fn two_modes(random: &mut SplitMix64, n: usize) -> Vec<f64> {
    (0..n)
        .map(|_| {
            let mut mode = || if random.below(2) == 0 { 0.0 } else { 0.3 };
            let (base, own) = (mode(), mode());
            round(random, base, own)
        })
        .collect()
}

#[test]
fn three_rounds_are_enough_for_servers_of_two_kinds_and_two_are_not() {
    let mut random = SplitMix64::new(8);
    let mut alarms = |n| {
        let alarms = (0..2000)
            .filter(|_| ratio_of_rounds(&two_modes(&mut random, n), nothing(), 0.95).unwrap().p() <= 0.05);
        alarms.count() as u32
    };
    let two = alarms(2);
    assert!(two > hits_max(2000, 0.05), "{two}");
    for n in [3, 4, 5, 6] {
        let found = alarms(n);
        assert!(found <= hits_max(2000, 0.05), "{n} rounds: {found}");
    }
}

/// Simulates runs of 24 tests. In each round, all tests share the same instances.
#[test]
fn among_24_tests_one_false_alarm_is_as_rare_as_promised() {
    let mut random = SplitMix64::new(3);
    for instances in INSTANCES {
        for n in [3, 5, 10] {
            let alarms = (0..300).filter(|_| {
                let servers: Vec<(f64, f64)> = (0..n)
                    .map(|_| (instances * normal(&mut random), instances * normal(&mut random)))
                    .collect();
                let p: Vec<f64> = (0..24)
                    .map(|_| {
                        let ln_ratios: Vec<f64> =
                            servers.iter().map(|(base, own)| round(&mut random, *base, *own)).collect();
                        ratio_of_rounds(&ln_ratios, nothing(), 0.95).unwrap().p()
                    })
                    .collect();
                holm(&p).iter().any(|p| *p <= 0.05)
            });
            let alarms = alarms.count() as u32;
            assert!(alarms <= hits_max(300, 0.05), "{n} rounds, instances {instances}: {alarms}");
        }
    }
}
