//! The rule of verdicts.

use dyno_stats::{Look, Margin, ROUNDS_MIN, benjamini_hochberg, holm, rounds_min};
use dyno_store::{Correction, Run};
use serde::Serialize;

use crate::compare::look::look_of;
use crate::trial::quantity::Quantity;

/// Fewest rounds for a verdict on a test. With fewer rounds there is no exact interval. Some starts of a server are
/// fast and others slow, so with fewer rounds it happens too often that one of several equal systems has only fast
/// starts. A family of many tests may need more rounds.
pub(crate) const ROUNDS_WITH_VERDICT_MIN: usize = ROUNDS_MIN;

/// Fewest rounds in which each test of a family of `tests` tests can have an alarm, at the error probability `alpha`.
/// The tests share rounds.
pub fn rounds_for_family(correction: Correction, tests: usize, alpha: f64) -> usize {
    rounds_min(1.0 - alpha / tests_sharing(correction, tests) as f64).max(ROUNDS_WITH_VERDICT_MIN)
}

/// In the worst case, a correction compares a test's p-value with the error probability divided by this number. It is 1
/// for corrections with which a clear difference needs no more rounds than in a single test.
pub fn tests_sharing(correction: Correction, tests: usize) -> usize {
    match correction {
        Correction::Holm => tests.max(1),
        Correction::MaxT | Correction::Fdr | Correction::None => 1,
    }
}

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
    /// Number of looks: how often the run may be judged until it ends ([`dyno_stats::Looks`]). If the run records a
    /// larger number, that number is used.
    pub looks: usize,
    /// The look at which the run is judged, with the look's part of `alpha`. `None` if the run is judged only once.
    /// Several runs are judged at the strictest of their looks.
    pub look: Option<Look>,
    /// Controls in addition to those of the run, as (control, original).
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
            look: None,
            controls: Vec::new(),
            steps: Vec::new(),
        }
    }
}

impl Rule {
    /// The error probability of this judgement. It is the part of `alpha` that the look has, or all of `alpha` if the
    /// run is judged only once.
    fn level(&self) -> f64 {
        self.look.map_or(self.alpha, |look| look.alpha)
    }

    /// The confidence of the interval of a single test.
    pub fn confidence(&self) -> f64 {
        1.0 - self.level()
    }

    /// The correction for the number of tests.
    pub fn correction(&self) -> Correction {
        self.correction.unwrap_or_default()
    }

    /// This rule for some runs. Its look is the strictest of the looks that the runs have reached. If the rule has
    /// no correction, it gets the runs' correction, or the default if the runs have different corrections.
    pub(crate) fn for_runs<'a>(&self, runs: impl IntoIterator<Item = &'a Run>) -> Self {
        let mut rule = self.clone();
        let mut corrections = Vec::new();
        for run in runs {
            rule.looks = rule.looks.max(run.record.looks as usize);
            let look = look_of(run, None, rule.alpha);
            rule.look = rule.look.into_iter().chain(look).min_by(|a, b| a.alpha.total_cmp(&b.alpha));
            corrections.push(run.record.correction);
        }
        corrections.dedup();
        let of_runs = if let [one] = corrections[..] { one } else { Correction::default() };
        rule.correction.get_or_insert(of_runs);
        rule
    }

    /// This rule for a run as it was after a round.
    pub(crate) fn at(&self, run: &Run, last_round: u32) -> Self {
        Self { look: look_of(run, Some(last_round), self.alpha), ..self.clone() }
    }

    /// The p-values, adjusted for all tests together. Here, Holm's correction replaces max-T, because max-T needs the
    /// rounds that the tests share and not only their p-values.
    pub(crate) fn adjust(&self, p: &[f64]) -> Vec<f64> {
        match self.correction() {
            Correction::Holm | Correction::MaxT => holm(p),
            Correction::Fdr => benjamini_hochberg(p),
            Correction::None => p.to_vec(),
        }
    }

    /// A p-value, adjusted for all looks. The result is at most α if and only if the p-value is at most the level
    /// of the look.
    pub(crate) fn over_looks(&self, p: f64) -> f64 {
        let (alpha, level) = (self.alpha, self.level());
        let adjusted = p * (alpha / level);
        // Many p-values are equal to the level. The tolerance allows for rounding.
        if p <= level * (1.0 + 1e-9) { adjusted.min(alpha) } else { adjusted.max(alpha.next_up()).min(1.0) }
    }

    /// The p-values, adjusted for all tests together and for all looks.
    pub(crate) fn adjust_over_looks(&self, p: &[f64]) -> Vec<f64> {
        self.adjust(p).into_iter().map(|p| self.over_looks(p)).collect()
    }

    /// The confidence that an alarm needs in the worst case, if a correction adjusts `tests` p-values together.
    pub(crate) fn confidence_among(&self, correction: Correction, tests: usize) -> f64 {
        1.0 - self.level() / tests_sharing(correction, tests) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_p_value_of_a_look_is_compared_with_its_level() {
        let level = 2.0 / 128.0;
        let look = Some(Look { rounds: 7, alpha: level });
        for alpha in [0.05, 0.01, 0.1, 1.0 / 30.0] {
            let rule = Rule { alpha, look, ..Rule::default() };
            assert!(rule.over_looks(level) <= alpha && rule.over_looks(level / 2.0) <= alpha / 2.0);
            assert!(rule.over_looks(level + 2.0_f64.powi(-14)) > alpha);
            assert!((rule.confidence() - (1.0 - level)).abs() < 1e-12);
        }
        let once = Rule::default();
        for p in [0.01, 0.05, 0.2, 1.0] {
            assert!((once.over_looks(p) - p).abs() < 1e-12);
        }
    }

    #[test]
    fn only_holm_needs_more_rounds_for_more_tests() {
        for (correction, rounds) in [
            (Correction::MaxT, [6, 6, 6]),
            (Correction::Holm, [6, 10, 14]),
            (Correction::Fdr, [6, 6, 6]),
            (Correction::None, [6, 6, 6]),
        ] {
            assert_eq!([1, 20, 296].map(|tests| rounds_for_family(correction, tests, 0.05)), rounds);
        }
        assert_eq!(rounds_for_family(Correction::MaxT, 24, 0.5), 6, "never fewer than six");
    }
}
