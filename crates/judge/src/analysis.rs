//! The analysis of a run, which every report, verdict and exit status uses.

mod build;
mod cell;
mod replication;
pub(crate) mod test;
#[cfg(test)]
mod tests;

use serde::Serialize;

use crate::compare::comparison::{Comparison, Finding, Judgement, TestComparison};
use crate::compare::rule::Rule;
use crate::cost::forecast::LeftOutTest;
use crate::cost::price::Frontier;
use crate::effects::events::EventfulTest;
use crate::effects::hosts::Hosts;
use crate::effects::joins::JoinedTest;
use crate::effects::ladder::Ladder;
use crate::effects::lags::LagTest;
use crate::effects::replays::ReplayedTest;
use crate::effects::sensitivity::Sensitivity;
use crate::trial::in_force::SystemNotInForce;

pub use self::build::analyse;
pub use self::test::{Cell, CellWarning, CostFigure, CounterFigure, RoundValue, SteadyState, Test};

/// The findings on a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Analysis {
    /// The rule of the verdicts. Its look and its correction are those of the run.
    pub rule: Rule,
    /// Rounds, instances and variances from which the verdicts are computed.
    pub replication: Replication,
    /// The systems' ids, in the plan's order.
    pub systems: Vec<String>,
    /// The id of the plan's base, or of the first system if the plan names no base; `None` without a system.
    pub base: Option<String>,
    /// Each step at each client count, in run order.
    pub tests: Vec<Test>,
    /// The comparisons of all other systems with each system as the base, in the plan's order. The comparisons with one
    /// base are one family for the correction: all candidates except controls, all tests.
    pub against: Vec<Judgement>,
    /// The systems with settings that were requested but are not in force, in the plan's order.
    pub not_in_force: Vec<SystemNotInForce>,
    /// The effects of the factors of the plan's sweeps.
    pub sensitivity: Vec<Sensitivity>,
    /// The tests in which clients of a background load join over time.
    pub joined: Vec<JoinedTest>,
    /// The tests in which something is done to the systems while the load continues.
    pub events: Vec<EventfulTest>,
    /// The tests in which systems have replicas.
    pub lags: Vec<LagTest>,
    /// The steps that replay a server's traffic. Candidates are compared with the plan's base.
    pub replays: Vec<ReplayedTest>,
    /// The cost of each step of the plan's ladders.
    pub ladders: Vec<Ladder>,
    /// For each test, which of the systems with a price are worth their price.
    pub frontiers: Vec<Frontier>,
    /// For each test, each system predicted from the others that differ only in hardware.
    pub left_out: Vec<LeftOutTest>,
    /// The hosts of a run that several hosts share; `None` for a run on one host.
    pub hosts: Option<Hosts>,
}

/// Rounds, instances and variances of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Replication {
    pub rounds_planned: u32,
    /// Rounds in which at least one trial completed.
    pub rounds: u32,
    /// Whether every system had a fresh instance in every round. It is false for servers that Dyno did not start.
    pub is_fresh: bool,
    /// Time to restart all systems and to wait until they are at rest: median over rounds, in seconds. `None`
    /// if nothing was started.
    pub restart_seconds: Option<f64>,
    /// Standard deviation of log ratios between loads: median over the tests of all candidates against the
    /// plan's base. `None` unless several loads were used in several rounds each.
    pub between_loads: Option<f64>,
    /// Standard deviation of log ratios between instances: median over the tests of all candidates against
    /// the plan's base. `None` with fewer than two rounds.
    pub between_instances: Option<f64>,
    /// Standard deviation of log ratios between neighbouring slices: median over the same tests. `None`
    /// without slices.
    pub between_slices: Option<f64>,
    /// Number of intervals of ratios against the plan's base, each for its own test. Intervals of one round are not
    /// counted.
    pub intervals: usize,
    /// Number of them that exclude 1.
    pub exclusions: usize,
    /// Expected number of intervals that would exclude 1 by chance if nothing differed.
    pub exclusions_expected: f64,
    /// Number of tests that the run stopped measuring before its end.
    pub left_tests: usize,
}

impl Analysis {
    /// The settings of these systems that are not in force. Each has a list of systems that are the same for this
    /// reason; other systems are left out of it.
    pub fn not_in_force_of(&self, systems: &[&str]) -> Vec<SystemNotInForce> {
        let is_one = |id: &str| systems.contains(&id);
        let of = |it: &SystemNotInForce| SystemNotInForce {
            same_as: it.same_as.iter().filter(|other| is_one(other)).cloned().collect(),
            ..it.clone()
        };
        let found = self.not_in_force.iter().filter(|it| is_one(&it.system)).map(of);
        found.filter(|it| !it.settings.is_empty() || !it.same_as.is_empty()).collect()
    }

    /// The comparisons of all other systems with a base, by its id.
    pub fn judgement(&self, base: &str) -> Option<&Judgement> {
        let at = self.systems.iter().position(|system| system == base)?;
        self.against.get(at)
    }

    /// The comparison of two systems, by id.
    pub fn comparison(&self, base: &str, candidate: &str) -> Option<&Comparison> {
        let comparisons = &self.judgement(base)?.comparisons;
        comparisons.iter().find(|comparison| comparison.candidate.system == candidate)
    }

    /// The tests of all candidates against a base that have no verdict but may still get one. Controls are left out.
    pub fn open_tests(&self, base: &str) -> impl Iterator<Item = &TestComparison> {
        let comparisons = self.judgement(base).into_iter().flat_map(|judgement| &judgement.comparisons);
        let judged = comparisons.filter(|comparison| !comparison.is_control);
        judged
            .flat_map(|comparison| &comparison.tests)
            .filter(|test| test.finding == Finding::NotEnoughEvidence)
    }
}
