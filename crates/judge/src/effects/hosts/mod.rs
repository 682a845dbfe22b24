//! In a run that several hosts share: whether the ratios of systems depend on the host that measured them.

mod facts;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use dyno_stats::one_way;
use dyno_store::{AttemptRecord, Run};
use serde::Serialize;

use crate::compare::comparison::{Comparison, Judgement, RoundRatio, TestComparison};
use crate::compare::rule::Rule;

pub use facts::host_differences;

/// The hosts of a run that several hosts share.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Hosts {
    /// The hosts that measured rounds, in the order of their first round.
    pub hosts: Vec<Host>,
    /// The attempts that gave no result for their round.
    pub lost: Vec<LostAttempt>,
    /// The tests of all systems against the plan's base. A test is included if at least two hosts measured it.
    pub tests: Vec<HostTest>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Host {
    pub name: String,
    /// Number of rounds that the host measured.
    pub rounds: usize,
    /// Differences from the first host, each as a phrase.
    pub differences: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LostAttempt {
    /// The round, from 0.
    pub round: u32,
    /// The host's name; `None` if no host had been assigned.
    pub host: Option<String>,
    pub reason: String,
}

/// Whether hosts agree on a ratio.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct HostTest {
    pub system: String,
    pub step: String,
    pub clients: u32,
    /// The ratio on each host, in the order of [`Hosts::hosts`].
    pub ratios: Vec<HostRatio>,
    /// Standard deviation of log ratios between hosts. The variation between rounds on one host is subtracted.
    pub between_hosts: Option<f64>,
    /// Probability that the ratios on the hosts would differ at least this much if rounds were assigned to hosts at
    /// random, corrected for the number of tests. `None` if no host measured two rounds.
    pub p_adjusted: Option<f64>,
    /// Whether hosts disagree: whether `p_adjusted` is at most the rule's α.
    pub disagree: bool,
    /// The host whose mean ratio differs most from the mean of the other hosts. Known only if hosts disagree and at
    /// least three of them measured the test.
    pub odd: Option<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct HostRatio {
    /// Number of rounds that both systems completed on the host.
    pub rounds: usize,
    /// Geometric mean of the rounds' ratios; `None` without a round.
    pub ratio: Option<f64>,
}

/// Lists the hosts of a run, and compares the ratios to the run's base between hosts. `None` if the run was not spread
/// over hosts.
pub(crate) fn hosts(run: &Run, against_base: Option<&Judgement>, rule: &Rule) -> Option<Hosts> {
    run.record.spread_id.as_ref()?;
    let delivered = run.attempts.iter().filter(|attempt| attempt.loss.is_none());
    let mut known: Vec<(&str, &AttemptRecord, usize)> = Vec::new();
    let mut host_of_round = BTreeMap::new();
    for attempt in delivered {
        let name = attempt.name().unwrap_or("unknown");
        let at = known.iter().position(|(known, _, _)| *known == name).unwrap_or_else(|| {
            known.push((name, attempt, 0));
            known.len() - 1
        });
        known[at].2 += 1;
        host_of_round.insert(attempt.round, at);
    }
    let first = known.first().and_then(|(_, attempt, _)| attempt.host.as_ref());
    let host = |(name, attempt, rounds): &(&str, &AttemptRecord, usize)| Host {
        name: (*name).to_owned(),
        rounds: *rounds,
        differences: first
            .zip(attempt.host.as_ref())
            .map(|(first, own)| host_differences(first, own))
            .unwrap_or_default(),
    };
    let hosts: Vec<Host> = known.iter().map(host).collect();
    let tests = against_base.map(|judgement| tests(judgement, &host_of_round, &hosts, rule));
    Some(Hosts { hosts, lost: lost(run), tests: tests.unwrap_or_default() })
}

fn lost(run: &Run) -> Vec<LostAttempt> {
    let lost = |attempt: &AttemptRecord| {
        let reason = attempt.loss.clone()?;
        Some(LostAttempt { round: attempt.round, host: attempt.name().map(str::to_owned), reason })
    };
    run.attempts.iter().filter_map(lost).collect()
}

fn tests(
    judgement: &Judgement,
    host_of_round: &BTreeMap<u32, usize>,
    hosts: &[Host],
    rule: &Rule,
) -> Vec<HostTest> {
    let each = judgement
        .comparisons
        .iter()
        .flat_map(|comparison| comparison.tests.iter().map(move |test| (comparison, test)));
    let found = each.filter_map(|(comparison, test)| {
        let groups = groups(&test.rounds, host_of_round, hosts.len());
        let ran = groups.iter().filter(|group| !group.is_empty()).count();
        (ran > 1).then(|| host_test(comparison, test, &groups, hosts))
    });
    let (mut found, p): (Vec<HostTest>, Vec<Option<f64>>) = found.unzip();
    let mut adjusted = rule.adjust(&p.iter().copied().flatten().collect::<Vec<_>>()).into_iter();
    for (test, p) in found.iter_mut().zip(p) {
        test.p_adjusted = p.and_then(|_| adjusted.next());
        test.disagree = test.p_adjusted.is_some_and(|p| p <= rule.alpha);
        if !test.disagree {
            test.odd = None;
        }
    }
    found
}

/// A test and its p-value, before the correction.
fn host_test(
    comparison: &Comparison,
    test: &TestComparison,
    groups: &[Vec<f64>],
    hosts: &[Host],
) -> (HostTest, Option<f64>) {
    let found = one_way(groups);
    let ratio = |group: &Vec<f64>| HostRatio { rounds: group.len(), ratio: mean(group.iter()).map(f64::exp) };
    let test = HostTest {
        system: comparison.candidate.system.clone(),
        step: test.step.clone(),
        clients: test.clients,
        ratios: groups.iter().map(ratio).collect(),
        between_hosts: found.map(|found| found.between),
        p_adjusted: None,
        disagree: false,
        odd: farthest(groups).map(|at| hosts[at].name.clone()),
    };
    (test, found.map(|found| found.p))
}

/// Log ratios of rounds, by host.
fn groups(rounds: &[RoundRatio], host_of_round: &BTreeMap<u32, usize>, hosts: usize) -> Vec<Vec<f64>> {
    let mut groups = vec![Vec::new(); hosts];
    for round in rounds {
        if let Some(host) = host_of_round.get(&round.round) {
            groups[*host].push(round.ratio.ln());
        }
    }
    groups
}

/// The group whose mean is farthest from the mean of all other groups' values; `None` with fewer than three groups.
fn farthest(groups: &[Vec<f64>]) -> Option<usize> {
    let distance = |at: usize| {
        let others = groups.iter().enumerate().filter(|(other, _)| *other != at).flat_map(|(_, group)| group);
        Some((mean(groups[at].iter())? - mean(others)?).abs())
    };
    let distances: Vec<(usize, f64)> =
        (0..groups.len()).filter_map(|at| distance(at).map(|distance| (at, distance))).collect();
    let farthest = distances.iter().max_by(|a, b| a.1.total_cmp(&b.1)).map(|(at, _)| *at);
    farthest.filter(|_| distances.len() > 2)
}

fn mean<'a>(values: impl Iterator<Item = &'a f64>) -> Option<f64> {
    let (sum, number) = values.fold((0.0, 0_u32), |(sum, number), value| (sum + value, number + 1));
    (number > 0).then(|| sum / f64::from(number))
}
