//! Distribution-free confidence interval of a median.

use serde::Serialize;

use crate::binomial;
use crate::median::sorted;

/// Default confidence of an interval, as a lower bound.
pub const CONFIDENCE: f64 = 0.95;

/// Fewest values that allow an interval of [`CONFIDENCE`] without an assumption about their distribution. The extremes
/// of 6 values enclose the median with a probability of 1 − 2/2⁶ = 0.969, those of 5 only with 0.9375.
pub const ROUNDS_MIN: usize = 6;

/// An interval with its confidence.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    pub low: f64,
    pub high: f64,
    /// Probability that the interval encloses the true value. It is at least the requested confidence.
    pub confidence: f64,
}

impl Interval {
    /// Whether the interval excludes "no change".
    pub fn excludes_one(&self) -> bool {
        self.low > 1.0 || self.high < 1.0
    }

    /// The interval of a ratio, from that of its logarithm.
    #[must_use]
    pub fn exp(self) -> Self {
        Self { low: self.low.exp(), high: self.high.exp(), ..self }
    }
}

/// Confidence interval of the median of independent values; none with fewer than [`rounds_min`].
///
/// The interval consists of order statistics, so no distribution is assumed. The median lies between the k-th smallest
/// and the k-th largest value with probability 1 − 2·P(Bin(n, ½) ≤ k − 1). k is the largest for which that is at least
/// `confidence`. (W. R. Thompson, "On confidence ranges for the median", Annals of Mathematical Statistics 7(3), 1936;
/// David and Nagaraja, "Order Statistics", 3rd ed., section 7.1.)
pub fn median_interval(values: &[f64], confidence: f64) -> Option<Interval> {
    let (rank, confidence) = interval_rank(values.len(), confidence)?;
    let values = sorted(values);
    Some(Interval { low: values[rank - 1], high: values[values.len() - rank], confidence })
}

/// The rank k of [`median_interval`], from 1, with the interval's exact confidence.
fn interval_rank(n: usize, confidence: f64) -> Option<(usize, f64)> {
    let confidences = binomial::cumulative(n).take(n / 2).map(|below| 1.0 - 2.0 * below);
    let ranks = (1..).zip(confidences);
    // The tolerance allows for rounding: 6 values meet exactly the confidence that 6 values have.
    ranks.take_while(|(_, reached)| *reached >= confidence - 1e-12).last()
}

/// Fewest values that allow an interval of a confidence. The extremes of n values enclose the median with probability 1
/// − 2/2ⁿ.
pub fn rounds_min(confidence: f64) -> usize {
    // The tolerance allows for rounding, as in `interval_rank`.
    (1.0 - (1.0 - confidence).log2() - 1e-9).ceil() as usize
}

#[cfg(test)]
mod tests;
