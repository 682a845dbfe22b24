//! The rule of verdicts.

use dyno_stats::{Margin, ROUNDS_MIN, benjamini_hochberg, holm};
use dyno_store::{Correction, Run};
use serde::Serialize;

use crate::trial::quantity::Quantity;

/// Fewest rounds for a verdict on any test: the fewest that give an exact interval. Some starts of a server are
/// fast and others slow. With fewer rounds, it happens too often that one of several equal systems has only fast
/// starts. A family of many tests may need more rounds.
pub(crate) const ROUNDS_WITH_VERDICT_MIN: usize = ROUNDS_MIN;

/// The rule by which verdicts are made.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Rule {
    pub quantity: Quantity,
    /// Differences below this margin do not matter. A noisy A/A pair widens the margin of alarms.
    pub margin: Margin,
    /// Largest probability that any alarm is false.
    pub alpha: f64,
    /// Correction for the number of tests; `None` for the correction that the runs record.
    pub correction: Option<Correction>,
    /// Number of times that the rounds may have been judged before the run ends ([`dyno_stats::Looks`]). The
    /// number of the run is used if it is larger.
    pub looks: usize,
    /// Additional controls with their originals, as (control, original), besides those of the run.
    pub controls: Vec<(String, String)>,
    /// Steps to compare; all if empty.
    pub steps: Vec<String>,
}

impl Default for Rule {
    fn default() -> Self {
        Self {
            quantity: Quantity::Throughput,
            margin: Margin::least(),
            alpha: 0.05,
            correction: None,
            looks: 1,
            controls: Vec::new(),
            steps: Vec::new(),
        }
    }
}

impl Rule {
    /// The confidence of the interval of a single test.
    pub(crate) fn confidence(&self) -> f64 {
        1.0 - self.alpha / self.looks as f64
    }

    /// The correction for the number of tests.
    pub fn correction(&self) -> Correction {
        self.correction.unwrap_or_default()
    }

    /// This rule for some runs. It takes the runs' number of looks if that is larger, and the runs' correction if the
    /// rule names no correction. Runs with different corrections are judged with the default.
    pub(crate) fn for_runs<'a>(&self, runs: impl IntoIterator<Item = &'a Run>) -> Self {
        let mut rule = self.clone();
        let mut corrections = Vec::new();
        for run in runs {
            rule.looks = rule.looks.max(run.record.looks as usize);
            corrections.push(run.record.correction);
        }
        corrections.dedup();
        let of_runs = if let [one] = corrections[..] { one } else { Correction::default() };
        rule.correction.get_or_insert(of_runs);
        rule
    }

    /// The p-values, adjusted for all tests together. Max-T needs rounds that the tests share. Without them, Holm's
    /// correction is used.
    pub(crate) fn adjust(&self, p: &[f64]) -> Vec<f64> {
        match self.correction() {
            Correction::Holm | Correction::MaxT => holm(p),
            Correction::Fdr => benjamini_hochberg(p),
            Correction::None => p.to_vec(),
        }
    }

    /// The confidence that an alarm needs in the worst case, if `tests` p-values are [adjusted](Self::adjust)
    /// together.
    pub(crate) fn confidence_among(&self, tests: usize) -> f64 {
        match self.correction() {
            Correction::Holm | Correction::MaxT => 1.0 - self.alpha / (self.looks * tests.max(1)) as f64,
            Correction::Fdr | Correction::None => self.confidence(),
        }
    }
}
