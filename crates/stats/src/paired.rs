//! How much better a candidate is than the base, by paired trials, and how sure that is.

use serde::Serialize;

use crate::median::{median, sorted};

/// The confidence that an interval has at least.
pub const CONFIDENCE: f64 = 0.95;

/// The fewest pairs that allow an interval of [`CONFIDENCE`]: both extremes of 6 pairs enclose the median
/// with a probability of 1 − 2/2⁶ = 0.969, those of 5 only with 0.9375.
pub const PAIRS_MIN: usize = 6;

/// A candidate's measurements as multiples of the base's.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PairedRatio {
    /// Median of the pairs' ratios.
    pub ratio: f64,
    /// Where the true median ratio lies; none with fewer than [`PAIRS_MIN`] pairs.
    pub interval: Option<Interval>,
    /// Pairs that it rests on.
    pub pairs: usize,
}

/// A range with a probability.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// The probability that the range encloses the truth: at least [`CONFIDENCE`], and exact.
    pub confidence: f64,
}

impl Interval {
    /// Whether "no change" is ruled out.
    pub fn excludes_one(&self) -> bool {
        self.low > 1.0 || self.high < 1.0
    }
}

/// Compares measurement `i` of the candidate with measurement `i` of the base. None if there is no pair, or
/// if a base is not positive, of which nothing is a multiple.
///
/// The interval is made of order statistics, so it supposes nothing about how measurements are distributed,
/// only that pairs are independent: with the ratios sorted, the true median lies within the k-th from below
/// and the k-th from above with probability 1 − 2·P(Bin(n, ½) ≤ k − 1); k is the largest for which that is at
/// least [`CONFIDENCE`]. (W. R. Thompson, "On confidence ranges for the median", Annals of Mathematical
/// Statistics 7(3), 1936; David and Nagaraja, "Order Statistics", 3rd ed., section 7.1.)
///
/// # Panics
/// If the slices differ in length.
pub fn paired_ratio(base: &[f64], candidate: &[f64]) -> Option<PairedRatio> {
    assert_eq!(base.len(), candidate.len(), "every measurement has its partner");
    if base.iter().any(|base| *base <= 0.0) {
        return None;
    }
    let ratios: Vec<f64> = base.iter().zip(candidate).map(|(base, candidate)| candidate / base).collect();
    let ratios = sorted(&ratios);
    let interval = interval_rank(ratios.len()).map(|(rank, confidence)| Interval {
        low: ratios[rank - 1],
        high: ratios[ratios.len() - rank],
        confidence,
    });
    Some(PairedRatio { ratio: median(&ratios)?, interval, pairs: ratios.len() })
}

/// The rank k of [`paired_ratio`]'s interval, from 1, with the interval's confidence.
fn interval_rank(n: usize) -> Option<(usize, f64)> {
    let mut probability = 0.5_f64.powi(i32::try_from(n).ok()?); // P(Bin(n, ½) = rank − 1)
    let mut below = probability; // P(Bin(n, ½) ≤ rank − 1)
    let mut best = None;
    for rank in 1..=n / 2 {
        let confidence = 1.0 - 2.0 * below;
        if confidence < CONFIDENCE {
            break;
        }
        best = Some((rank, confidence));
        probability *= (n - rank + 1) as f64 / rank as f64;
        below += probability;
    }
    best
}

#[cfg(test)]
mod tests;
