//! How an amount per operation changes from the base to the candidate.

use dyno_stats::{Interval, median, ratio_of_rounds};
use serde::Serialize;

use crate::compare::rule::{ROUNDS_WITH_VERDICT_MIN, Rule};

/// An amount per operation in two systems.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct AmountChange {
    /// The server's name of a counter, or the name of a cost.
    pub name: String,
    /// The base's amount per operation, median over rounds.
    pub base: f64,
    /// The candidate's amount per operation, median over rounds.
    pub candidate: f64,
    /// The candidate's amount as a multiple of the base's; `None` if either is 0.
    pub ratio: Option<f64>,
    /// `None` without a ratio.
    pub interval: Option<Interval>,
    /// Whether the change is clear: the whole interval is beyond the margin, the ratio exceeds the differences
    /// between the base and its control, and there are enough rounds for a verdict.
    pub is_clear: bool,
    /// Whether the interval lies within the margin.
    pub is_same: bool,
    /// The weight of the change as evidence, from 0 to 1. It is the relative difference, reduced for rare events.
    /// An amount that rose from 0 to 1 per operation has weight 1. An amount that doubled has weight 0.5. An event
    /// that occurs once in 1000 operations has at most weight 0.001.
    pub weight: f64,
}

/// An amount that was counted in a trial.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Amount {
    pub(super) total: f64,
    pub(super) operations: f64,
    /// Measured time of the trial.
    pub(super) seconds: f64,
}

impl Amount {
    fn of_operation(self) -> f64 {
        self.total / self.operations
    }

    fn of_second(self) -> f64 {
        (self.total + 0.5) / self.seconds
    }

    /// The logarithm of the amount per operation. Half an event is added, so that 0 events have a logarithm and a
    /// change from 0 to a few events is large (Haldane, "The estimation and significance of the logarithm of a
    /// ratio of frequencies", Annals of Human Genetics 20, 1956).
    fn ln(self) -> f64 {
        ((self.total + 0.5) / self.operations).ln()
    }
}

/// The change from base to candidate, over rounds. `noise` is the largest log ratio that chance explains. `None` if
/// both amounts are 0, or if there is no round in which both systems finished operations.
pub(super) fn change(
    name: &str,
    rounds: &[(Amount, Amount)],
    noise: Option<f64>,
    rule: &Rule,
) -> Option<AmountChange> {
    let rounds: Vec<(Amount, Amount)> = rounds
        .iter()
        .copied()
        .filter(|(base, candidate)| base.operations > 0.0 && candidate.operations > 0.0)
        .collect();
    let each = |of: fn(&(Amount, Amount)) -> Amount| -> Vec<f64> {
        rounds.iter().map(|round| of(round).of_operation()).collect()
    };
    let base = median(&each(|round| round.0))?;
    let candidate = median(&each(|round| round.1))?;
    let largest = base.max(candidate);
    if largest <= 0.0 {
        return None;
    }
    let estimate = ratio_of_rounds(&ln_ratios(&rounds), rule.margin, rule.confidence())?;
    let is_beyond =
        estimate.interval.is_some_and(|it| it.low > rule.margin.high() || it.high < rule.margin.low());
    let is_same =
        estimate.interval.is_some_and(|it| it.low >= rule.margin.low() && it.high <= rule.margin.high());
    let is_noise = noise.is_some_and(|noise| estimate.ratio.ln().abs() <= noise);
    // If one amount is 0, there is no ratio: it would depend mainly on the half event that is added.
    let has_ratio = base > 0.0 && candidate > 0.0;
    Some(AmountChange {
        name: name.to_owned(),
        base,
        candidate,
        ratio: has_ratio.then_some(estimate.ratio),
        interval: estimate.interval.filter(|_| has_ratio),
        is_clear: is_beyond && !is_noise && rounds.len() >= ROUNDS_WITH_VERDICT_MIN,
        is_same,
        weight: (candidate - base).abs() / largest * largest.min(1.0),
    })
}

/// Events that occur fewer times per second than this count as rare.
const RARE_PER_SECOND: f64 = 20.0;
/// Rates count as alike if they differ by less than this factor.
const ALIKE: f64 = 1.2;

/// Whether a counter grows slowly, and equally fast in both systems, as `Uptime` does. Per operation, such a counter
/// grows more in the slower system. This is no explanation of the difference, only a consequence of it.
pub(super) fn passes_with_time(rounds: &[(Amount, Amount)]) -> bool {
    let of = |side: fn(&(Amount, Amount)) -> Amount| {
        median(&rounds.iter().map(|round| side(round).of_second()).collect::<Vec<_>>())
    };
    let (Some(base), Some(candidate)) = (of(|round| round.0), of(|round| round.1)) else { return false };
    base.max(candidate) < RARE_PER_SECOND && base.max(candidate) < ALIKE * base.min(candidate)
}

/// The noise that a control shows. The control's log ratio has an interval. The noise is the distance from 0 of the end
/// that is farther from 0.
pub(super) fn noise(rounds: &[(Amount, Amount)], rule: &Rule) -> Option<f64> {
    let interval = ratio_of_rounds(&ln_ratios(rounds), rule.margin, rule.confidence())?.interval?;
    Some(interval.low.ln().abs().max(interval.high.ln().abs()))
}

fn ln_ratios(rounds: &[(Amount, Amount)]) -> Vec<f64> {
    rounds.iter().map(|(base, candidate)| candidate.ln() - base.ln()).collect()
}
