//! Geometric means over tests, with their intervals over rounds.

use std::collections::BTreeMap;

use dyno_stats::{RatioEstimate, ratio_of_rounds};

use super::GroupMean;
use super::test::Measured;
use crate::compare::pair::{PairRound, Ratios, mean_of_one_round};
use crate::compare::rule::Rule;
use crate::compare::sessions::{Replicates, Unpaired, estimate};

/// The mean of each group in which at least two tests have a ratio, in run order. Empty if there is only one group,
/// because the mean of that group is the overall mean.
pub(super) fn group_means(tests: &[Measured<'_>], rule: &Rule) -> Vec<GroupMean> {
    let groups: Vec<&[Measured<'_>]> = tests.chunk_by(|a, b| a.step.group == b.step.group).collect();
    if groups.len() == 1 {
        return Vec::new();
    }
    groups
        .into_iter()
        .filter_map(|group| mean(&group[0].step.group, group, rule))
        .filter(|mean| mean.tests > 1)
        .collect()
}

/// The mean over all tests; `None` without a ratio.
pub(super) fn overall(tests: &[Measured<'_>], rule: &Rule) -> Option<GroupMean> {
    mean("", tests, rule)
}

/// The mean over some tests. An instance affects all tests of its round. Therefore the mean over tests is computed
/// for each round first, and the interval is computed from these means.
fn mean(name: &str, tests: &[Measured<'_>], rule: &Rule) -> Option<GroupMean> {
    let ratios: Vec<&Ratios> =
        tests.iter().map(|test| &test.ratios).filter(|ratios| ratios.len() > 0).collect();
    let are_apart = |ratios: &&Ratios| matches!(ratios, Ratios::Sessions(pairs) if pairs.are_apart());
    let found = match ratios.first()? {
        _ if ratios.iter().all(are_apart) => apart(&ratios, rule)?,
        Ratios::Paired(_) | Ratios::Sessions(_) => paired(&ratios, rule)?,
        Ratios::Unpaired(unpaired) => self::unpaired(unpaired.replicates, &ratios, rule)?,
    };
    let RatioEstimate { ratio, interval, method, .. } = found.estimate;
    Some(GroupMean {
        group: name.to_owned(),
        tests: found.tests,
        ratio,
        interval,
        method,
        rounds: found.rounds,
    })
}

struct Mean {
    estimate: RatioEstimate,
    tests: usize,
    rounds: usize,
}

fn paired(ratios: &[&Ratios], rule: &Rule) -> Option<Mean> {
    let rows: Vec<BTreeMap<u32, &PairRound>> = ratios
        .iter()
        .map(|ratios| ratios.pairs().into_iter().flatten().map(|round| (round.round, round)).collect())
        .collect();
    let block = Block::of(&rows);
    let [only] = block.rounds.as_slice() else {
        let means = block.means(&rows, |round| round.ln_ratio);
        let estimate = ratio_of_rounds(&means, rule.margin, rule.confidence())?;
        return Some(Mean { estimate, tests: block.tests.len(), rounds: means.len() });
    };
    let of_round: Vec<&PairRound> = block.tests.iter().map(|test| rows[*test][only]).collect();
    let estimate = mean_of_one_round(&of_round, rule.confidence())?;
    Some(Mean { estimate, tests: of_round.len(), rounds: 1 })
}

/// The mean over tests whose sides did not take turns. Each test's ratio is that of all its sessions.
fn apart(ratios: &[&Ratios], rule: &Rule) -> Option<Mean> {
    let estimates = ratios.iter().filter_map(|ratios| ratios.estimate(rule.margin, rule.confidence()));
    let ln_ratios: Vec<f64> = estimates.map(|estimate| estimate.ratio.ln()).collect();
    let mean = ln_ratios.iter().sum::<f64>() / ln_ratios.len() as f64;
    (!ln_ratios.is_empty()).then(|| Mean {
        estimate: RatioEstimate::without_interval(mean.exp()),
        tests: ln_ratios.len(),
        rounds: 1,
    })
}

fn unpaired(replicates: Replicates, ratios: &[&Ratios], rule: &Rule) -> Option<Mean> {
    let rows = |is_base: bool| -> Vec<BTreeMap<u32, f64>> {
        let sides = ratios.iter().filter_map(|ratios| match ratios {
            Ratios::Unpaired(Unpaired { base, candidate, .. }) => {
                Some(if is_base { base } else { candidate })
            }
            Ratios::Paired(_) | Ratios::Sessions(_) => None,
        });
        sides.map(|side| side.iter().copied().collect()).collect()
    };
    let (mut base, mut own) = (rows(true), rows(false));
    let tests: Vec<usize> = {
        let of_own = Block::of(&own).tests;
        Block::of(&base).tests.into_iter().filter(|test| of_own.contains(test)).collect()
    };
    for side in [&mut base, &mut own] {
        *side = tests.iter().map(|test| side[*test].clone()).collect();
    }
    let means = |rows: &[BTreeMap<u32, f64>]| Block::of(rows).means(rows, |value| *value);
    let (base, own) = (means(&base), means(&own));
    let estimate = estimate(replicates, &base, &own, rule.margin, rule.confidence())?;
    Some(Mean { estimate, tests: tests.len(), rounds: base.len().min(own.len()) })
}

/// A set of tests and rounds. Every test has a value in every round.
struct Block {
    tests: Vec<usize>,
    rounds: Vec<u32>,
}

impl Block {
    /// Chooses tests and rounds such that no value is missing. First, rounds in which few tests have a value are
    /// dropped. Then tests without a value in one of the remaining rounds are dropped. Of all limits for "few", the one
    /// that keeps the most values is used. So the last round of an interrupted run is dropped, or a test that failed
    /// once.
    fn of<T>(rows: &[BTreeMap<u32, T>]) -> Self {
        let mut counts: BTreeMap<u32, usize> = BTreeMap::new();
        for round in rows.iter().flat_map(BTreeMap::keys) {
            *counts.entry(*round).or_default() += 1;
        }
        let mut least: Vec<usize> = counts.values().copied().collect();
        least.sort_unstable();
        least.dedup();
        let block = |least: usize| {
            let rounds: Vec<u32> =
                counts.iter().filter(|(_, count)| **count >= least).map(|(round, _)| *round).collect();
            let has_all = |test: &usize| rounds.iter().all(|round| rows[*test].contains_key(round));
            Self { tests: (0..rows.len()).filter(has_all).collect(), rounds }
        };
        let size = |block: &Self| block.tests.len() * block.rounds.len();
        // If several limits keep equally many values, `max_by_key` returns the last. It keeps the most tests.
        least
            .into_iter()
            .map(block)
            .max_by_key(size)
            .unwrap_or(Self { tests: Vec::new(), rounds: Vec::new() })
    }

    /// The mean of each round.
    fn means<T>(&self, rows: &[BTreeMap<u32, T>], value: impl Fn(&T) -> f64) -> Vec<f64> {
        let mean = |round: &u32| {
            let values = self.tests.iter().map(|test| value(&rows[*test][round]));
            values.sum::<f64>() / self.tests.len() as f64
        };
        if self.tests.is_empty() { Vec::new() } else { self.rounds.iter().map(mean).collect() }
    }
}
