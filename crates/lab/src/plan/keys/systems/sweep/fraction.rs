//! Chooses a balanced fraction of all combinations of levels.

use std::collections::HashMap;

use dyno_stats::SplitMix64;

/// Maximum number of searches from random starts. The best result is taken.
const STARTS: usize = 30;
/// Maximum number of exchanges that all searches may try together. It limits the number of searches: one search is
/// assumed to try each possible exchange once. So there are fewer searches in a large sweep, but at least one.
const EXCHANGES: usize = 2_000_000;

/// Chooses `wanted` combinations of the levels of factors. `levels` is the number of levels of each factor. Returns
/// the numbers of the combinations in ascending order. The first combination, 0, is always among them.
///
/// Each level of a factor, and each pair of levels of two factors, is chosen about equally often, so that the
/// effects of factors are hardly confounded. Each search starts with random combinations, and exchanges chosen
/// combinations with others while that improves the balance (Fedorov, "Theory of Optimal Experiments", 1972). The
/// seed determines the starts.
pub(super) fn balanced(levels: &[usize], wanted: usize, seed: u64) -> Vec<usize> {
    let all: usize = levels.iter().product();
    let wanted = wanted.clamp(1, all);
    let exchanges = (wanted * (all - wanted)).max(1);
    let mut random = SplitMix64::new(seed);
    let starts = (0..STARTS.min(EXCHANGES / exchanges).max(1)).map(|_| {
        let mut others: Vec<usize> = (1..all).collect();
        random.shuffle(&mut others);
        let rest = others.split_off(wanted - 1);
        others.insert(0, 0);
        exchanged(levels, others, rest)
    });
    let best = starts.min_by_key(|(imbalance, _)| *imbalance);
    let mut chosen = best.map_or(vec![0], |(_, chosen)| chosen);
    chosen.sort_unstable();
    chosen
}

/// Exchanges chosen combinations with the rest while that improves the balance. The first chosen combination stays.
/// Returns the remaining imbalance and the chosen combinations.
fn exchanged(levels: &[usize], mut chosen: Vec<usize>, mut rest: Vec<usize>) -> (i64, Vec<usize>) {
    let mut counts = Counts::new(levels);
    for at in &chosen {
        counts.add(*at, 1);
    }
    let mut is_better = true;
    while is_better {
        is_better = false;
        for own in chosen.iter_mut().skip(1) {
            for other in &mut rest {
                let before = counts.imbalance();
                counts.add(*own, -1);
                counts.add(*other, 1);
                if counts.imbalance() < before {
                    std::mem::swap(own, other);
                    is_better = true;
                } else {
                    counts.add(*other, -1);
                    counts.add(*own, 1);
                }
            }
        }
    }
    (counts.imbalance(), chosen)
}

/// How often each level of each factor, and each pair of levels of two factors, is chosen.
struct Counts<'a> {
    levels: &'a [usize],
    /// Counts of pairs of levels, by two factors and their levels. A single level is counted as a pair with itself.
    of: HashMap<(usize, usize, usize, usize), i64>,
    /// Weighted sum of the squares of all counts. The weight is the number of levels of the factor, or the number
    /// of pairs of levels of both factors.
    imbalance: i64,
}

impl<'a> Counts<'a> {
    fn new(levels: &'a [usize]) -> Self {
        Self { levels, of: HashMap::new(), imbalance: 0 }
    }

    fn add(&mut self, at: usize, times: i64) {
        let own = combination(self.levels, at);
        for one in 0..own.len() {
            for two in one..own.len() {
                let is_single = one == two;
                let weight = self.levels[one] * if is_single { 1 } else { self.levels[two] };
                let count = self.of.entry((one, two, own[one], own[two])).or_default();
                self.imbalance += weight as i64 * ((*count + times).pow(2) - count.pow(2));
                *count += times;
            }
        }
    }

    fn imbalance(&self) -> i64 {
        self.imbalance
    }
}

/// Returns the level of each factor in the combination with the number `at`. As the number grows, the level of the last
/// factor changes fastest.
fn combination(levels: &[usize], mut at: usize) -> Vec<usize> {
    let mut combination: Vec<usize> = levels
        .iter()
        .rev()
        .map(|count| {
            let level = at % count;
            at /= count;
            level
        })
        .collect();
    combination.reverse();
    combination
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns how often each level of a factor is in the chosen combinations.
    fn counts(levels: &[usize], chosen: &[usize], factor: usize) -> Vec<usize> {
        let mut counts = vec![0; levels[factor]];
        for at in chosen {
            counts[combination(levels, *at)[factor]] += 1;
        }
        counts
    }

    #[test]
    fn half_of_two_by_two_by_two_is_the_half_replicate() {
        for seed in 0..20 {
            let half = balanced(&[2, 2, 2], 4, seed);
            assert_eq!(half, [0, 3, 5, 6], "each pair of levels once, with the first combination");
        }
    }

    #[test]
    fn levels_are_chosen_about_equally_often() {
        let levels = [2, 3, 2, 4];
        for wanted in [6, 12, 24, 40] {
            let chosen = balanced(&levels, wanted, 7);
            assert_eq!(chosen.len(), wanted);
            assert_eq!(chosen[0], 0);
            for factor in 0..levels.len() {
                let counts = counts(&levels, &chosen, factor);
                let (most, least) = (counts.iter().max().unwrap(), counts.iter().min().unwrap());
                assert!(most - least <= 1 + wanted / 12, "{wanted}: {counts:?}");
            }
        }
    }

    #[test]
    fn all_or_more_are_all() {
        assert_eq!(balanced(&[2, 3], 6, 1), [0, 1, 2, 3, 4, 5]);
        assert_eq!(balanced(&[2, 3], 9, 1), [0, 1, 2, 3, 4, 5]);
        assert_eq!(balanced(&[2, 3], 0, 1), [0]);
    }
}
