//! Comparison of a candidate with a base: a verdict for each test, and an overall verdict.

mod alarmed;
mod build;
mod course;
mod difference;
mod gate;
mod group;
mod shared;
mod stages;
mod subject;
mod system;
mod test;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use dyno_settings::NotInForce;
use dyno_stats::{Interval, Margin, Method};
use dyno_store::Operation;
use serde::Serialize;

use crate::compare::anchor::SharedAnchor;
use crate::compare::pair::PairRound;
use crate::compare::rule::Rule;
use crate::compare::sessions::Replicates;
use crate::trial::disturbance::DisturbedRounds;
use crate::trial::quantity::Quantity;

pub(crate) use build::judge;
pub use build::{compare, compare_sessions};
pub use difference::Difference;
pub use gate::{GateOutcome, GateVote};
pub(crate) use subject::Subject;

/// Result of comparing one or more candidates with their bases.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Judgement {
    pub rule: Rule,
    /// The overall verdict, which determines the exit status.
    pub outcome: GateOutcome,
    /// Each candidate with its base.
    pub comparisons: Vec<Comparison>,
}

/// Tests without a verdict because neighbours disturbed their rounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct DisturbedTests {
    pub tests: usize,
    /// Number of tests, without those of controls.
    pub of: usize,
    /// Figures of the test in which the largest share of rounds was disturbed.
    pub worst: DisturbedRounds,
}

/// The comparison of a candidate with a base.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// The system that it is compared with.
    pub base: Side,
    pub candidate: Side,
    /// Whether one of them is the control of the other (an A/A pair), so that their difference is noise. Such a
    /// comparison is in no family and does not affect the outcome.
    pub is_control: bool,
    /// The settings that are not in force, if this makes the two systems the same. Their tests are not judged.
    pub same_for: Option<Vec<NotInForce>>,
    /// Differences between the conditions of the runs; empty within one run.
    pub differences: Vec<Difference>,
    /// The anchor that all runs share. `None` within one run, if a run has no anchor, or if a side is the anchor
    /// itself.
    pub anchor: Option<SharedAnchor>,
    /// Each step at each client count, in run order.
    pub tests: Vec<TestComparison>,
    /// The mean of each group with more than one ratio, in run order. Empty if there is only one group, or if
    /// the two are the same system.
    pub groups: Vec<GroupMean>,
    /// The mean over all tests; `None` without a ratio, or if the two are the same system.
    pub overall: Option<GroupMean>,
}

/// Identifies a system in results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Side {
    /// The run's number in its results file. With several sessions, the number of the first.
    pub run: i64,
    /// The numbers of all its runs. Each run is a session.
    pub runs: Vec<i64>,
    pub system: String,
    /// Engine and storage engine as the plan names them.
    pub name: String,
    /// The version that the server reported; `None` if it never started.
    pub engine_version: Option<String>,
    /// The requested settings that are not in force.
    pub not_in_force: Vec<NotInForce>,
}

/// A step at a client count.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TestComparison {
    pub group: String,
    pub step: String,
    pub clients: u32,
    /// The kind of operation that the rate counts.
    pub operation: Operation,
    pub finding: Finding,
    /// Why there is no verdict; `None` if there is one.
    pub undecided: Option<Undecided>,
    /// Rounds that do not count because neighbours disturbed them, if any.
    pub disturbed: Option<DisturbedRounds>,
    /// Its contribution to the overall verdict.
    pub gate: GateVote,
    /// Median of the base's rounds.
    pub base: Option<f64>,
    /// Median of the candidate's rounds.
    pub candidate: Option<f64>,
    pub base_rounds: usize,
    pub candidate_rounds: usize,
    /// The candidate's figure as a multiple of the base's.
    pub ratio: Option<f64>,
    /// Confidence interval of the true ratio, for this test alone.
    pub interval: Option<Interval>,
    pub method: Method,
    /// The kind of values from which the ratio is computed.
    pub replicates: Replicates,
    /// The rounds from which the ratio is computed. Both systems completed them. Empty if rounds are not paired.
    pub rounds: Vec<RoundRatio>,
    /// Differences within this margin count as "the same". It is the rule's margin. Noise does not widen it.
    pub margin: Margin,
    /// Differences beyond this margin are alarms. It is the rule's margin, widened if an A/A pair is noisy.
    pub alarm_margin: Margin,
    /// Two-sided p-value of this test alone: the probability of a difference this far beyond the margin of alarms
    /// if the true difference is within it.
    pub p: Option<f64>,
    /// `p`, adjusted for all tests together.
    pub p_adjusted: Option<f64>,
    /// Estimated number of further rounds for a verdict, or of further sessions a side if sessions are the
    /// replicates. `None` if there is a verdict, or if it takes more than 1000.
    pub more_rounds: Option<usize>,
    /// Whether the candidate is significantly not worse by more than the margin.
    pub rules_out_regression: bool,
    /// Standard deviation of log ratios between loads; `None` unless several loads have several rounds each.
    pub between_loads: Option<f64>,
    /// Standard deviation of log ratios between instances; `None` with fewer than two rounds.
    pub between_instances: Option<f64>,
    /// Standard deviation of log ratios between neighbouring slices; `None` without slices.
    pub between_slices: Option<f64>,
    /// All other quantities that both systems have, without verdict.
    pub costs: BTreeMap<Quantity, CostRatio>,
    pub warnings: Vec<TestWarning>,
}

/// The candidate's figure as a multiple of the base's in one round.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RoundRatio {
    /// The round, from 0.
    pub round: u32,
    pub ratio: f64,
    /// Standard error of its logarithm, from slices; `None` for whole trials.
    pub standard_error: Option<f64>,
    /// Number of slices of each system from which it is computed; 0 for whole trials.
    pub slices: usize,
}

