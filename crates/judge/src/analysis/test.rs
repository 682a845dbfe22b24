//! The figures of a test: a step at a client count, for each system.

use std::collections::BTreeMap;

use dyno_store::{Operation, UnmetLimit};
use serde::Serialize;

use crate::trial::drivers::DriverDoubt;
use crate::trial::quantity::Quantity;

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
    /// A gauge's largest value in the trial, with its warm-up: median over the rounds that read it each second.
    pub peak: Option<f64>,
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
