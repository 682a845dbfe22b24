//! Confidence intervals, and the number of values that they need.

use serde::Serialize;

/// Default confidence of an interval. The interval's actual confidence is at least this.
pub const CONFIDENCE: f64 = 0.95;

/// Fewest values that allow an interval of [`CONFIDENCE`] without an assumption about the shape of their distribution.
/// The smallest and the largest of 6 values enclose the median of the distribution with a probability of 1 − 2/2⁶ =
/// 0.969. With 5 values, the probability is only 0.9375.
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

    /// Converts the interval of a logarithm to the interval of the number itself.
    #[must_use]
    pub fn exp(self) -> Self {
        Self { low: self.low.exp(), high: self.high.exp(), ..self }
    }
}

/// Fewest values that allow an interval of this confidence. The smallest and the largest of n values enclose the
/// median of their distribution with the probability 1 − 2/2ⁿ.
pub fn rounds_min(confidence: f64) -> usize {
    // The tolerance allows for rounding: the confidence 1 − 2/2⁶ must give exactly 6 values.
    (1.0 - (1.0 - confidence).log2() - 1e-9).ceil() as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn more_confidence_takes_more_values() {
        for (confidence, rounds) in
            [(0.9, 5), (CONFIDENCE, ROUNDS_MIN), (0.96875, 6), (0.97, 7), (0.999_9, 15)]
        {
            assert_eq!(rounds_min(confidence), rounds, "{confidence}");
        }
    }

    #[test]
    fn an_interval_excludes_one_only_from_one_side() {
        let interval = |low, high| Interval { low, high, confidence: 0.95 };
        assert!(interval(1.01, 1.2).excludes_one());
        assert!(interval(0.8, 0.99).excludes_one());
        assert!(!interval(1.0, 1.2).excludes_one());
        assert!(!interval(0.9, 1.1).excludes_one());
    }
}
