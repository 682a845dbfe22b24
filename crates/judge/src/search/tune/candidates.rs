//! The candidates with which a search for better settings begins.

use std::collections::{BTreeMap, BTreeSet};

use dyno_stats::SplitMix64;
use serde::Serialize;

/// Settings whose values differ from the base's. Maps the index of a setting to the index of its value.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct ValueSet(pub BTreeMap<usize, usize>);

impl ValueSet {
    /// The set without a setting.
    #[must_use]
    pub fn without(&self, setting: usize) -> Self {
        let mut values = self.0.clone();
        values.remove(&setting);
        Self(values)
    }

    /// The set with only this setting; empty if the set lacks it.
    #[must_use]
    pub fn only(&self, setting: usize) -> Self {
        Self(self.0.get(&setting).map(|value| (setting, *value)).into_iter().collect())
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Maximum number of Latin hypercubes that are tried. If these have fewer different combinations than were requested,
/// the search gets fewer candidates.
const DESIGNS_MAX: usize = 20;

/// Up to `number` candidates for a search. `space` has the number of values of each setting, without the base's
/// value. Settings are in order of importance. The values of a setting are in order of their distance from the
/// base's value.
///
/// Half of the candidates change one setting: first each setting to its nearest value, then each setting to the
/// next value, and so on. The other candidates change many settings. They are a Latin hypercube (`McKay`, Beckman
/// and Conover, Technometrics 21(2), 1979), in which each value of a setting, including the base's, occurs about
/// equally often.
pub fn candidates(space: &[usize], number: usize, seed: u64) -> Vec<ValueSet> {
    let mut singles = singles(space);
    let of_many = combinations(space, number / 2, seed);
    singles.truncate(number.saturating_sub(of_many.len()));
    singles.into_iter().chain(of_many).collect()
}

/// Candidates that change a single setting, one for each value of each setting. First come the values nearest to the
/// base's, one for each setting, then the second nearest, and so on.
fn singles(space: &[usize]) -> Vec<ValueSet> {
    let farthest = space.iter().copied().max().unwrap_or(0);
    let at = |value: usize| {
        let with = move |(setting, values): (usize, &usize)| {
            (value < *values).then(|| ValueSet([(setting, value)].into()))
        };
        space.iter().enumerate().filter_map(with)
    };
    (0..farthest).flat_map(at).collect()
}

/// Up to `number` combinations of two settings or more.
fn combinations(space: &[usize], number: usize, seed: u64) -> Vec<ValueSet> {
    let mut random = SplitMix64::new(seed);
    let mut found = Vec::new();
    let mut known = BTreeSet::new();
    for _ in 0..DESIGNS_MAX {
        for set in hypercube(space, number, &mut random) {
            if found.len() < number && set.0.len() > 1 && known.insert(set.clone()) {
                found.push(set);
            }
        }
    }
    found
}

/// A Latin hypercube of `number` combinations.
fn hypercube(space: &[usize], number: usize, random: &mut SplitMix64) -> Vec<ValueSet> {
    let mut sets = vec![ValueSet::default(); number];
    for (setting, values) in space.iter().enumerate() {
        let mut order: Vec<usize> = (0..number).collect();
        random.shuffle(&mut order);
        // If `number` is not a multiple of the number of levels, some levels occur once more than others. Chance
        // decides which.
        let shift = random.below(number.max(1));
        for (set, place) in sets.iter_mut().zip(order) {
            // Level 0 is the base's value.
            let level = ((place * (values + 1) + shift) / number) % (values + 1);
            if let Some(value) = level.checked_sub(1) {
                set.0.insert(setting, value);
            }
        }
    }
    sets
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_change_one_setting_and_the_rest_many() {
        let found = candidates(&[3, 1, 2], 8, 1);
        let singles: Vec<_> = found[..4].iter().map(|set| set.0.clone()).collect();
        assert_eq!(singles, [[(0, 0)].into(), [(1, 0)].into(), [(2, 0)].into(), [(0, 1)].into()]);
        assert_eq!(found.len(), 8);
        assert!(found[4..].iter().all(|set| set.0.len() > 1), "{found:?}");
        assert_eq!(found.iter().collect::<BTreeSet<_>>().len(), 8, "none is there twice");
    }

    #[test]
    fn the_seed_decides_the_combinations_and_nothing_else() {
        let space = [3, 1, 2, 2, 2];
        assert_eq!(candidates(&space, 12, 7), candidates(&space, 12, 7));
        assert_ne!(candidates(&space, 12, 7), candidates(&space, 12, 8));
        assert_eq!(candidates(&space, 12, 7)[..6], candidates(&space, 12, 8)[..6]);
    }

    #[test]
    fn a_small_space_has_no_more_than_it_has() {
        assert_eq!(candidates(&[1], 8, 1), [ValueSet([(0, 0)].into())]);
        let found = candidates(&[1, 1], 8, 1);
        assert_eq!(found.len(), 3, "{found:?}");
        assert!(candidates(&[], 8, 1).is_empty());
    }

    #[test]
    fn every_value_occurs_about_as_often() {
        let mut random = SplitMix64::new(3);
        let sets = hypercube(&[3, 1], 16, &mut random);
        for value in 0..3 {
            let with = sets.iter().filter(|set| set.0.get(&0) == Some(&value)).count();
            assert_eq!(with, 4, "value {value}");
        }
        assert_eq!(sets.iter().filter(|set| set.0.contains_key(&1)).count(), 8);
    }
}
