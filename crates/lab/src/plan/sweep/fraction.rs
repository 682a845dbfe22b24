//! Chooses a balanced fraction of all combinations of levels.

use dyno_stats::SplitMix64;

/// Some of the combinations of factors with these numbers of levels, in ascending order. The first combination is
/// always among them.
///
/// A greedy search adds the combination whose levels, and whose pairs of levels, were chosen least often. So effects of
/// single factors are hardly confounded with each other. The seed decides between equals.
pub(super) fn balanced(levels: &[usize], wanted: usize, seed: u64) -> Vec<usize> {
    let all: usize = levels.iter().product();
    let mut rest: Vec<usize> = (1..all).collect();
    SplitMix64::new(seed).shuffle(&mut rest);
    let mut chosen = vec![0];
    while chosen.len() < wanted.min(all) {
        let cost = |at: &usize| cost(levels, &chosen, *at);
        let best = (0..rest.len()).min_by_key(|place| cost(&rest[*place]));
        let Some(best) = best else { break };
        chosen.push(rest.remove(best));
    }
    chosen.sort_unstable();
    chosen
}

/// How often the levels of a combination, and their pairs, were chosen already, in multiples of their share.
fn cost(levels: &[usize], chosen: &[usize], at: usize) -> usize {
    let own = combination(levels, at);
    let shared = |other: &usize| {
        let other = combination(levels, *other);
        let same: Vec<usize> = (0..levels.len()).filter(|factor| own[*factor] == other[*factor]).collect();
        let single: usize = same.iter().map(|factor| levels[*factor]).sum();
        let pairs: usize = same
            .iter()
            .enumerate()
            .flat_map(|(at, one)| same[..at].iter().map(move |two| levels[*one] * levels[*two]))
            .sum();
        single + pairs
    };
    chosen.iter().map(shared).sum()
}

/// The level of each factor; the last factor changes first.
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

    /// How often each level of a factor is among some combinations.
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
            assert_eq!(half, [0, 3, 5, 6], "each pair of levels once");
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
