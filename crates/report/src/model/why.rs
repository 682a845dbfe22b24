//! Why systems of a run differ: the largest differences, each with its evidence in words, and with a proof if one was
//! made.

use dyno_judge::Explanation;
use dyno_stats::Interval;
use serde::Serialize;

/// Why systems of a run differ.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reasons {
    /// Explanations of tests against the plan's base. Drill-downs show them at the top.
    pub explanations: Vec<Explanation>,
    /// The largest decided differences, with their evidence and proofs.
    pub why: Vec<Why>,
}

/// Why two systems differ in a test.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Why {
    pub base: String,
    pub candidate: String,
    pub step: String,
    pub clients: u32,
    /// Throughput of the candidate as a multiple of the base's.
    pub ratio: f64,
    pub interval: Option<Interval>,
    /// The evidence in sentences.
    pub says: Vec<String>,
    pub proof: ProofState,
    #[serde(skip)]
    pub(crate) title: String,
    /// The cost with the most significant change.
    #[serde(skip)]
    pub(crate) cost: Option<ChangedCost>,
    /// The setting that explains the change of `cost`, with its two values.
    #[serde(skip)]
    pub(crate) suspect: Option<String>,
}

/// A cost of an operation that clearly differs between two systems.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ChangedCost {
    /// The cost's name without its unit.
    pub(crate) name: String,
    /// The cost as a multiple of the base's cost.
    pub(crate) ratio: f64,
}

/// Whether the settings that cause a difference were found by measurement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum ProofState {
    /// The results file has comparisons that show a cause.
    Made {
        /// The result of the comparisons, in sentences.
        says: Vec<String>,
    },
    /// No proof was tried.
    NotMade {
        /// The command that makes the proof.
        command: String,
    },
    /// The systems have no settings that could be changed back.
    Impossible {
        /// The reason, in words that follow a colon.
        reason: String,
    },
}
