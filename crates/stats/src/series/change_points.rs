//! Change points of a history of results.

use serde::Serialize;

use crate::distribution::energy::{Distances, Split};
use crate::distribution::random::SplitMix64;
use crate::estimate::median::median;
use crate::series::dependence::{autoregression, block_length};

/// Parameters of the search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangeRule {
    /// Smallest number of values between two changes.
    pub segment_min: usize,
    /// Number of random permutations with which a change is compared.
    pub permutations: usize,
    /// Largest error probability of each change.
    pub p_max: f64,
    /// Changes are dropped if they change the median by less than this share of the median.
    pub effect_min: f64,
    /// Seed of the random permutations.
    pub seed: u64,
}

impl Default for ChangeRule {
    fn default() -> Self {
        Self { segment_min: 4, permutations: 999, p_max: 0.01, effect_min: 0.02, seed: 0 }
    }
}

/// The changes of a history.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChangePoints {
    /// In time order.
    pub changes: Vec<ChangePoint>,
    /// Correlation of neighbouring values after removing the changes of level; at least 0.
    pub autocorrelation: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ChangePoint {
    /// Index of the first value after the change.
    pub at: usize,
    /// Median from this change to the next change, as a multiple of the median from the previous change to this
    /// one.
    pub ratio: f64,
    /// Probability of a change at least as large under the null hypothesis that the values have a random order,
    /// except that neighbours correlate.
    pub p: f64,
}

/// Largest number of changes of level that are removed before the dependence of neighbours is estimated.
const CHANGES_MAX: usize = 6;

/// Searches a history, whose values are in time order, for changes.
///
/// The method is E-divisive. It splits the history where the energy distance between the values before and after is
/// largest, and then splits the parts in the same way. It continues as long as the p-value of the split is at most
/// `p_max`. This is p = (k + 1)/(R + 1) if k of R random permutations of the values within the parts give a distance at
/// least as large. Then it drops the changes that are too small to matter. (Matteson and James, "A nonparametric
/// approach for multiple change point analysis of multivariate data", Journal of the American Statistical Association
/// 109, 2014, arXiv:1306.4933; for benchmarks: Daly et al., ICPE 2020; Fleming et al., "Hunter", arXiv:2301.03034. A
/// t-test at the best split is not used, because the choice of the split makes its p too small.)
///
/// Neighbours may depend on each other: a host stays warm, or full, for days. Values are therefore permuted in blocks
/// of neighbours. The length of the blocks follows from the dependence. It is 1 for independent values. In each part,
/// the first block begins at a random value, and the last block wraps around the end of the part. (Kirch, "Block
/// permutation principles for the change analysis of dependent data", Journal of Statistical Planning and Inference
/// 137(7), 2007; blocks of neighbours: Künsch, Annals of Statistics 17(3), 1989; circular ones: Politis and Romano, "A
/// circular block-resampling procedure for stationary data", 1992.)
pub fn change_points(history: &[f64], rule: &ChangeRule) -> ChangePoints {
    // The distances within a part need at least two values.
    let segment_min = rule.segment_min.max(2);
    let mut random = SplitMix64::new(rule.seed);
    let distances = Distances::new(history);
    let mut bounds = vec![0, history.len()];
    let autocorrelation = autoregression(history, &strongest(&distances, history.len(), segment_min));
    let mut changes: Vec<(usize, f64)> = Vec::new();
    while let Some(split) = best(&distances, &bounds, segment_min) {
        let p = p_value(history, &bounds, autocorrelation, segment_min, split.divergence, rule, &mut random);
        if p > rule.p_max {
            break;
        }
        bounds.push(split.middle);
        bounds.sort_unstable();
        changes.push((split.middle, p));
    }
    changes.sort_by_key(|(at, _)| *at);
    ChangePoints { changes: drop_small(history, changes, rule.effect_min), autocorrelation }
}

/// The best split of any part.
fn best(distances: &Distances, bounds: &[usize], segment_min: usize) -> Option<Split> {
    bounds
        .windows(2)
        .filter_map(|part| distances.best_split(part[0], part[1], segment_min))
        .max_by(|a, b| a.divergence.total_cmp(&b.divergence))
}

/// Makes the best split of the series, then the best split of any of its parts, and so on. Returns the splits in this
/// order.
fn strongest(distances: &Distances, values: usize, segment_min: usize) -> Vec<usize> {
    let mut bounds = vec![0, values];
    let next = |_| {
        let split = best(distances, &bounds, segment_min)?;
        bounds.push(split.middle);
        bounds.sort_unstable();
        Some(split.middle)
    };
    (0..CHANGES_MAX).map_while(next).collect()
}

/// The p-value of a split: the share of random permutations within the parts whose best split has at least this
/// divergence. Returns 1 as soon as the share exceeds the limit.
fn p_value(
    history: &[f64],
    bounds: &[usize],
    autocorrelation: f64,
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
            let (from, to) = (part[0], part[1]);
            let length = block_length(autocorrelation, to - from);
            permute_blocks(&history[from..to], length, &mut shuffled[from..to], random);
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

/// Writes the values to `to` in blocks of this length, in random order. The first block begins at a random value,
/// and the last block wraps around to the beginning.
fn permute_blocks(values: &[f64], length: usize, to: &mut [f64], random: &mut SplitMix64) {
    let n = values.len();
    let start = if length > 1 { random.below(n) } else { 0 };
    let mut blocks: Vec<usize> = (0..n).step_by(length).collect();
    random.shuffle(&mut blocks);
    let places = blocks.into_iter().flat_map(|block| block..(block + length).min(n));
    for (value, place) in to.iter_mut().zip(places) {
        *value = values[(start + place) % n];
    }
}

/// Drops the smallest change repeatedly, until all remaining changes are large enough. Only one change is dropped at a
/// time, because each drop alters the sizes of the neighbouring changes.
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
mod tests;
