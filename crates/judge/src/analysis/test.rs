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
    /// Number of rounds in which the system's trial failed.
    pub failed: usize,
    /// The measured quantities other than throughput.
    pub costs: BTreeMap<Quantity, CostFigure>,
    /// Whether the rate was level. `None` for tests that load data. Also `None` if the run shows neither whether the
    /// rate was level nor how long the warm-up was.
    pub steady_state: Option<SteadyState>,
    /// The counters that the plan chooses, by name.
    pub counters: Vec<CounterFigure>,
    pub warnings: Vec<CellWarning>,
}

/// Whether a rate was level after the warm-up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SteadyState {
    /// Time under load before the measurement, in seconds, median over rounds. `None` if the time is unknown.
    pub warmup_seconds: Option<f64>,
    /// Rounds for which it is known whether the rate was level. Short trials do not show it.
    pub rounds: usize,
    /// Rounds in which the rate was not level.
    pub rounds_without: usize,
    /// The rate at the end as a multiple of the rate at the start: median of the rounds whose rate was not level, or of
    /// all rounds if every rate was level. `None` if `rounds` is 0.
    pub change: Option<f64>,
}

/// A counter that the plan chooses.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CounterFigure {
    /// The counter's source, and the name that the server gives the counter.
    pub name: String,
    pub is_gauge: bool,
    /// Median over rounds: a counter's change per operation, or a gauge's value at the end of the measurement.
    pub median: f64,
    /// The largest value of a gauge in a trial, including the warm-up: median over the rounds in which the gauge
    /// was read each second.
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
    /// Whether the true median may be larger than `median`. A round's figure is a lower bound if the slowest events of
    /// the round include unfinished ones. The median is a lower bound if the figures of too many rounds are lower
    /// bounds.
    pub is_lower_bound: bool,
    /// Each round with a value. A value may be a lower bound.
    pub rounds: Vec<RoundValue>,
}

/// A warning on a figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "warning", rename_all = "snake_case")]
pub enum CellWarning {
    /// The rate was still rising or falling at the end of most rounds, so there is no level to judge.
    NoLevel {
        /// Number of rounds whose rate was not level.
        rounds: usize,
        /// Rounds for which it is known whether the rate was level.
        of: usize,
        /// The rate at the end as a multiple of the rate at the start. This is the median over the rounds whose rate
        /// was not level.
        change: f64,
    },
    /// The server worked between its own slices.
    WorksBetweenSlices {
        /// The server's CPU time between its slices as a share of its CPU time in its slices; median over rounds.
        share: f64,
    },
    /// Other processes or the hypervisor used CPU time of the host in some rounds. These rounds do not count.
    Disturbed {
        /// Affected rounds.
        rounds: usize,
        /// Completed rounds.
        of: usize,
    },
    /// Other processes or the hypervisor used CPU time of the host in some rounds. These rounds count nevertheless,
    /// because the run's options say so.
    DisturbedCounted {
        /// Affected rounds.
        rounds: usize,
        /// Completed rounds.
        of: usize,
    },
    /// In every round, the hypervisor took much CPU time while this system was measured, but not while a certain other
    /// system was measured. So this system causes the steal, and its rounds count.
    OwnSteal {
        /// Share of the host's CPU time, median over rounds.
        share: f64,
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
    /// When a trial ended, more events were due but not started than there are clients.
    NotSustained {
        /// Affected rounds.
        rounds: usize,
        /// Completed rounds.
        of: usize,
        /// Largest backlog of a round: the number of events that were due but not started when its trial ended.
        events_max: u64,
    },
    /// The search for a capacity ran out of time before its interval was as narrow as the plan requires.
    NotNarrow {
        /// Affected rounds.
        rounds: usize,
        /// Completed rounds.
        of: usize,
        /// The widest interval: its upper end divided by its lower end.
        width_max: f64,
    },
    /// The capacity is limited by the rate and not by the latency: at rates above the capacity, the system fell behind
    /// although its latencies stayed within the limit.
    Saturated {
        /// Affected rounds.
        rounds: usize,
        /// Completed rounds.
        of: usize,
    },
    /// The limits that were in force for the system, for example its memory limit, differed from the plan.
    LimitsDiffer {
        /// Affected rounds.
        rounds: usize,
        /// Completed rounds.
        of: usize,
        /// The limits that differed in the first affected round.
        differences: Vec<UnmetLimit>,
    },
    /// Drivers may have limited the rate.
    Drivers {
        /// Affected rounds.
        rounds: usize,
        /// Completed rounds.
        of: usize,
        /// The doubts about drivers in the first affected round.
        doubts: Vec<DriverDoubt>,
    },
    /// The data load that created the system's tables was repeated without measurement before the affected rounds.
    LoadedAgain {
        /// Affected rounds.
        rounds: usize,
        /// Completed rounds.
        of: usize,
        /// Ids of the steps that loaded data and were repeated.
        loads: Vec<String>,
        /// Whether at least one of `loads` has no measured figure for this system, because it failed each time.
        never_measured: bool,
    },
    /// In some rounds, no operation finished or was counted. The figure of these rounds is 0.
    NothingDone {
        /// Affected rounds.
        rounds: usize,
        /// Completed rounds.
        of: usize,
    },
    /// In some rounds, no event was due at the rate of the step, so none finished.
    NothingDue {
        /// Affected rounds.
        rounds: usize,
        /// Completed rounds.
        of: usize,
    },
    /// Events were still in flight when a trial ended, and were abandoned after a time limit.
    Abandoned {
        /// Number of abandoned events in all rounds.
        events: u64,
    },
}

impl Cell {
    /// Whether some rounds do not count because neighbours disturbed them.
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
