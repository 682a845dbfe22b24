//! The result of a search for better settings.

use std::collections::BTreeMap;

use dyno_judge::{ProbeEffect, TuneProbe, Tuned};
use dyno_stats::Margin;
use serde::Serialize;

/// A search for better settings, with its result.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TuneReport {
    pub plan: String,
    /// The system whose settings were the base of the search.
    pub system: String,
    /// The system's engine, by the plan's name.
    pub engine: String,
    /// The steps for which the system was tuned. If there are several steps, the mean over the steps decides.
    pub steps: Vec<String>,
    /// The numbers of clients at which the steps in `steps` ran.
    pub clients: Vec<u32>,
    /// Memory that the server could use, in bytes.
    pub memory_bytes: u64,
    /// The settings that the search tried. Sets of values refer to settings and values by index.
    pub settings: Vec<TriedSetting>,
    /// Settings and values that were not tried, with the reasons.
    pub left_out: Vec<LeftOutOfTuning>,
    /// Number of candidates that the search began with.
    pub candidates: usize,
    pub margin: Margin,
    /// Largest probability that a recommended value is not better by more than the margin.
    pub alpha: f64,
    pub tuned: Tuned,
    /// The recommended settings. `None` if no better settings were found.
    pub recommendation: Option<Recommendation>,
    /// The comparisons, in order.
    pub comparisons: Vec<TuneComparison>,
}

/// A setting that was tried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TriedSetting {
    /// The setting's newest name.
    pub name: String,
    /// Why another value than the base's may be better.
    pub why: String,
    /// What the other value gives up, such as durability. `None` if it gives up nothing.
    pub gives_up: Option<String>,
    pub values: Vec<String>,
}

/// A setting, or a single value of a setting, that the search did not try.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LeftOutOfTuning {
    pub name: String,
    pub value: Option<String>,
    /// The reason, in words that follow the name.
    pub reason: String,
}

/// The settings that the search recommends.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Recommendation {
    /// All settings of the system by the server's names, including the settings of its plan.
    pub settings: BTreeMap<String, String>,
    /// Names of the settings that the system does not have yet, or has with another value.
    pub changed: Vec<String>,
    pub effect: Option<ProbeEffect>,
    /// What the base guarantees after a power cut, in words.
    pub promise_of_base: String,
    /// What the recommended settings guarantee after a power cut, in words. It follows from the values that the
    /// server reported.
    pub promise: String,
    /// What the recommended settings give up, one line each.
    pub gives_up: Vec<String>,
}

/// A comparison of a search.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TuneComparison {
    /// The number of the comparison's run in the results file. `None` if the server refused the settings before a
    /// run.
    pub run: Option<i64>,
    pub probe: TuneProbe,
    pub rounds: u32,
    pub effect: Option<ProbeEffect>,
    /// Why the comparison did not measure an effect.
    pub refused: Option<String>,
    /// Duration of the comparison, in seconds.
    pub seconds: f64,
}
