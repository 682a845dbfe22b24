//! A candidate against a base: a verdict for each test, and for all.

mod build;
mod course;
mod difference;
mod group;
mod member;
mod test;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use dyno_stats::{Interval, Margin, Method};
use dyno_store::{Operation, Run};
use serde::Serialize;

use crate::check::TrialChecks;
use crate::pair::PairRound;
use crate::quantity::Quantity;
use crate::rule::Rule;

pub use build::compare;
pub(crate) use build::judge;
pub use difference::Difference;
pub(crate) use member::Member;

/// A system in a run.
#[derive(Clone, Copy, Debug)]
pub struct ComparedSystem<'a> {
    pub run: &'a Run,
    /// The courses of its trials; without them, trials in one stretch are taken to have a level.
    pub checks: &'a TrialChecks,
    /// The system's id in it.
    pub system: &'a str,
}

/// What came out of comparing one or more candidates with their bases.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Judgement {
    /// How it was judged.
    pub rule: Rule,
    /// The verdict on all: what an exit status tells.
    pub outcome: GateOutcome,
    /// Each candidate with its base.
    pub comparisons: Vec<Comparison>,
}

/// Whether something got worse.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum GateOutcome {
    /// Every test that is judged shows that the candidate is not worse by more than the margin. For this, each test
    /// has to be sure on its own, and then all are (Berger, "Multiparameter hypothesis testing and acceptance
    /// sampling", Technometrics 24(4), 1982).
    NoneRegressed,
    /// At least one test regressed or failed, accounting for the number of tests.
    SomeRegressed,
    /// Neither can be said.
    NotEnoughEvidence,
}

/// A candidate against a base.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// What it is compared with.
    pub base: Side,
    pub candidate: Side,
    /// Whether one of them repeats the other (an A/A pair), so that what they differ by is noise. It is in no family
    /// and does not count for the outcome.
    pub is_twin: bool,
    /// In which circumstances the two runs differ; none within one run.
    pub differences: Vec<Difference>,
    /// Each step at each number of clients, in run order.
    pub tests: Vec<TestComparison>,
    /// The mean of each group with more than one ratio, in run order; none if there is one group only.
    pub groups: Vec<GroupMean>,
    /// The mean over all tests; none without a ratio.
    pub overall: Option<GroupMean>,
}

/// A system, as findings name it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Side {
    /// The run's number in its results file.
    pub run: i64,
    pub system: String,
    /// Engine and storage engine as the plan names them.
    pub name: String,
    /// The version that the server told; none if it never started.
    pub engine_version: Option<String>,
}

/// A step at a number of clients.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TestComparison {
    pub group: String,
    pub step: String,
    /// Client connections.
    pub clients: u32,
    /// The kind of operation that the rate counts.
    pub operation: Operation,
    pub finding: Finding,
    /// Why there is no verdict; none if there is one.
    pub undecided: Option<Undecided>,
    /// Median of the base's rounds.
    pub base: Option<f64>,
    /// Median of the candidate's rounds.
    pub candidate: Option<f64>,
    /// Rounds that the base completed.
    pub base_rounds: usize,
    /// Rounds that the candidate completed.
    pub candidate_rounds: usize,
    /// The candidate as a multiple of the base.
    pub ratio: Option<f64>,
    /// Where the true ratio lies, for this test alone.
    pub interval: Option<Interval>,
    /// The method of the interval.
    pub method: Method,
    /// What it rests on: the rounds that both completed. Empty for two runs that did not take turns.
    pub rounds: Vec<RoundRatio>,
    /// Differences within it are "the same": the rule's, never widened.
    pub margin: Margin,
    /// Differences beyond it are an alarm: the rule's, raised by a noisy A/A pair.
    pub alarm_margin: Margin,
    /// The chance of so clear a difference beyond the margin of alarms if there is none; two-sided, for this test
    /// alone.
    pub p: Option<f64>,
    /// The same, as it holds for all tests together.
    pub p_adjusted: Option<f64>,
    /// About how many more rounds a verdict takes, where there is not enough evidence; none if more than 1000.
    pub more_rounds: Option<usize>,
    /// Whether the candidate is surely not worse by more than the margin.
    pub rules_out_regression: bool,
    /// Standard deviation of log ratios between instances; none with fewer than two rounds.
    pub between_instances: Option<f64>,
    /// Standard deviation of log ratios between neighbouring slices; none without slices.
    pub between_slices: Option<f64>,
    /// Every other quantity that both have, without verdict.
    pub costs: BTreeMap<Quantity, CostRatio>,
    /// What makes the ratio doubtful.
    pub warnings: Vec<TestWarning>,
}

