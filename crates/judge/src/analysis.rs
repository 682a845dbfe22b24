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
    /// The rule by which the verdicts are computed. Its look (which interim analysis this is) and its correction for
    /// the number of tests are the run's.
    pub rule: Rule,
    /// Rounds, instances and variances from which the verdicts are computed.
    pub replication: Replication,
    /// The systems' ids, in the plan's order.
    pub systems: Vec<String>,
    /// The id of the plan's base, or of the first system if the plan names no base; `None` without a system.
    pub base: Option<String>,
    /// The tests, in run order. A test is a step at a client count.
    pub tests: Vec<Test>,
    /// For each system as the base, in the plan's order, the comparisons of all other systems with it. The correction
    /// for the number of tests treats all tests of all candidates with the same base as one family. Controls are not in
    /// the family.
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
    /// The steps that replay a server's traffic. In each of them, the candidates are compared with the plan's base.
    pub replays: Vec<ReplayedTest>,
    /// The plan's ladders, and what each of their steps costs or saves.
    pub ladders: Vec<Ladder>,
    /// For each test, the systems that have a price, and whether each is worth its price.
    pub frontiers: Vec<Frontier>,
    /// The hosts that share the run, and how much the ratios differ between them. `None` for a run on one host.
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
    /// Time in seconds to restart all systems and to wait until they are at rest, median over rounds. `None` if the
    /// run started no system.
    pub restart_seconds: Option<f64>,
    /// How much log ratios vary between separate loads of the data, as a standard deviation. It is the median over the
    /// tests of all candidates against the plan's base. Known only if the data was loaded several times, and several
    /// rounds share a load.
    pub between_loads: Option<f64>,
    /// How much log ratios vary between instances, as a standard deviation. It is the median over the tests of all
    /// candidates against the plan's base. `None` with fewer than two rounds.
    pub between_instances: Option<f64>,
    /// How much log ratios vary between neighbouring slices, as a standard deviation. It is the median over the tests
    /// of all candidates against the plan's base. `None` without slices.
    pub between_slices: Option<f64>,
    /// Number of confidence intervals of ratios against the plan's base. Each test of each candidate has one. Intervals
    /// from a single round are not counted.
    pub intervals: usize,
    /// Number of `intervals` that exclude 1.
    pub exclusions: usize,
    /// Expected number of `intervals` that would exclude 1 by chance if no two systems differed.
    pub exclusions_expected: f64,
    /// Number of tests that the run stopped measuring before the run ended.
    pub left_tests: usize,
}

impl Analysis {
    /// Returns, for each of these systems, the requested settings that are not in force. The `same_as` of a result
    /// names the earlier systems among `systems` that are the same as the result's system because of these settings.
    pub fn not_in_force_of(&self, systems: &[&str]) -> Vec<SystemNotInForce> {
        let is_one = |id: &str| systems.contains(&id);
        let of = |it: &SystemNotInForce| SystemNotInForce {
            same_as: it.same_as.iter().filter(|other| is_one(other)).cloned().collect(),
            ..it.clone()
        };
        let found = self.not_in_force.iter().filter(|it| is_one(&it.system)).map(of);
        found.filter(|it| !it.settings.is_empty() || !it.same_as.is_empty()).collect()
    }

    /// The comparisons of all other systems with the base that has this id.
    pub fn judgement(&self, base: &str) -> Option<&Judgement> {
        let at = self.systems.iter().position(|system| system == base)?;
        self.against.get(at)
    }

    /// The comparison of two systems, by id.
    pub fn comparison(&self, base: &str, candidate: &str) -> Option<&Comparison> {
        let comparisons = &self.judgement(base)?.comparisons;
        comparisons.iter().find(|comparison| comparison.candidate.system == candidate)
    }

    /// The tests of all candidates against a base that have no verdict but may still get one. Controls are left
    /// out.
    pub fn open_tests(&self, base: &str) -> impl Iterator<Item = &TestComparison> {
        let comparisons = self.judgement(base).into_iter().flat_map(|judgement| &judgement.comparisons);
        let judged = comparisons.filter(|comparison| !comparison.is_control);
        judged
            .flat_map(|comparison| &comparison.tests)
            .filter(|test| test.finding == Finding::NotEnoughEvidence)
    }
}
