//! What the courses of trials say, as the reports have it.

use dyno_judge::{CellWarning, TestWarning, TrialCheck};
use serde::Serialize;

/// How evenly the systems delivered in a group of steps.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct VariationRow {
    /// The group.
    pub group: String,
    /// For each system, in order; none if it has no trial of five samples or more.
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
    /// The most of those in a row.
    pub stalled_longest: usize,
}

/// A system in a test that deserves a second look.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TrialWarnings {
    /// The step.
    pub step: String,
    /// Client connections.
    pub clients: u32,
    /// The system's id.
    pub system: String,
    /// Completed rounds.
    pub rounds: u64,
    /// Those of them in which something disturbed, did not agree or was not steady.
    pub affected: u64,
    /// Trials during which somebody else used the host.
    pub disturbed: u64,
    /// The greatest share of CPU time that the hypervisor took in them.
    pub steal_share_max: f64,
    /// The greatest share of CPU time that other processes used in them.
    pub others_share_max: f64,
    /// Trials whose throughput, latency and clients do not agree.
    pub little_broken: u64,
    /// Throughput times latency as a share of the clients, furthest from 1 in them.
    pub busy_share_worst: Option<f64>,
    /// Trials that were no steady state.
    pub unsteady: u64,
    /// How much higher the end was than the beginning, as a share of the median: the furthest from 0 in them.
    pub change_worst: Option<f64>,
    /// What the analysis warns of.
    pub warnings: Vec<CellWarning>,
    /// What it warns of in the comparison with the base.
    pub against_base: Vec<TestWarning>,
}

/// A completed trial with its check.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CheckedTrial {
    /// The step.
    pub step: String,
    /// Client connections.
    pub clients: u32,
    /// The system's id.
    pub system: String,
    /// Its round, from 0.
    pub round: u32,
    /// What was found.
    #[serde(flatten)]
    pub check: TrialCheck,
}
