//! Geometric means over tests, with their intervals.

use dyno_stats::{Bootstrap, Ratios, geometric_mean};

use super::GroupMean;
use super::build::Measured;
use crate::rule::Rule;

/// The mean of each group that has more than one ratio, in run order; none if there is one group only, which is all
/// tests.
pub(super) fn group_means(tests: &[Measured<'_>], rule: &Rule, seed: u64) -> Vec<GroupMean> {
    let groups: Vec<&[Measured<'_>]> = tests.chunk_by(|a, b| a.step.group == b.step.group).collect();
    if groups.len() == 1 {
        return Vec::new();
    }
    groups
        .into_iter()
        .filter_map(|group| mean(&group[0].step.group, group.iter(), rule, seed))
        .filter(|mean| mean.tests > 1)
        .collect()
}

/// The mean over some tests; none without a ratio.
pub(super) fn mean<'a, 'b: 'a>(
    name: &str,
    tests: impl Iterator<Item = &'a Measured<'b>>,
    rule: &Rule,
    seed: u64,
) -> Option<GroupMean> {
    let ratios: Vec<Ratios> = tests.filter_map(|test| test.ratios.clone()).collect();
    let estimates: Vec<f64> = ratios.iter().filter_map(Ratios::estimate).collect();
    Some(GroupMean {
        group: name.to_owned(),
        tests: estimates.len(),
        ratio: geometric_mean(&estimates)?,
        interval: Bootstrap::of_group(&ratios, seed).map(|found| found.interval(1.0 - rule.alpha)),
    })
}
