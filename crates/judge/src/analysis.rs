//! The analysis of a run. Every report, verdict and exit status renders it.

mod build;
mod cell;
mod replication;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use dyno_store::Operation;
use serde::Serialize;

use crate::comparison::{Comparison, Finding, Judgement};
use crate::quantity::Quantity;
use crate::rule::Rule;

pub use build::analyse;

/// The findings on a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Analysis {
    /// How it was judged; its looks are the run's.
    pub rule: Rule,
    /// Rounds, instances and variances behind the verdicts.
    pub replication: Replication,
    /// The systems' ids, in the plan's order.
    pub systems: Vec<String>,
    /// The id of the system that the plan compares the others with: the first, if it names none. None without a system.
    pub base: Option<String>,
    /// Each step at each number of clients, in run order.
    pub tests: Vec<Test>,
    /// For each system as the base, in the plan's order: all others against it. The comparisons with one base are one
    /// family for the correction: all candidates but twins, all tests.
    pub against: Vec<Judgement>,
}

/// Rounds, instances and variances of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Replication {
    /// Rounds planned.
    pub rounds_planned: u32,
    /// Rounds in which at least one trial completed.
    pub rounds: u32,
    /// Whether every system had a fresh instance in every round; not so for servers that Dyno did not start.
    pub is_fresh: bool,
    /// Time to restart all systems and to wait until they are at rest: median over rounds, in seconds.
    /// None if nothing was started.
    pub restart_seconds: Option<f64>,
    /// Standard deviation of log ratios between instances: median over the tests of all candidates against the plan's
    /// base. None with fewer than two rounds.
    pub between_instances: Option<f64>,
    /// Standard deviation of log ratios between neighbouring slices, likewise. None without slices.
    pub between_slices: Option<f64>,
    /// Intervals of ratios against the plan's base, each for its test alone; those of one round do not count.
    pub intervals: usize,
    /// How many of them exclude 1.
    pub exclusions: usize,
    /// Number of them that would exclude 1 by chance if nothing differed.
    pub exclusions_expected: f64,
}

/// A step at a number of clients.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Test {
    pub group: String,
    pub step: String,
    /// Client connections.
    pub clients: u32,
    /// The kind of operation that the rate counts.
    pub operation: Operation,
    /// Each system, in the plan's order.
    pub cells: Vec<Cell>,
}

/// A system in a test.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Cell {
    pub system: String,
    /// Operations per second, median over rounds; none if no trial completed.
    pub rate: Option<f64>,
    /// Operations per second of each completed round.
    pub rounds: Vec<RoundValue>,
    /// Rounds in which its trial failed.
    pub failed: usize,
    /// Every other quantity that was measured.
    pub costs: BTreeMap<Quantity, CostFigure>,
    /// Reasons to doubt its figures.
    pub warnings: Vec<CellWarning>,
}

/// A figure of one round.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RoundValue {
    /// The round, from 0.
    pub round: u32,
    pub value: f64,
}

/// A quantity beside the rate.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CostFigure {
    /// Median over rounds.
    pub median: f64,
    /// Whether `median` is only a lower bound: events that never ended are among the slowest of too many rounds.
    pub is_lower_bound: bool,
    /// Each round that has it, lower bounds included.
    pub rounds: Vec<RoundValue>,
}

/// A reason to doubt a figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "warning", rename_all = "snake_case")]
pub enum CellWarning {
    /// The rate was still rising or falling at the end in most rounds: there is no level to judge.
    NoLevel {
        /// Rounds without a level.
        rounds: usize,
        /// Rounds whose course is known.
        of: usize,
        /// The rate at the end as a multiple of that at the start; median of the rounds without a level.
        change: f64,
    },
    /// The server worked between its own slices.
    WorksBetweenSlices {
        /// Its CPU time there as a share of that in its slices; median over rounds.
        share: f64,
    },
    /// Something else used the host.
    Disturbed {
        /// Affected rounds.
        rounds: usize,
        /// Completed rounds.
        of: usize,
    },
    Failed {
        /// Affected rounds.
        rounds: usize,
        /// Rounds in which it was tried.
        of: usize,
    },
    /// Nothing finished for too long to be chance.
    Stalled {
        /// Affected rounds.
        rounds: usize,
        /// Completed rounds.
        of: usize,
        /// The longest stall.
        seconds_max: f64,
    },
    /// Events were due and had not begun when a trial ended, more than there are clients.
    NotSustained {
        /// Affected rounds.
        rounds: usize,
        /// Completed rounds.
        of: usize,
        /// The most such events of a round.
        events_max: u64,
    },
    /// Events in flight were abandoned when a trial ended, after a time limit.
    Abandoned {
        /// All such events.
        events: u64,
    },
}

impl Analysis {
    /// The judgement of all others against a base, by its id.
    pub fn judgement(&self, base: &str) -> Option<&Judgement> {
        let at = self.systems.iter().position(|system| system == base)?;
        self.against.get(at)
    }

    /// The comparison of two systems, by id.
    pub fn comparison(&self, base: &str, candidate: &str) -> Option<&Comparison> {
        let comparisons = &self.judgement(base)?.comparisons;
        comparisons.iter().find(|comparison| comparison.candidate.system == candidate)
    }

    /// Whether every test of every candidate against a base has a verdict or never will, A/A pairs apart.
    pub fn is_decided(&self, base: &str) -> bool {
        self.judgement(base).is_some_and(|judgement| {
            let judged = judgement.comparisons.iter().filter(|comparison| !comparison.is_twin);
            judged
                .flat_map(|comparison| &comparison.tests)
                .all(|test| test.finding != Finding::NotEnoughEvidence)
        })
    }
}
