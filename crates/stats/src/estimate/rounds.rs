//! Comparison of two systems over rounds, each with fresh instances.

use serde::Serialize;

use crate::distribution::student::{student_quantile, student_tail};
use crate::estimate::interval::{Interval, ROUNDS_MIN, rounds_min};
use crate::estimate::signed_rank::SignedRanks;
use crate::series::effective_size::variance;
use crate::test::verdict::Margin;

/// Method by which an interval was computed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Method {
    /// Order statistics of the means of all pairs of rounds. This method needs six rounds or more.
    Exact,
    /// Student's t of the rounds' log ratios. This method is used if there are too few rounds for order statistics.
    StudentT,
    /// Student's t of the slices of one round. The interval holds for this pair of instances only, so it supports
    /// no verdict.
    ThisPairOnly,
    /// Hodges and Lehmann's shift with the distribution of Mann and Whitney's U, for rounds that are not paired. The
    /// interval is exact, as it is with [`Self::Exact`].
    Unpaired,
    None,
}

/// The candidate's figure as a multiple of the base's.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct RatioEstimate {
    pub ratio: f64,
    /// Confidence interval of the true ratio.
    pub interval: Option<Interval>,
    pub method: Method,
    /// Probability of a ratio at least this far above the margin if the true ratio is not above the margin; 1 if
    /// unknown.
    pub p_above: f64,
    /// Probability of a ratio at least this far below the margin if the true ratio is not below the margin; 1 if
    /// unknown.
    pub p_below: f64,
}

impl RatioEstimate {
    /// A ratio without interval and p-values.
    pub fn without_interval(ratio: f64) -> Self {
        Self { ratio, interval: None, method: Method::None, p_above: 1.0, p_below: 1.0 }
    }

    /// Two-sided p-value: the probability of a difference at least this far beyond the margin if the true difference is
    /// within the margin.
    pub fn p(&self) -> f64 {
        (2.0 * self.p_above.min(self.p_below)).min(1.0)
    }
}

/// Location of the values of rounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Centre {
    pub value: f64,
    /// Confidence interval of the true location; `None` for one round.
    pub interval: Option<Interval>,
    pub method: Method,
}

/// Estimates the location of the values of rounds by the methods of [`ratio_of_rounds`]. `None` without a round.
///
/// If there are at least [`ROUNDS_MIN`] rounds, and enough for the confidence, the location is Hodges and Lehmann's
/// estimate with Wilcoxon's interval. Otherwise the location is the mean with Student's interval, which assumes normal
/// values ("Student", "The probable error of a mean", Biometrika 6(1), 1908).
pub fn centre_of_rounds(values: &[f64], confidence: f64) -> Option<Centre> {
    if is_exact(values.len(), confidence) {
        let ranks = SignedRanks::of(values);
        let interval = ranks.interval(confidence);
        return Some(Centre { value: ranks.centre()?, interval, method: Method::Exact });
    }
    mean_of_rounds(values, confidence)
}

/// The mean with Student's interval; `None` without a value.
fn mean_of_rounds(values: &[f64], confidence: f64) -> Option<Centre> {
    let n = values.len();
    let value = values.iter().sum::<f64>() / n as f64;
    match standard_error(values) {
        Some(error) => {
            let reach = error * student_quantile((1.0 - confidence) / 2.0, (n - 1) as f64);
            let interval = Interval { low: value - reach, high: value + reach, confidence };
            Some(Centre { value, interval: Some(interval), method: Method::StudentT })
        }
        None => (n > 0).then_some(Centre { value, interval: None, method: Method::None }),
    }
}

/// Estimates a ratio from the log ratios of rounds. `None` without a round.
///
/// If there are at least [`ROUNDS_MIN`] rounds, and enough for the confidence, this uses Hodges and Lehmann's estimate
/// with Wilcoxon's test. Otherwise it uses the mean with Student's test. In both cases the interval lies beyond the
/// margin if and only if p is small enough for the confidence.
pub fn ratio_of_rounds(ln_ratios: &[f64], margin: Margin, confidence: f64) -> Option<RatioEstimate> {
    let (upper, lower) = (margin.high().ln(), margin.low().ln());
    if is_exact(ln_ratios.len(), confidence) {
        let ranks = SignedRanks::of(ln_ratios);
        return Some(RatioEstimate {
            ratio: ranks.centre()?.exp(),
            interval: ranks.interval(confidence).map(Interval::exp),
            method: Method::Exact,
            p_above: ranks.p_above(upper),
            p_below: ranks.p_below(lower),
        });
    }
    mean_ratio_of_rounds(ln_ratios, margin, confidence)
}

/// Estimates a ratio by the mean of log ratios and Student's test, for any number of rounds. It is meant for log
/// ratios that are means themselves and therefore nearly normal. `None` without a round.
pub fn mean_ratio_of_rounds(ln_ratios: &[f64], margin: Margin, confidence: f64) -> Option<RatioEstimate> {
    let (upper, lower) = (margin.high().ln(), margin.low().ln());
    let centre = mean_of_rounds(ln_ratios, confidence)?;
    let (p_above, p_below) = match standard_error(ln_ratios) {
        Some(error) => {
            let tail = |distance: f64| match distance {
                0.0 => 0.5,
                distance => student_tail(distance / error, (ln_ratios.len() - 1) as f64),
            };
            (tail(centre.value - upper), tail(lower - centre.value))
        }
        None => (1.0, 1.0),
    };
    Some(RatioEstimate {
        ratio: centre.value.exp(),
        interval: centre.interval.map(Interval::exp),
        method: centre.method,
        p_above,
        p_below,
    })
}

fn is_exact(rounds: usize, confidence: f64) -> bool {
    rounds >= ROUNDS_MIN.max(rounds_min(confidence))
}

/// Standard error of the mean; `None` for one value.
pub(crate) fn standard_error(values: &[f64]) -> Option<f64> {
    variance(values).map(|variance| (variance / values.len() as f64).sqrt())
}

#[cfg(test)]
mod tests;
