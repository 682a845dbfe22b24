//! The result of a search for better settings.

use std::collections::BTreeMap;

use dyno_judge::{ProbeEffect, TuneProbe, Tuned};
use dyno_stats::Margin;
use serde::Serialize;

/// The result and subject of a search for better settings.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TuneReport {
    pub plan: String,
    /// The system whose settings were the base.
    pub system: String,
    /// Its engine, by the plan's name.
    pub engine: String,
    /// The steps that it was tuned for. If there are several, their mean decides.
    pub steps: Vec<String>,
    /// The numbers of clients of these steps.
    pub clients: Vec<u32>,
    /// Memory that the server could use, in bytes.
    pub memory_bytes: u64,
    /// The settings that were tried. Sets of values refer to them by index.
    pub settings: Vec<TriedSetting>,
    /// Settings and values that were not tried, with the reasons.
    pub left_out: Vec<LeftOutOfTuning>,
    /// Number of candidates that the search began with.
    pub candidates: usize,
    pub margin: Margin,
    /// Largest probability that a recommended value is not better by more than the margin.
    pub alpha: f64,
    pub tuned: Tuned,
    /// `None` if nothing better was found.
    pub recommendation: Option<Recommendation>,
    /// The comparisons, in order.
    pub comparisons: Vec<TuneComparison>,
}

/// A setting that was tried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TriedSetting {
    /// Its newest name.
    pub name: String,
    /// Why another value may be better.
    pub why: String,
    /// The disadvantage of the value.
    pub gives_up: Option<String>,
    pub values: Vec<String>,
}

/// A setting, or a value of one, that was not tried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeftOutOfTuning {
    pub name: String,
    pub value: Option<String>,
    /// The reason, in words that follow the name.
    pub reason: String,
}

/// Settings that are better.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Recommendation {
    /// All settings of the system under the server's names, including those from its plan.
    pub settings: BTreeMap<String, String>,
    /// Settings that are new or have another value.
    pub changed: Vec<String>,
    pub effect: Option<ProbeEffect>,
    /// What the base guarantees after a power cut.
    pub promise_of_base: String,
    /// What the recommended settings guarantee after a power cut, by the values that the server reported.
    pub promise: String,
    /// The disadvantages, a line each.
    pub gives_up: Vec<String>,
}

/// A comparison of a search.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TuneComparison {
    /// Its run in the results file; `None` if its settings were refused before a run.
    pub run: Option<i64>,
    pub probe: TuneProbe,
    pub rounds: u32,
    pub effect: Option<ProbeEffect>,
    /// Why there is no effect.
    pub refused: Option<String>,
    /// Its duration, in seconds.
    pub seconds: f64,
}
