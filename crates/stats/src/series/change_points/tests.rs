use super::*;
use crate::testing::{assert_close, autoregression, hits_max, rates};

/// Annual flow of the Nile at Aswan, 1871 to 1970, in 10⁸ m³ (Cobb, "The problem of the Nile", Biometrika 65(2),
/// 1978). It drops in 1899.
const NILE: [f64; 100] = [
    1120.0, 1160.0, 963.0, 1210.0, 1160.0, 1160.0, 813.0, 1230.0, 1370.0, 1140.0, 995.0, 935.0, 1110.0,
    994.0, 1020.0, 960.0, 1180.0, 799.0, 958.0, 1140.0, 1100.0, 1210.0, 1150.0, 1250.0, 1260.0, 1220.0,
    1030.0, 1100.0, 774.0, 840.0, 874.0, 694.0, 940.0, 833.0, 701.0, 916.0, 692.0, 1020.0, 1050.0, 969.0,
    831.0, 726.0, 456.0, 824.0, 702.0, 1120.0, 1100.0, 832.0, 764.0, 821.0, 768.0, 845.0, 864.0, 862.0,
    698.0, 845.0, 744.0, 796.0, 1040.0, 759.0, 781.0, 865.0, 845.0, 944.0, 984.0, 897.0, 822.0, 1010.0,
    771.0, 676.0, 649.0, 846.0, 812.0, 742.0, 801.0, 1040.0, 860.0, 874.0, 848.0, 890.0, 744.0, 749.0, 838.0,
    1050.0, 918.0, 986.0, 797.0, 923.0, 975.0, 815.0, 1020.0, 906.0, 901.0, 1170.0, 912.0, 746.0, 919.0,
    718.0, 714.0, 740.0,
];

fn places(history: &[f64]) -> Vec<usize> {
    change_points(history, &ChangeRule::default()).changes.iter().map(|change| change.at).collect()
}

#[test]
fn the_nile_dropped_with_1899() {
    let found = change_points(&NILE, &ChangeRule::default()).changes;
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(1871 + found[0].at, 1899);
    assert_close(found[0].p, 0.001, 1e-12);
    assert_close(found[0].ratio, 839.0 / 1110.0, 0.05);
}

#[test]
fn changes_are_found_with_their_size_and_small_ones_dropped() {
    let mut random = SplitMix64::new(1);
    let parts = [1.0, 0.9, 0.9 * 1.06].map(|level| rates(&mut random, 15, 1000.0 * level, 0.005));
    // Outliers are not removed from the simulated rates, because a real history contains some.
    let found = change_points(&parts.concat(), &ChangeRule::default()).changes;
    assert_eq!(found.iter().map(|change| change.at).collect::<Vec<_>>(), [15, 30], "{found:?}");
    assert_close(found[0].ratio, 0.9, 0.01);
    let small = ChangeRule { effect_min: 0.08, ..ChangeRule::default() };
    assert_eq!(change_points(&parts.concat(), &small).changes.len(), 1);
}

#[test]
fn the_same_seed_gives_the_same_changes() {
    assert_eq!(change_points(&NILE, &ChangeRule::default()), change_points(&NILE, &ChangeRule::default()));
}

#[test]
fn short_or_constant_histories_have_no_change() {
    assert!(places(&[]).is_empty());
    assert!(places(&[1.0, 1.0, 5.0, 5.0]).is_empty());
    assert!(places(&[3.0; 40]).is_empty());
}

#[test]
fn where_nothing_changes_alarms_are_as_rare_as_promised() {
    let mut random = SplitMix64::new(2);
    let nothing_too_small = ChangeRule { effect_min: 0.0, permutations: 199, ..ChangeRule::default() };
    let alarms = (0..400).filter(|seed| {
        let history = rates(&mut random, 24, 1000.0, 0.02);
        !change_points(&history, &ChangeRule { seed: *seed, ..nothing_too_small }).changes.is_empty()
    });
    let alarms = alarms.count() as u32;
    assert!(alarms <= hits_max(400, 0.01), "{alarms}");
}

