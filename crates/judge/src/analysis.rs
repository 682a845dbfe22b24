//! The analysis of a run, which every report, verdict and exit status uses.

mod build;
mod cell;
mod replication;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use dyno_store::{Operation, UnmetLimit};
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
use crate::trial::drivers::DriverDoubt;
use crate::trial::in_force::SystemNotInForce;
use crate::trial::quantity::Quantity;

pub use build::analyse;

/// The findings on a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Analysis {
    /// The rule of the verdicts. Its looks and its correction are those of the run.
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

/// A step at a client count.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Test {
    pub group: String,
    pub step: String,
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
    /// Operations per second, median over rounds; `None` if no trial completed.
    pub rate: Option<f64>,
    /// Operations per second in each completed round.
    pub rounds: Vec<RoundValue>,
    /// Rounds in which its trial failed.
    pub failed: usize,
    /// All other measured quantities.
    pub costs: BTreeMap<Quantity, CostFigure>,
    /// Whether the rate was level; `None` for loads, and if the run does not show it.
    pub steady_state: Option<SteadyState>,
    /// The counters that the plan chooses, by name.
    pub counters: Vec<CounterFigure>,
    pub warnings: Vec<CellWarning>,
}

/// Whether a rate was level after the warm-up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SteadyState {
    /// Time under load before the measurement, in seconds; median over rounds. `None` if it is not known.
    pub warmup_seconds: Option<f64>,
    /// Rounds for which it is known whether the rate was level. Short trials do not show it.
    pub rounds: usize,
    /// Rounds in which it was not level.
    pub rounds_without: usize,
    /// The rate at the end as a multiple of the rate at the start: median of the rounds without a level, or
    /// of all rounds if every rate was level. `None` if `rounds` is 0.
    pub change: Option<f64>,
}

/// A counter that the plan chooses.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CounterFigure {
    /// The server's name for it, with its source.
    pub name: String,
    pub is_gauge: bool,
    /// Median over rounds: a counter's change per operation, or a gauge's value at the end of the measurement.
    pub median: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RoundValue {
    /// The round, from 0.
    pub round: u32,
    pub value: f64,
}

/// A quantity other than the rate.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CostFigure {
    /// Median over rounds.
    pub median: f64,
    /// Whether `median` is only a lower bound, because in too many rounds unfinished events are among the slowest.
    pub is_lower_bound: bool,
    /// Each round with a value, lower bounds included.
    pub rounds: Vec<RoundValue>,
}

/// A warning on a figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "warning", rename_all = "snake_case")]
pub enum CellWarning {
    /// The rate was still rising or falling at the end of most rounds, so there is no level to judge.
    NoLevel {
        /// Rounds without a level.
        rounds: usize,
        /// Rounds for which this is known.
        of: usize,
        /// The rate at the end as a multiple of the rate at the start; median of the rounds without a level.
        change: f64,
    },
    /// The server worked between its own slices.
    WorksBetweenSlices {
        /// Its CPU time there as a share of its CPU time in its slices; median over rounds.
        share: f64,
    },
    /// Other processes or the hypervisor used the host in some rounds. These rounds do not count.
    Disturbed {
        /// Affected rounds.
        rounds: usize,
        /// Completed rounds.
        of: usize,
    },
    /// Like [`Self::Disturbed`], but these rounds count, because the run's options say so.
    DisturbedCounted {
        /// Affected rounds.
        rounds: usize,
        /// Completed rounds.
        of: usize,
    },
    Failed {
        /// Affected rounds.
        rounds: usize,
        /// Rounds in which a trial was started.
        of: usize,
    },
    /// There was a stall: a time without finished events that is too long to be chance.
    Stalled {
        /// Affected rounds.
        rounds: usize,
        /// Completed rounds.
        of: usize,
        /// Length of the longest stall.
        seconds_max: f64,
    },
    /// When a trial ended, more due events than clients had not started.
    NotSustained {
        /// Affected rounds.
        rounds: usize,
        /// Completed rounds.
        of: usize,
        /// Largest number of such events in a round.
        events_max: u64,
    },
    /// The search for a capacity ran out of time before its interval was as narrow as the plan wants.
    NotNarrow {
        /// Affected rounds.
        rounds: usize,
        /// Completed rounds.
        of: usize,
        /// The widest interval: its upper end divided by its lower end.
        width_max: f64,
    },
    /// Higher rates than the capacity were not sustained, although latencies stayed within the limit.
    Saturated {
        /// Affected rounds.
        rounds: usize,
        /// Completed rounds.
        of: usize,
    },
    /// Limits of the system differed from the plan.
    LimitsDiffer {
        /// Affected rounds.
        rounds: usize,
        /// Completed rounds.
        of: usize,
        /// Each such limit, with its value in the first of these rounds.
        differences: Vec<UnmetLimit>,
    },
    /// Drivers may have limited the rate.
    Drivers {
        /// Affected rounds.
        rounds: usize,
        /// Completed rounds.
        of: usize,
        /// The doubts in the first of these rounds.
        doubts: Vec<DriverDoubt>,
    },
    /// Its tables come from a load that was repeated without measurement.
    LoadedAgain {
        /// Affected rounds.
        rounds: usize,
        /// Completed rounds.
        of: usize,
        /// The ids of these loads.
        loads: Vec<String>,
        /// Whether one of them was never measured with this system, because it failed each time.
        never_measured: bool,
    },
    /// No operation finished or was counted, so the figure of such a round is 0.
    NothingDone {
        /// Affected rounds.
        rounds: usize,
        /// Completed rounds.
        of: usize,
    },
    /// No event was due at the rate of the step, so none finished.
    NothingDue {
        /// Affected rounds.
        rounds: usize,
        /// Completed rounds.
        of: usize,
    },
    /// Events were still in flight when a trial ended, and were abandoned after a time limit.
    Abandoned {
        /// Number of all such events.
        events: u64,
    },
}

impl Cell {
    /// Whether there are rounds that do not count because neighbours disturbed them.
    pub fn is_disturbed(&self) -> bool {
        self.warnings.iter().any(|warning| matches!(warning, CellWarning::Disturbed { .. }))
    }
}

impl SteadyState {
    /// Whether the rate was level in at least half of the rounds for which this is known; `None` if there are
    /// no such rounds.
    pub fn has_level(&self) -> Option<bool> {
        (self.rounds > 0).then_some(2 * self.rounds_without <= self.rounds)
    }
}

impl Analysis {
    /// The settings of these systems that are not in force. The lists of systems that are the same as each contain only
    /// these systems.
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
