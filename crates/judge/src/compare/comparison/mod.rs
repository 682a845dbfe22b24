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
    /// Number of all tests that were examined. `tests` of them are disturbed.
    pub of: usize,
    /// The disturbed rounds of the test in which the largest share of rounds was disturbed.
    pub worst: DisturbedRounds,
}

/// The comparison of a candidate with a base.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// The system that the candidate is compared with.
    pub base: Side,
    pub candidate: Side,
    /// Whether one system is the control of the other (an A/A pair), so that their difference is noise. The
    /// comparison is then in no family and does not affect the outcome.
    pub is_control: bool,
    /// The settings that should distinguish the two systems but are not in force, if the systems are the same because
    /// of this; `None` otherwise.
    /// The tests of systems that are the same are not judged.
    pub same_for: Option<Vec<NotInForce>>,
    /// Differences between the conditions of the runs; empty within one run.
    pub differences: Vec<Difference>,
    /// The anchor that all runs share. `None` within one run, if a run has no anchor, or if a side is the anchor
    /// itself.
    pub anchor: Option<SharedAnchor>,
    /// The tests, in run order. A test is a step at a client count.
    pub tests: Vec<TestComparison>,
    /// The mean of each group in which at least two tests have a ratio, in run order. Empty if there is only one group,
    /// or if the two systems are the same.
    pub groups: Vec<GroupMean>,
    /// The mean over all tests; `None` without a ratio, or if the two systems are the same.
    pub overall: Option<GroupMean>,
}

/// Identifies a system in results.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Side {
    /// The run's number in its results file. With several sessions, it is the number of the first session's run.
    pub run: i64,
    /// The numbers of all runs of this side. Each run is a session.
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
    /// The rounds that do not count because neighbours disturbed them. `None` if there are none.
    pub disturbed: Option<DisturbedRounds>,
    /// The test's contribution to the overall verdict.
    pub gate: GateVote,
    /// Median of the base's figures over rounds.
    pub base: Option<f64>,
    /// Median of the candidate's figures over rounds.
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
    /// The rounds that both systems completed, from which the ratio is computed. Empty if rounds are not paired.
    pub rounds: Vec<RoundRatio>,
    /// Differences within this margin count as "the same". It is the rule's margin, and noise does not widen it.
    pub margin: Margin,
    /// Differences beyond this margin are alarms. It is the rule's margin, widened if an A/A pair is noisy.
    pub alarm_margin: Margin,
    /// Two-sided p-value of this test alone: the probability of a difference this far beyond the margin of alarms
    /// if the true difference is within that margin.
    pub p: Option<f64>,
    /// `p`, adjusted for all tests together.
    pub p_adjusted: Option<f64>,
    /// Estimated number of further rounds until a verdict. If sessions are the replicates, it is the number of further
    /// sessions of each system, in turns. `None` if there is a verdict, or if more than 1000 are needed.
    pub more_rounds: Option<usize>,
    /// Whether the candidate is significantly not worse by more than the margin.
    pub rules_out_regression: bool,
    /// How much log ratios vary between separate loads of the data, as a standard deviation. Known only if the data was
    /// loaded several times, and several rounds share a load.
    pub between_loads: Option<f64>,
    /// Standard deviation of log ratios between instances; `None` with fewer than two rounds.
    pub between_instances: Option<f64>,
    /// Standard deviation of log ratios between neighbouring slices; `None` without slices.
    pub between_slices: Option<f64>,
    /// The ratios of the other quantities that were measured for both systems. These ratios have no verdict.
    pub costs: BTreeMap<Quantity, CostRatio>,
    pub warnings: Vec<TestWarning>,
}