#[test]
fn a_planted_five_percent_is_found_with_its_place() {
    let mut random = SplitMix64::new(6);
    let found = (0..100).filter(|_| {
        let history = [rates(&mut random, 20, 1000.0, 0.015), rates(&mut random, 20, 950.0, 0.015)].concat();
        places(&history).first().is_some_and(|at| at.abs_diff(20) <= 1)
    });
    let found = found.count();
    assert!(found >= 60, "{found} of 100");
}

/// A history of nights that vary by 2% around 1000. Each night resembles the one before.
fn nights(random: &mut SplitMix64, n: usize, coefficient: f64) -> Vec<f64> {
    let deviation = 0.02 * (1.0 - coefficient * coefficient).sqrt();
    let nights = autoregression(random, n, coefficient);
    nights.into_iter().map(|night| 1000.0 * (deviation * (night - 100.0)).exp()).collect()
}

#[test]
fn a_year_in_which_nothing_changes_raises_no_alarm_though_nights_resemble_each_other() {
    let rule = ChangeRule { permutations: 99, ..ChangeRule::default() };
    for (coefficient, seed) in [(0.0, 1), (0.3, 2), (0.5, 3), (0.7, 4)] {
        let mut random = SplitMix64::new(seed);
        let alarms = (0..40)
            .filter(|seed| {
                let year = nights(&mut random, 365, coefficient);
                !change_points(&year, &ChangeRule { seed: *seed, ..rule }).changes.is_empty()
            })
            .count();
        // Permutations of single nights would raise an alarm in most years at a coefficient of 0.5.
        assert!(alarms as u32 <= hits_max(40, 0.05), "{coefficient}: {alarms} of 40 years");
    }
}

#[test]
fn short_histories_of_nights_that_resemble_each_other_raise_few_alarms() {
    let rule = ChangeRule { permutations: 99, ..ChangeRule::default() };
    for (coefficient, seed) in [(0.3, 5), (0.5, 6), (0.7, 7)] {
        let mut random = SplitMix64::new(seed);
        let alarms = (0..100)
            .filter(|seed| {
                let nights = nights(&mut random, 60, coefficient);
                !change_points(&nights, &ChangeRule { seed: *seed, ..rule }).changes.is_empty()
            })
            .count();
        assert!(alarms as u32 <= hits_max(100, 0.05), "{coefficient}: {alarms} of 100 histories");
    }
}

#[test]
fn a_planted_five_percent_is_found_among_nights_that_resemble_each_other() {
    let mut random = SplitMix64::new(8);
    let rule = ChangeRule { permutations: 199, ..ChangeRule::default() };
    let found = (0..40)
        .filter(|seed| {
            let mut history = nights(&mut random, 60, 0.5);
            history[30..].iter_mut().for_each(|night| *night *= 0.95);
            let found = change_points(&history, &ChangeRule { seed: *seed, ..rule });
            found.changes.iter().any(|change| change.at.abs_diff(30) <= 3 && change.ratio < 1.0)
        })
        .count();
    assert!(found >= 24, "{found} of 40");
}

#[test]
fn blocks_are_neighbours_around_the_end() {
    let mut random = SplitMix64::new(9);
    let values: Vec<f64> = (0..10).map(f64::from).collect();
    let mut to = vec![0.0; 10];
    for length in [1, 3, 10] {
        for _ in 0..50 {
            permute_blocks(&values, length, &mut to, &mut random);
            let mut sorted = to.clone();
            sorted.sort_by(f64::total_cmp);
            assert_eq!(sorted, values);
            let follows = |two: &&[f64]| ((two[0] + 1.0) % 10.0 - two[1]).abs() < 1e-9;
            let neighbours = to.windows(2).filter(follows).count();
            assert!(neighbours + 10_usize.div_ceil(length) >= 10, "{length}: {to:?}");
        }
    }
}
