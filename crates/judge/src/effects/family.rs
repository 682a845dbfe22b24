//! Compares the figures of events and of replicas with the base's figures, over rounds. All figures of events are one
//! family of tests, and all figures of replicas are another.

use std::collections::BTreeSet;

use dyno_stats::{
    Better, Interval, Method, RatioEstimate, SharedTest, Verdict, max_t, ratio_of_rounds, verdict,
};
use dyno_store::{Correction, Run};
use serde::Serialize;

use crate::analysis::test::RoundValue;
use crate::compare::comparison::Finding;
use crate::compare::noise;
use crate::compare::rule::{ROUNDS_WITH_VERDICT_MIN, Rule};

/// A measured quantity of an event or of replicas, for one system.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct EffectFigure {
    /// Median over rounds.
    pub median: f64,
    pub rounds: Vec<RoundValue>,
    /// The figure as a multiple of the base's figure. `None` for the base itself, and if no round has both figures.
    pub against_base: Option<EffectRatio>,
}

/// The ratio of a figure to the base's figure in the same round, estimated over rounds. The precision of the
/// figure, a small amount, is added to both figures, because many figures are 0.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct EffectRatio {
    pub ratio: f64,
    pub interval: Option<Interval>,
    pub method: Method,
    /// Number of rounds from which the ratio is estimated.
    pub rounds: usize,
    /// Improved, regressed, same, or not enough evidence. All figures of all candidates are one family.
    pub finding: Finding,
    /// The p-value, adjusted for the number of tests in the family; `None` with too few rounds.
    pub p_adjusted: Option<f64>,
}

/// A figure of a system as a multiple of the base's figure. `at` is the position of the figure in the results.
pub(super) struct Measured<K> {
    pub(super) at: K,
    ln_ratios: Vec<(u32, f64)>,
    estimate: RatioEstimate,
    /// Whether the figure belongs to the family. Figures of controls, which should not differ from the base, and
    /// figures with too few rounds do not belong to it.
    is_judged: bool,
}

/// A system and the base that it is compared with, and the rule of the comparison.
#[derive(Clone, Copy)]
pub(super) struct Pair<'a> {
    pub(super) run: &'a Run,
    pub(super) rule: &'a Rule,
    pub(super) system: &'a str,
    pub(super) base: &'a str,
}

impl Pair<'_> {
    /// The figure of the system as a multiple of the base's figure. The precision of the figure, `added`, is added to
    /// both. `None` if no round has both figures.
    pub(super) fn measure<K>(
        &self,
        at: K,
        base: &[RoundValue],
        own: &[RoundValue],
        added: f64,
    ) -> Option<Measured<K>> {
        let ln_ratios = ln_ratios(base, own, added);
        let values: Vec<f64> = ln_ratios.iter().map(|(_, ln)| *ln).collect();
        let estimate = ratio_of_rounds(&values, self.rule.margin, self.rule.confidence())?;
        let is_judged = !self.is_control() && ln_ratios.len() >= ROUNDS_WITH_VERDICT_MIN;
        Some(Measured { at, ln_ratios, estimate, is_judged })
    }

    fn is_control(&self) -> bool {
        let pair = (self.system, self.base);
        noise::controls(self.run, self.rule)
            .any(|(control, original)| [(control, original), (original, control)].contains(&pair))
    }
}

/// The ratios of a family with their verdicts. For every figure, less is better.
pub(super) fn judge<K>(measured: Vec<Measured<K>>, rule: &Rule) -> Vec<(K, EffectRatio)> {
    let family: Vec<&Measured<K>> = measured.iter().filter(|it| it.is_judged).collect();
    let mut adjusted = adjust(&family, rule).into_iter();
    let ratio = |it: Measured<K>| {
        let p = if it.is_judged { adjusted.next() } else { None };
        let ratio = EffectRatio {
            ratio: it.estimate.ratio,
            interval: it.estimate.interval,
            method: it.estimate.method,
            rounds: it.ln_ratios.len(),
            finding: p.map_or(Finding::NotEnoughEvidence, |p| finding(&it.estimate, p, rule)),
            p_adjusted: p,
        };
        (it.at, ratio)
    };
    measured.into_iter().map(ratio).collect()
}

/// The logarithm of the ratio in each round in which both systems have the figure.
fn ln_ratios(base: &[RoundValue], own: &[RoundValue], added: f64) -> Vec<(u32, f64)> {
    let ln_ratio = |own: &RoundValue| {
        let base = base.iter().find(|base| base.round == own.round)?;
        let (base, value) = (base.value + added, own.value + added);
        (base > 0.0 && value > 0.0).then(|| (own.round, (value / base).ln()))
    };
    own.iter().filter_map(ln_ratio).collect()
}

/// Seed of the random sign reversals, which are used if there are too many rounds to try all reversals.
const SEED: u64 = 44;

/// The p-values of a family, adjusted for its number of tests and for all looks.
fn adjust<K>(family: &[&Measured<K>], rule: &Rule) -> Vec<f64> {
    if rule.correction() == Correction::MaxT {
        let rounds: BTreeSet<u32> =
            family.iter().flat_map(|it| &it.ln_ratios).map(|(round, _)| *round).collect();
        let shared = |it: &&Measured<K>| {
            let of = |round: &u32| it.ln_ratios.iter().find(|(own, _)| own == round).map(|(_, ln)| *ln);
            SharedTest { ln_ratios: rounds.iter().map(of).collect(), margin: rule.margin }
        };
        let adjusted = max_t(&family.iter().map(shared).collect::<Vec<_>>(), rounds.len(), SEED);
        adjusted.into_iter().map(|p| rule.over_looks(p)).collect()
    } else {
        rule.adjust_over_looks(&family.iter().map(|it| it.estimate.p()).collect::<Vec<_>>())
    }
}

fn finding(estimate: &RatioEstimate, p: f64, rule: &Rule) -> Finding {
    if p <= rule.alpha {
        return if estimate.p_above < estimate.p_below { Finding::Regressed } else { Finding::Improved };
    }
    match verdict(estimate.interval, rule.margin, Better::Lower) {
        Verdict::Same => Finding::Same,
        _ => Finding::NotEnoughEvidence,
    }
}
