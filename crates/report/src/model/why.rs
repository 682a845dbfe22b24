//! Why systems of a run differ: the largest differences, each with its evidence in words, and its proof if there is one.

use dyno_judge::Explanation;
use dyno_stats::Interval;
use serde::Serialize;

/// What was found of why systems of a run differ.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Reasons {
    /// Explanations of tests against the plan's base, with which drill-downs open.
    pub explanations: Vec<Explanation>,
    /// The largest differences.
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
    /// The cost that changed most tellingly.
    #[serde(skip)]
    pub(crate) cost: Option<ChangedCost>,
    /// The setting that acts on the most telling change, with its two values.
    #[serde(skip)]
    pub(crate) suspect: Option<String>,
}

/// A cost of an operation that clearly changed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ChangedCost {
    /// Its name without a unit.
    pub(crate) name: String,
    /// As a multiple of the base's.
    pub(crate) ratio: f64,
}

/// Whether the settings that make a difference were found by measuring.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum ProofState {
    /// The results file has comparisons for it.
    Made {
        /// What they show, in sentences.
        says: Vec<String>,
    },
    /// It was not tried.
    NotMade {
        /// What proves it.
        command: String,
    },
    /// There are no settings to take away.
    Impossible {
        /// In words that follow a colon.
        reason: String,
    },
}