/// The candidate as a multiple of the base in one round.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RoundRatio {
    /// The round, from 0.
    pub round: u32,
    pub ratio: f64,
    /// Standard error of its logarithm, from slices; none of whole trials.
    pub standard_error: Option<f64>,
    /// Slices of each system that it was made of; 0 for whole trials.
    pub slices: usize,
}

/// Why a test has no verdict.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum Undecided {
    /// So few rounds cannot have a verdict among so many tests, whatever they say.
    TooFewRounds {
        /// Rounds that there are.
        rounds: usize,
        /// Rounds that it takes.
        wanted: usize,
    },
    /// The interval holds both a difference that matters and none.
    Interval,
    /// A system's rate has no level.
    NoLevel { system: String },
    /// Measured in one round by design: a load that later rounds put back.
    MeasuredOnce,
    /// The quantity was not measured, or is 0.
    NotMeasured,
    /// A round has only a lower bound of the quantity: events that never ended are among those that decide it.
    OnlyBounds { system: String },
    /// The base completed no round.
    BaseFailed,
}

/// Why a ratio should be looked at twice.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "warning", rename_all = "snake_case")]
pub enum TestWarning {
    /// Stalls of one round or more, which may be the host's: all operations over all time have another ratio than
    /// neighbouring slices, which the ratio is of.
    Stalls {
        /// The ratio of all operations over all time, in the round in the middle.
        whole_ratio: f64,
    },
    /// Stalls of round after round, which are a system's own: the ratio is of all operations over all time.
    StallsCounted {
        /// The ratio of neighbouring slices, median of the rounds.
        sliced_ratio: f64,
    },
    /// The candidate failed in rounds that the base completed.
    CandidateFailed {
        rounds: usize,
        /// Rounds that the base completed.
        of: usize,
    },
    BaseFailed {
        /// In how many rounds.
        rounds: usize,
        /// Rounds in which it was tried.
        of: usize,
    },
    /// It was the same server in all rounds: its own peculiarities are in all of them.
    NotFresh { system: String },
}

/// The candidate's cost as a multiple of the base's. No verdict rests on it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CostRatio {
    pub ratio: f64,
    /// Where the true ratio lies, for this quantity alone.
    pub interval: Option<Interval>,
    /// The method of the interval.
    pub method: Method,
}

/// The verdict on a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Finding {
    /// Better by more than the margin of alarms, accounting for the number of tests.
    Improved,
    /// Worse by more than the margin of alarms, accounting for the number of tests.
    Regressed,
    /// Within the margin.
    Same,
    /// None of these can be said yet.
    NotEnoughEvidence,
    /// The candidate failed in rounds that the base completed.
    Failed,
    /// It cannot be judged, however many rounds there are; [`TestComparison::undecided`] says why. It does not count.
    Unjudged,
}

/// A geometric mean of ratios.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GroupMean {
    /// The group; empty for all tests.
    pub group: String,
    /// Tests that it is the mean of: those that every round has.
    pub tests: usize,
    pub ratio: f64,
    /// Its interval over rounds.
    pub interval: Option<Interval>,
    /// The method of the interval.
    pub method: Method,
    /// Rounds that it rests on.
    pub rounds: usize,
}

impl RoundRatio {
    pub(crate) fn of(round: &PairRound) -> Self {
        Self {
            round: round.round,
            ratio: round.ln_ratio.exp(),
            standard_error: round
                .slices
                .filter(|_| !round.counts_stalls)
                .and_then(|slices| slices.standard_error),
            slices: round.slices.map_or(0, |slices| slices.slices),
        }
    }
}

impl Comparison {
    /// How many tests have a finding.
    pub fn count(&self, finding: Finding) -> usize {
        self.tests.iter().filter(|test| test.finding == finding).count()
    }
}
