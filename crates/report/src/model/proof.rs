//! A proof of the cause of a difference.

use dyno_judge::{Probe, ProbeEffect, Proof};
use dyno_stats::Interval;
use serde::Serialize;

/// The prefix that distinguishes the id of a step from the name of a setting.
pub const STEP: &str = "step.";

/// A proof, with the difference that it explains.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProofReport {
    /// The run that showed the difference.
    pub run: i64,
    pub base: String,
    pub candidate: String,
    pub step: String,
    pub clients: u32,
    /// Throughput of the candidate as a multiple of the base's throughput, in the run that showed the difference.
    pub ratio: f64,
    pub interval: Option<Interval>,
    /// The changes from the base to the candidate in the plan. Settings that were changed together are one change.
    /// Probes and causes refer to changes by index.
    pub changes: Vec<ProofChange>,
    /// Differences that are not settings, in words. They may be the cause if the base with all changes does not show
    /// the difference.
    pub others: Vec<String>,
    pub proof: Proof,
    /// The comparisons that were made, in order.
    pub probes: Vec<MadeProbe>,
    /// Largest number of comparisons that the search could have made.
    pub probes_max: usize,
    /// Largest probability that at least one comparison errs.
    pub alpha: f64,
}

/// Settings that were changed together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProofChange {
    pub settings: Vec<ChangedSetting>,
    /// The effect of the change on durability, in words that follow the names of the settings. `None` if it is
    /// unknown.
    pub promise: Option<String>,
}

/// A setting, a limit on the host, or a step that only one of the two systems has run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChangedSetting {
    /// The server's name of a setting, or a name such as `confinement.memory` for a limit, or `step.` and the id of
    /// a step.
    pub name: String,
    /// The base's value in the plan. `None` for the server's default, for no limit, or for a step that the base
    /// does not run.
    pub base: Option<String>,
    pub candidate: Option<String>,
}

/// A comparison that was made.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MadeProbe {
    /// The number of the comparison's run in the results file.
    pub run: i64,
    pub probe: Probe,
    /// The measured effect. `None` if the server refused the settings.
    pub effect: Option<ProbeEffect>,
    /// Why the server refused the settings. `None` if there is an effect.
    pub refused: Option<String>,
    /// Duration of the comparison, in seconds.
    pub seconds: f64,
}
