//! Change points of a history of results.

use serde::Serialize;

use crate::energy::{Distances, Split};
use crate::median::median;
use crate::random::SplitMix64;

/// Parameters of the search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangeRule {
    /// Smallest number of values between two changes.
    pub segment_min: usize,
    /// Random permutations with which a change is compared.
    pub permutations: usize,
    /// Largest error probability of each change.
    pub p_max: f64,
    /// Changes of the median by less than this share of it are dropped.
    pub effect_min: f64,
    /// Seed of the random permutations.
    pub seed: u64,
}

impl Default for ChangeRule {
    fn default() -> Self {
        Self { segment_min: 4, permutations: 999, p_max: 0.01, effect_min: 0.02, seed: 0 }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ChangePoint {
    /// Index of the first value after the change.
    pub at: usize,
    /// Median from this change to the next one, as a multiple of the median from the last change to this one.
    pub ratio: f64,
    /// Probability of a change as large if the order of the values is random.
    pub p: f64,
}

/// Searches a history for changes in time order.
///
/// E-divisive: splits the history where the energy distance between the values before and after is largest, then splits
/// the parts in the same way. It continues as long as permuting the values within the parts gives a distance as large
/// in at most `p_max` of the cases, p = (k + 1)/(R + 1). Then it drops the changes that are too small to matter.
/// (Matteson and James, "A nonparametric approach for multiple change point analysis of multivariate data", Journal of
/// the American Statistical Association 109, 2014, arXiv:1306.4933; for benchmarks: Daly et al., ICPE 2020; Fleming et
/// al., "Hunter", arXiv:2301.03034. A t-test at the best split is not used, because the choice of the split makes its p
/// too small.)
pub fn change_points(history: &[f64], rule: &ChangeRule) -> Vec<ChangePoint> {
    // A part with one value has no distance within it.
    let segment_min = rule.segment_min.max(2);
    let mut random = SplitMix64::new(rule.seed);
    let distances = Distances::new(history);
    let mut bounds = vec![0, history.len()];
    let mut changes: Vec<(usize, f64)> = Vec::new();
    while let Some(split) = best(&distances, &bounds, segment_min) {
        let p = p_value(history, &bounds, segment_min, split.divergence, rule, &mut random);
        if p > rule.p_max {
            break;
        }
        bounds.push(split.middle);
        bounds.sort_unstable();
        changes.push((split.middle, p));
    }
    changes.sort_by_key(|(at, _)| *at);
    drop_small(history, changes, rule.effect_min)
}

/// The best split of any part.
fn best(distances: &Distances, bounds: &[usize], segment_min: usize) -> Option<Split> {
    bounds
        .windows(2)
        .filter_map(|part| distances.best_split(part[0], part[1], segment_min))
        .max_by(|a, b| a.divergence.total_cmp(&b.divergence))
}

/// Share of random permutations within the parts that have a split as large. Stops when the share exceeds the limit.
fn p_value(
    history: &[f64],
    bounds: &[usize],
    segment_min: usize,
    divergence: f64,
    rule: &ChangeRule,
    random: &mut SplitMix64,
) -> f64 {
    let of = (rule.permutations + 1) as f64;
    let mut shuffled = history.to_vec();
    let mut distances = Distances::new(history);
    let mut as_great = 0;
    for _ in 0..rule.permutations {
        for part in bounds.windows(2) {
            random.shuffle(&mut shuffled[part[0]..part[1]]);
        }
        distances.fill(&shuffled);
        let found = best(&distances, bounds, segment_min);
        as_great += usize::from(found.is_some_and(|found| found.divergence >= divergence));
        if (as_great + 1) as f64 / of > rule.p_max {
            return 1.0;
        }
    }
    (as_great + 1) as f64 / of
}

/// Drops the smallest change while it is too small. One change at a time, because each dropped one alters its
/// neighbours.
fn drop_small(history: &[f64], mut changes: Vec<(usize, f64)>, effect_min: f64) -> Vec<ChangePoint> {
    loop {
        let found = describe(history, &changes);
        let size = |change: &ChangePoint| change.ratio.ln().abs();
        let smallest = found.iter().enumerate().min_by(|a, b| size(a.1).total_cmp(&size(b.1)));
        match smallest {
            Some((at, change)) if size(change) < effect_min.ln_1p() => changes.remove(at),
            _ => return found,
        };
    }
}

fn describe(history: &[f64], changes: &[(usize, f64)]) -> Vec<ChangePoint> {
    let ends = changes.iter().map(|(at, _)| *at).chain([history.len()]).skip(1);
    let starts = [0].into_iter().chain(changes.iter().map(|(at, _)| *at));
    let level = |from: usize, to: usize| median(&history[from..to]).unwrap_or_default();
    let parts = starts.zip(changes).zip(ends);
    parts
        .map(|((from, &(at, p)), to)| ChangePoint { at, ratio: level(at, to) / level(from, at), p })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{assert_close, hits_max, rates};

    /// Annual flow of the Nile at Aswan, 1871 to 1970, in 10⁸ m³ (Cobb, "The problem of the Nile", Biometrika 65(2),
    /// 1978). It drops in 1899.
    const NILE: [f64; 100] = [
        1120.0, 1160.0, 963.0, 1210.0, 1160.0, 1160.0, 813.0, 1230.0, 1370.0, 1140.0, 995.0, 935.0, 1110.0,
        994.0, 1020.0, 960.0, 1180.0, 799.0, 958.0, 1140.0, 1100.0, 1210.0, 1150.0, 1250.0, 1260.0, 1220.0,
        1030.0, 1100.0, 774.0, 840.0, 874.0, 694.0, 940.0, 833.0, 701.0, 916.0, 692.0, 1020.0, 1050.0, 969.0,
        831.0, 726.0, 456.0, 824.0, 702.0, 1120.0, 1100.0, 832.0, 764.0, 821.0, 768.0, 845.0, 864.0, 862.0,
        698.0, 845.0, 744.0, 796.0, 1040.0, 759.0, 781.0, 865.0, 845.0, 944.0, 984.0, 897.0, 822.0, 1010.0,
        771.0, 676.0, 649.0, 846.0, 812.0, 742.0, 801.0, 1040.0, 860.0, 874.0, 848.0, 890.0, 744.0, 749.0,
        838.0, 1050.0, 918.0, 986.0, 797.0, 923.0, 975.0, 815.0, 1020.0, 906.0, 901.0, 1170.0, 912.0, 746.0,
        919.0, 718.0, 714.0, 740.0,
    ];

    fn places(history: &[f64]) -> Vec<usize> {
        change_points(history, &ChangeRule::default()).iter().map(|change| change.at).collect()
    }

    #[test]
    fn the_nile_dropped_with_1899() {
        let found = change_points(&NILE, &ChangeRule::default());
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(1871 + found[0].at, 1899);
        assert_close(found[0].p, 0.001, 1e-12);
        assert_close(found[0].ratio, 839.0 / 1110.0, 0.05);
    }

    #[test]
    fn changes_are_found_with_their_size_and_small_ones_dropped() {
        let mut random = SplitMix64::new(1);
        let parts = [1.0, 0.9, 0.9 * 1.06].map(|level| rates(&mut random, 15, 1000.0 * level, 0.005));
        // Outliers are kept, because a history contains some.
        let found = change_points(&parts.concat(), &ChangeRule::default());
        assert_eq!(found.iter().map(|change| change.at).collect::<Vec<_>>(), [15, 30], "{found:?}");
        assert_close(found[0].ratio, 0.9, 0.01);
        let small = ChangeRule { effect_min: 0.08, ..ChangeRule::default() };
        assert_eq!(change_points(&parts.concat(), &small).len(), 1);
    }

    #[test]
    fn the_same_seed_gives_the_same_changes() {
        assert_eq!(
            change_points(&NILE, &ChangeRule::default()),
            change_points(&NILE, &ChangeRule::default())
        );
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
            !change_points(&history, &ChangeRule { seed: *seed, ..nothing_too_small }).is_empty()
        });
        let alarms = alarms.count() as u32;
        assert!(alarms <= hits_max(400, 0.01), "{alarms}");
    }

    #[test]
    fn a_planted_five_percent_is_found_with_its_place() {
        let mut random = SplitMix64::new(6);
        let found = (0..100).filter(|_| {
            let history =
                [rates(&mut random, 12, 1000.0, 0.015), rates(&mut random, 12, 950.0, 0.015)].concat();
            places(&history).first().is_some_and(|at| at.abs_diff(12) <= 1)
        });
        let found = found.count();
        assert!(found >= 60, "{found} of 100");
    }
}
