//! Variation and checks of trials in the reports.

use dyno_judge::{CellWarning, TestWarning, TrialCheck};
use serde::Serialize;

/// Variation of the systems' throughput in a group of steps.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct VariationRow {
    pub group: String,
    /// One value for each system, in the plan's order. `None` if no trial of the system has at least five samples.
    pub systems: Vec<Option<Evenness>>,
}

/// The variation of throughput within a system's trials.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Evenness {
    /// The median over the trials of this quotient: the standard deviation of a trial's rates by second, divided by
    /// their mean.
    pub coefficient: f64,
    /// The median over the trials of this quotient: the lowest rate of a second in a trial, divided by the trial's
    /// median rate.
    pub worst: f64,
    /// Number of seconds in all trials whose rate is below a tenth of the trial's median rate.
    pub stalled: usize,
    /// Length of the longest sequence of seconds whose rate is below a tenth of the trial's median rate.
    pub stalled_longest: usize,
}

/// The warnings on a system in a test.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct TrialWarnings {
    pub step: String,
    pub clients: u32,
    pub system: String,
    /// Number of completed rounds, including disturbed rounds.
    pub rounds: u64,
    /// Number of rounds that were disturbed, inconsistent or unsteady.
    pub affected: u64,
    pub disturbed: u64,
    /// Largest share of CPU time that the hypervisor took in the disturbed rounds.
    pub steal_share_max: f64,
    /// Largest share of CPU time that other processes used in the disturbed rounds.
    pub others_share_max: f64,
    /// Number of trials in which throughput, latency and client count contradict Little's law.
    pub little_broken: u64,
    /// Throughput times mean latency, divided by the number of clients, in the trial that contradicts Little's law
    /// most. `None` if no trial contradicts it.
    pub busy_share_worst: Option<f64>,
    /// Number of trials in which the rate was not steady.
    pub unsteady: u64,
    /// Change of the rate from the start to the end of a trial, as a share of the trial's median rate, in the trial
    /// with the largest rise or fall.
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
    /// The trial's round, from 0.
    pub round: u32,
    #[serde(flatten)]
    pub check: TrialCheck,
}
