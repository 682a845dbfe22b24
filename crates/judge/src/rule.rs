//! What counts as a difference.

use dyno_stats::{Margin, benjamini_hochberg, holm};
use serde::Serialize;

use crate::quantity::Quantity;

/// No verdict rests on fewer rounds. With two, equals whose every start is either fast or slow would raise false
/// alarms in one case of eight, with three in one of 32 (`docs/statistics.md`).
pub(crate) const ROUNDS_WITH_VERDICT_MIN: usize = 3;

/// How verdicts are reached.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rule {
    pub quantity: Quantity,
    /// The least difference that matters. A noisy A/A pair raises that of alarms.
    pub margin: Margin,
    /// The error that all alarms together may have.
    pub alpha: f64,
    /// How the number of tests is accounted for.
    pub correction: Correction,
    /// How often the rounds may have been judged before the run ended ([`dyno_stats::Looks`]); at least what the run
    /// says.
    pub looks: usize,
    /// Systems that repeat another, as (twin, original), beside those that the run itself says are.
    pub twins: Vec<(String, String)>,
    /// Steps to compare; all if empty.
    pub steps: Vec<String>,
}

impl Default for Rule {
    fn default() -> Self {
        Self {
            quantity: Quantity::Throughput,
            margin: Margin::least(),
            alpha: 0.05,
            correction: Correction::Holm,
            looks: 1,
            twins: Vec::new(),
            steps: Vec::new(),
        }
    }
}

impl Rule {
    /// The confidence of the interval of a single test.
    pub(crate) fn confidence(&self) -> f64 {
        1.0 - self.alpha / self.looks as f64
    }

    /// The confidence that an alarm takes at worst, among so many tests.
    pub(crate) fn confidence_among(&self, tests: usize) -> f64 {
        match self.correction {
            Correction::Holm => 1.0 - self.alpha / (self.looks * tests.max(1)) as f64,
            Correction::FalseDiscovery | Correction::None => self.confidence(),
        }
    }
}

/// How many tests at once are accounted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Correction {
    /// The chance of any false alarm is bounded: for a gate.
    Holm,
    /// The share of false alarms is bounded: for exploring.
    FalseDiscovery,
    /// Each test on its own.
    None,
}

impl Correction {
    /// The p-values as they hold for all tests together.
    pub(crate) fn adjust(self, p: &[f64]) -> Vec<f64> {
        match self {
            Self::Holm => holm(p),
            Self::FalseDiscovery => benjamini_hochberg(p),
            Self::None => p.to_vec(),
        }
    }
}
