//! Variation and checks of trials in the reports.

use dyno_judge::{CellWarning, TestWarning, TrialCheck};
use serde::Serialize;

/// Variation of the systems' throughput in a group of steps.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct VariationRow {
    pub group: String,
    /// For each system, in order; `None` if it has no trial with at least five samples.
    pub systems: Vec<Option<Evenness>>,
}

/// The variation of throughput within a system's trials.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Evenness {
    /// Standard deviation of the seconds as a share of their mean, median of the trials.
    pub coefficient: f64,
    /// The lowest second as a share of the trial's median second, median of the trials.
    pub worst: f64,
    /// Seconds below a tenth of their trial's median, over all trials.
    pub stalled: usize,
    /// Longest sequence of such seconds.
    pub stalled_longest: usize,
}

/// The warnings on a system in a test.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TrialWarnings {
    pub step: String,
    pub clients: u32,
    pub system: String,
    /// Completed rounds, disturbed or not.
    pub rounds: u64,
    /// Rounds that were disturbed, inconsistent or unsteady.
    pub affected: u64,
    pub disturbed: u64,
    /// Largest share of CPU time that the hypervisor took in them.
    pub steal_share_max: f64,
    /// Largest share of CPU time that other processes used in them.
    pub others_share_max: f64,
    /// Trials in which throughput, latency and clients contradict each other.
    pub little_broken: u64,
    /// Throughput times latency as a share of the clients: the value furthest from 1.
    pub busy_share_worst: Option<f64>,
    /// Trials that were not steady.
    pub unsteady: u64,
    /// Change from start to end as a share of the median: the value furthest from 0.
    pub change_worst: Option<f64>,
    /// Warnings of the analysis.
    pub warnings: Vec<CellWarning>,
    /// Warnings of the comparison with the base.
    pub against_base: Vec<TestWarning>,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CheckedTrial {
    pub step: String,
    pub clients: u32,
    pub system: String,
    /// Its round, from 0.
    pub round: u32,
    #[serde(flatten)]
    pub check: TrialCheck,
}