/// The candidate's figure as a multiple of the base's in one round.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RoundRatio {
    /// The round, from 0.
    pub round: u32,
    pub ratio: f64,
    /// Standard error of the ratio's logarithm, from slices; `None` for whole trials.
    pub standard_error: Option<f64>,
    /// Number of slices of each system from which the ratio is computed; 0 for whole trials.
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
    /// At least one system was measured in too few sessions for any verdict among this many tests.
    TooFewSessions {
        /// Number of sessions of the system that has fewer.
        sessions: usize,
        /// Number of sessions that a verdict needs for each system.
        wanted: usize,
    },
    /// Each system was measured in enough sessions, but too few of these sessions can be paired with a session of the
    /// other system that is their neighbour in time. So a difference between the systems cannot be distinguished from a
    /// slow change of the host.
    NotAlternating {
        /// Number of pairs. In half of them, the base comes first.
        pairs: usize,
        /// Number of pairs that a verdict needs.
        wanted: usize,
    },
    /// Each system was measured in a single session, and the two sessions have no common anchor. So a difference
    /// between the systems cannot be distinguished from a difference between the sessions.
    OneSession,
    /// Neighbours disturbed some rounds, and too few undisturbed rounds remain.
    Disturbed(DisturbedRounds),
    /// The interval is partly within the margin and partly beyond it.
    Interval,
    /// A system's rate was still rising or falling.
    NoLevel { system: String },
    /// The candidate's rate falls during the trial, while the base's rate is level.
    Decays {
        /// The candidate's rate at the end of a trial as a multiple of its rate at the start, median of the rounds.
        change: f64,
    },
    /// The test is the loading of data, which is measured in only some rounds, by design. The other rounds restore the
    /// data.
    MeasuredOnce,
    /// The quantity was not measured, or is 0.
    NotMeasured,
    /// In some round only one system finished operations, or one of the systems finished no operation in any round. A
    /// ratio to 0 operations is not defined.
    NothingDone { system: String },
    /// At the rate of the step, no event was due in any round.
    NothingDue,
    /// In some round, only a lower bound of the quantity is known, because of unfinished events.
    OnlyBounds { system: String },
    /// The two systems are the same, because the settings in which they should differ are not in force.
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
    /// In some rounds there were stalls, which the host may have caused. The reported ratio is the ratio of
    /// neighbouring slices, which differs from the ratio of all operations over the whole time.
    Stalls {
        /// The ratio of the systems' rates over the whole time in one round. It is the round in which the difference
        /// between this ratio and the reported one is the median of these differences.
        whole_ratio: f64,
    },
    /// There were stalls in every round, so the system itself causes them. The reported ratio is mostly the ratio
    /// of all operations over the whole time.
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
        /// Number of rounds in which the base failed.
        rounds: usize,
        /// Rounds in which a trial was started.
        of: usize,
    },
    /// The system used one instance in several rounds, so these rounds share the effects of its start.
    NotFresh { system: String },
    /// In some rounds, only this system's threads were pinned to their own cores, which changes its rate.
    PinnedAlone { system: String, rounds: usize },
}

impl TestWarning {
    /// Whether the warning concerns only this test of these two systems. Other warnings concern more: a failure is also
    /// a warning of a system's own trials, and a reused instance concerns all tests.
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
    /// The difference is within the margin.
    Same,
    /// None of the other findings is shown.
    NotEnoughEvidence,
    /// The candidate failed in rounds that the base completed.
    Failed,
    /// The candidate's rate falls during the trial, while the base's rate is level. The ratio of the rates depends
    /// on the length of the trial, so it is not judged.
    Decays,
    /// No number of rounds can decide the test. [`TestComparison::undecided`] has the reason.
    Unjudged,
}

/// A geometric mean of ratios.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GroupMean {
    /// The group; empty for all tests.
    pub group: String,
    /// Number of tests in the mean. Each test has a ratio in each of the rounds.
    pub tests: usize,
    pub ratio: f64,
    /// Confidence interval of the mean, from its variation over rounds.
    pub interval: Option<Interval>,
    pub method: Method,
    /// Number of values from which the mean is computed: rounds, pairs of sessions, or sessions of each system.
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
    /// The tests that have no verdict because neighbours disturbed their rounds; `None` if there are none. Controls
    /// are left out.
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
    /// The tests that have no verdict because neighbours disturbed their rounds; `None` if there are none.
    pub fn disturbed(&self) -> Option<DisturbedTests> {
        DisturbedTests::among(self.tests.iter())
    }

    /// Number of tests with a finding.
    pub fn count(&self, finding: Finding) -> usize {
        self.tests.iter().filter(|test| test.finding == finding).count()
    }
}
