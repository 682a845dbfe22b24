//! A candidate against a base: a verdict for each test, and for all.

mod build;
mod difference;
mod group;
#[cfg(test)]
mod tests;

use dyno_stats::{Interval, Margin};
use dyno_store::{Operation, Run};
use serde::Serialize;

use crate::rule::Rule;

pub use build::compare;
pub use difference::Difference;

/// A system in a run.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The run.
    pub run: &'a Run,
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
    /// What is judged.
    pub candidate: Side,
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
    /// The system's id.
    pub system: String,
    /// Engine and storage engine as the plan names them.
    pub name: String,
    /// The version that the server told; none if it never started.
    pub engine_version: Option<String>,
}

/// A step at a number of clients.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TestComparison {
    /// The step's group.
    pub group: String,
    /// The step.
    pub step: String,
    /// Client connections.
    pub clients: u32,
    /// What an operation is here.
    pub operation: Operation,
    /// The verdict.
    pub finding: Finding,
    /// Median of the base's trials.
    pub base: Option<f64>,
    /// Median of the candidate's trials.
    pub candidate: Option<f64>,
    /// The candidate as a multiple of the base.
    pub ratio: Option<f64>,
    /// Where the true ratio lies, for this test alone.
    pub interval: Option<Interval>,
    /// Pairs of trials; if they are not paired, the trials of the system with fewer.
    pub pairs: usize,
    /// Whether trials of one number were measured close to each other.
    pub is_paired: bool,
    /// The margin, widened by noise where an A/A pair was measured.
    pub margin: Margin,
    /// The chance of so clear a difference beyond the margin if there is none; two-sided, for this test alone.
    pub p: Option<f64>,
    /// The same, as it holds for all tests together.
    pub p_adjusted: Option<f64>,
    /// About how many more pairs a verdict takes, where there is not enough evidence; none if more than 1000.
    pub more_pairs: Option<usize>,
    /// Whether the candidate is surely not worse by more than the margin.
    pub rules_out_regression: bool,
}

/// The verdict on a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Finding {
    /// Better by more than the margin, accounting for the number of tests.
    Improved,
    /// Worse by more than the margin, accounting for the number of tests.
    Regressed,
    /// Within the margin.
    Same,
    /// None of these can be said yet.
    NotEnoughEvidence,
    /// The candidate completed no trial, the base did.
    Failed,
    /// It cannot be judged: the base failed, the quantity was not measured or is 0, or the plan runs a command that
    /// ends by itself, such as a load, too seldom. It does not count.
    Unjudged,
}

/// A geometric mean of ratios.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct GroupMean {
    /// The group; empty for all tests.
    pub group: String,
    /// Tests that it is the mean of.
    pub tests: usize,
    /// The mean.
    pub ratio: f64,
    /// Its interval; none if a test has too few trials.
    pub interval: Option<Interval>,
}

impl Comparison {
    /// How many tests have a finding.
    pub fn count(&self, finding: Finding) -> usize {
        self.tests.iter().filter(|test| test.finding == finding).count()
    }
}