/// Why a test has no verdict.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum Undecided {
    /// Too few rounds for any verdict among this many tests.
    TooFewRounds {
        /// Number of rounds.
        rounds: usize,
        /// Number of rounds that a verdict needs.
        wanted: usize,
    },
    /// Too few sessions a side for any verdict among this many tests.
    TooFewSessions {
        /// Number of sessions of the side with fewer.
        sessions: usize,
        /// Number of sessions a side that a verdict needs.
        wanted: usize,
    },
    /// Each was measured in a single session, and they share no anchor. So a difference between the systems cannot be
    /// distinguished from a difference between the sessions.
    OneSession,
    /// Neighbours disturbed rounds, and too few others are left.
    Disturbed(DisturbedRounds),
    /// The interval contains both no change and a meaningful one.
    Interval,
    /// A system's rate was still rising or falling.
    NoLevel { system: String },
    /// The candidate's rate falls during the trial, while the base's is level.
    Decays {
        /// The candidate's rate at the end of a trial as a multiple of that at its start, median of the rounds.
        change: f64,
    },
    /// Measured in only one round or some rounds, by design: a load whose data the other rounds restore.
    MeasuredOnce,
    /// The quantity was not measured, or is 0.
    NotMeasured,
    /// In some round only one system finished operations, or neither system finished any in any round. There is no
    /// ratio to 0.
    NothingDone { system: String },
    /// At the rate of the step, no event was due in any round.
    NothingDue,
    /// In some round, unfinished events leave only a lower bound of the quantity.
    OnlyBounds { system: String },
    /// The two are the same system, because the settings in which they should differ are not in force.
    SameSystem,
    /// The base completed no round.
    BaseFailed,
    /// The step is not planned for this system.
    NotPlanned { system: String },
}

/// A warning on a ratio.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "warning", rename_all = "snake_case")]
pub enum TestWarning {
    /// Stalls in some rounds, which the host may have caused. The reported ratio is that of neighbouring slices,
    /// and differs from the ratio of all operations over the whole time.
    Stalls {
        /// The ratio of all operations over the whole time, in the middle round.
        whole_ratio: f64,
    },
    /// Stalls in every round, so the system itself causes them. The reported ratio is that of all operations over
    /// the whole time.
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
        /// Number of such rounds.
        rounds: usize,
        /// Rounds in which a trial was started.
        of: usize,
    },
    /// It used one instance in all rounds, so all rounds share the effects of its start.
    NotFresh { system: String },
    /// In some rounds, only this system's threads were pinned to their own cores, which changes its rate.
    PinnedAlone { system: String, rounds: usize },
}

impl TestWarning {
    /// Whether it concerns this test only. Failures are warnings of the systems' own trials, and a reused instance
    /// concerns all tests.
    pub fn is_of_one_test(&self) -> bool {
        matches!(self, Self::Stalls { .. } | Self::StallsCounted { .. } | Self::PinnedAlone { .. })
    }
}

/// The candidate's cost as a multiple of the base's. It has no verdict.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct CostRatio {
    pub ratio: f64,
    /// Confidence interval of the true ratio, for this quantity alone.
    pub interval: Option<Interval>,
    pub method: Method,
}

/// The verdict on a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Finding {
    /// Better by more than the margin of alarms, after correction for the number of tests.
    Improved,
    /// Worse by more than the margin of alarms, after correction for the number of tests.
    Regressed,
    /// Within the margin.
    Same,
    /// None of these is shown.
    NotEnoughEvidence,
    /// The candidate failed in rounds that the base completed.
    Failed,
    /// The candidate's rate falls during the trial, while the base's is level. The ratio of their rates
    /// depends on the length of the trial and is not judged.
    Decays,
    /// No number of rounds can decide it. [`TestComparison::undecided`] has the reason.
    Unjudged,
}

/// A geometric mean of ratios.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GroupMean {
    /// The group; empty for all tests.
    pub group: String,
    /// Number of tests in the mean. Each of them has all the rounds.
    pub tests: usize,
    pub ratio: f64,
    /// Its interval over rounds.
    pub interval: Option<Interval>,
    pub method: Method,
    /// Rounds, or sessions a side, from which it is computed.
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

impl Judgement {
    /// The tests that have no verdict because neighbours disturbed their rounds, if any.
    pub fn disturbed(&self) -> Option<DisturbedTests> {
        let judged = self.comparisons.iter().filter(|comparison| !comparison.is_control);
        DisturbedTests::among(judged.flat_map(|comparison| &comparison.tests))
    }
}

impl DisturbedTests {
    fn among<'a>(tests: impl Iterator<Item = &'a TestComparison> + Clone) -> Option<Self> {
        let disturbed = tests.clone().filter_map(|test| match &test.undecided {
            Some(Undecided::Disturbed(disturbed)) => Some(*disturbed),
            _ => None,
        });
        let share = |rounds: &DisturbedRounds| rounds.rounds as f64 / rounds.of.max(1) as f64;
        let worst = disturbed.clone().max_by(|a, b| share(a).total_cmp(&share(b)))?;
        Some(Self { tests: disturbed.count(), of: tests.count(), worst })
    }
}

impl Comparison {
    /// Its tests without a verdict because neighbours disturbed their rounds; `None` if there are none.
    pub fn disturbed(&self) -> Option<DisturbedTests> {
        DisturbedTests::among(self.tests.iter())
    }

    /// Number of tests with a finding.
    pub fn count(&self, finding: Finding) -> usize {
        self.tests.iter().filter(|test| test.finding == finding).count()
    }
}
