//! A proof of what makes a difference.

use dyno_judge::{Probe, ProbeEffect, Proof};
use dyno_stats::Interval;
use serde::Serialize;

/// How the name of a step stands among those of settings, before its id.
pub const STEP: &str = "step.";

/// A proof with what it is about.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProofReport {
    /// The run whose difference is explained.
    pub run: i64,
    pub base: String,
    pub candidate: String,
    pub step: String,
    pub clients: u32,
    /// Throughput of the candidate as a multiple of the base's, in that run.
    pub ratio: f64,
    pub interval: Option<Interval>,
    /// What the plan gives the two otherwise, in groups of what was changed together. Probes and causes have their
    /// indices.
    pub changes: Vec<ProofChange>,
    /// What differs besides, in words; where only the candidate shows the difference, what that may be.
    pub others: Vec<String>,
    pub proof: Proof,
    /// The comparisons that were made, in their order.
    pub probes: Vec<MadeProbe>,
    /// Largest number of comparisons that the search could have made.
    pub probes_max: usize,
    /// The probability that any comparison errs, at most.
    pub alpha: f64,
}

/// Settings that were changed together.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ProofChange {
    pub settings: Vec<ChangedSetting>,
    /// What the change does to a promise of the base, in words that follow the setting; none if nothing is known.
    pub promise: Option<String>,
}

/// A setting, a limit on the host, or a step that only one of the two has run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChangedSetting {
    /// The server's name of a setting; `confinement.memory` or the like for a limit; `step.` with the id of a step.
    pub name: String,
    /// The base's value as the plan sets it; none for the server's default, for no limit, and for a step that is not run.
    pub base: Option<String>,
    pub candidate: Option<String>,
}

/// A comparison that was made.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct MadeProbe {
    /// Its run in the results file.
    pub run: i64,
    pub probe: Probe,
    /// None if the server refused it.
    pub effect: Option<ProbeEffect>,
    /// Why there is no effect.
    pub refused: Option<String>,
    /// Time that it took, in seconds.
    pub seconds: f64,
}
