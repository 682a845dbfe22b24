//! What a search for better settings has found.

use std::collections::BTreeMap;

use dyno_judge::{ProbeEffect, TuneProbe, Tuned};
use dyno_stats::Margin;
use serde::Serialize;

/// A search for better settings with what it is about.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TuneReport {
    pub plan: String,
    /// The system whose settings were the base.
    pub system: String,
    /// Its engine, as the plan names it.
    pub engine: String,
    /// The steps that it was tuned for; of several the mean counts.
    pub steps: Vec<String>,
    /// The numbers of clients of these steps.
    pub clients: Vec<u32>,
    /// Memory that a server could use, in bytes.
    pub memory_bytes: u64,
    /// The settings that were tried. Sets of values have their indices.
    pub settings: Vec<TriedSetting>,
    /// What was not tried, and why.
    pub left_out: Vec<LeftOutOfTuning>,
    /// Number of candidates that the search began with.
    pub candidates: usize,
    pub margin: Margin,
    /// The probability that what is recommended is not better by more than the margin, at most.
    pub alpha: f64,
    pub tuned: Tuned,
    /// None if nothing better was found.
    pub recommendation: Option<Recommendation>,
    /// The comparisons, in their order.
    pub comparisons: Vec<TuneComparison>,
}

/// A setting that was tried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TriedSetting {
    /// Its newest name.
    pub name: String,
    /// Why another value may be better.
    pub why: String,
    /// What is given up with it.
    pub gives_up: Option<String>,
    pub values: Vec<String>,
}

/// A setting, or a value of one, that was not tried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeftOutOfTuning {
    pub name: String,
    pub value: Option<String>,
    /// Why, in words that follow the name.
    pub reason: String,
}

/// Settings that are better.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Recommendation {
    /// All of the system's settings, by the server's own names, those that its plan gives it included.
    pub settings: BTreeMap<String, String>,
    /// Those that are new or have another value.
    pub changed: Vec<String>,
    pub effect: Option<ProbeEffect>,
    /// What the base promises for a power cut.
    pub promise_of_base: String,
    /// What the recommended settings promise, by what the server reported with them.
    pub promise: String,
    /// What is given up, a line each.
    pub gives_up: Vec<String>,
}

/// A comparison of a search.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TuneComparison {
    /// Its run in the results file; none if it was refused before it was run.
    pub run: Option<i64>,
    pub probe: TuneProbe,
    pub rounds: u32,
    pub effect: Option<ProbeEffect>,
    /// Why there is no effect.
    pub refused: Option<String>,
    /// Time that it took, in seconds.
    pub seconds: f64,
}
