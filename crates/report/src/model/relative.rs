//! Comparisons of candidates with a base in the reports.

use dyno_judge::{
    Comparison, Finding, GroupMean, Method, RoundRatio, TestComparison, TestWarning, Undecided,
};
use dyno_stats::Interval;
use serde::Serialize;

/// Throughput of a system in a test as a multiple of the base's.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Relative {
    /// The ratio; 1 for the base itself.
    pub ratio: f64,
    /// The interval of the ratio, for this test alone.
    pub interval: Option<Interval>,
    pub method: Method,
    /// The verdict; `None` for the base itself.
    pub finding: Option<Finding>,
    /// Why there is no verdict. `None` if there is a verdict.
    pub undecided: Option<Undecided>,
    /// Estimated number of further rounds until there is a verdict. `None` if there is a verdict, or if the number
    /// is unknown.
    pub more_rounds: Option<usize>,
    /// The p-value of a difference beyond the margin, adjusted for all tests together.
    pub p_adjusted: Option<f64>,
    /// Standard deviation of log ratios between loads of the data.
    pub between_loads: Option<f64>,
    /// Standard deviation of log ratios between instances.
    pub between_instances: Option<f64>,
    /// Standard deviation of log ratios between neighbouring slices.
    pub between_slices: Option<f64>,
    /// The rounds from which the ratio is computed.
    pub rounds: Vec<RoundRatio>,
    pub warnings: Vec<TestWarning>,
}

impl Relative {
    /// The comparison of the base with itself.
    pub(crate) fn of_base() -> Self {
        Self {
            ratio: 1.0,
            interval: None,
            method: Method::None,
            finding: None,
            undecided: None,
            more_rounds: None,
            p_adjusted: None,
            between_loads: None,
            between_instances: None,
            between_slices: None,
            rounds: Vec::new(),
            warnings: Vec::new(),
        }
    }

    /// The comparison of a test. `None` if the test has no ratio.
    pub(crate) fn of(test: &TestComparison) -> Option<Self> {
        Some(Self {
            ratio: test.ratio?,
            interval: test.interval,
            method: test.method,
            finding: Some(test.finding),
            undecided: test.undecided.clone(),
            more_rounds: test.more_rounds,
            p_adjusted: test.p_adjusted,
            between_loads: test.between_loads,
            between_instances: test.between_instances,
            between_slices: test.between_slices,
            rounds: test.rounds.clone(),
            warnings: test.warnings.clone(),
        })
    }
}

/// Throughput of a system in a step, as a multiple of its own throughput in the earlier step that this step
/// repeats. The ratio has no verdict.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RepeatedRatio {
    /// The centre of the ratios of the rounds.
    pub ratio: f64,
    /// Confidence interval of the true ratio.
    pub interval: Option<Interval>,
    pub method: Method,
}

/// Numbers of tests by the candidate's verdict.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct VerdictCounts {
    pub candidate: String,
    /// Tests in which the candidate is faster than the base.
    pub improved: usize,
    /// Tests in which the candidate is slower than the base.
    pub regressed: usize,
    /// Tests in which the candidate is as fast as the base, within the margin.
    pub same: usize,
    /// Tests that are not decided because there is not enough evidence.
    pub not_enough_evidence: usize,
    /// Tests that the base completed and the candidate did not.
    pub failed: usize,
    /// Tests in which the candidate's rate falls during a trial and the base's rate does not.
    pub decays: usize,
    /// Tests that cannot be judged.
    pub unjudged: usize,
    /// The mean ratio over all tests.
    pub overall: Option<GroupMean>,
    /// The mean ratio of each group of tests. Empty if there is only one group.
    pub groups: Vec<GroupMean>,
}

impl VerdictCounts {
    pub(crate) fn of(comparison: &Comparison) -> Self {
        Self {
            candidate: comparison.candidate.system.clone(),
            improved: comparison.count(Finding::Improved),
            regressed: comparison.count(Finding::Regressed),
            same: comparison.count(Finding::Same),
            not_enough_evidence: comparison.count(Finding::NotEnoughEvidence),
            failed: comparison.count(Finding::Failed),
            decays: comparison.count(Finding::Decays),
            unjudged: comparison.count(Finding::Unjudged),
            overall: comparison.overall.clone(),
            groups: comparison.groups.clone(),
        }
    }
}
