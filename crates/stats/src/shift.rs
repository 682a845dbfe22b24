//! By how much the rounds of one run exceed those of another, where they have no partners.

use crate::mann_whitney::u_at_most;
use crate::median::{median, sorted};
use crate::median_interval::Interval;
use crate::rounds::{Method, RatioEstimate};
use crate::verdict::Margin;

/// More rounds a side than these are not asked for.
const ROUNDS_A_SIDE_MAX: usize = 1000;

/// Estimates a ratio from the log values of two systems' rounds, of which none belongs to one of the other.
///
/// The ratio is Hodges and Lehmann's: the median of all differences between a candidate's value and a base's. Its interval
/// reaches from the k-th smallest difference to the k-th largest, k from the exact distribution of Mann and Whitney's U
/// (Lehmann, "Nonparametrics", section 2.6; Moses 1953). The p-values are those of the test with the base shifted by the
/// margin; differences on the edge count against. An interval lies beyond the edge exactly if p says so. None if a side
/// has no value.
pub fn ratio_of_runs(
    base: &[f64],
    candidate: &[f64],
    margin: Margin,
    confidence: f64,
) -> Option<RatioEstimate> {
    let differences: Vec<f64> =
        candidate.iter().flat_map(|own| base.iter().map(move |base| own - base)).collect();
    let (n, m) = (base.len(), candidate.len());
    let centre = median(&differences)?;
    let sorted = sorted(&differences);
    let tail_max = (1.0 - confidence) / 2.0 + 1e-12;
    let rank = (1..=sorted.len().div_ceil(2)).take_while(|k| u_at_most(n, m, k - 1) <= tail_max).last();
    let interval = rank.map(|k| Interval {
        low: sorted[k - 1].exp(),
        high: sorted[sorted.len() - k].exp(),
        confidence: 1.0 - 2.0 * u_at_most(n, m, k - 1),
    });
    let p = |against: usize| u_at_most(n, m, against);
    let (upper, lower) = (margin.high().ln(), margin.low().ln());
    Some(RatioEstimate {
        ratio: centre.exp(),
        method: if interval.is_some() { Method::Unpaired } else { Method::None },
        interval,
        p_above: p(sorted.iter().filter(|difference| **difference <= upper).count()),
        p_below: p(sorted.iter().filter(|difference| **difference >= lower).count()),
    })
}

/// The fewest rounds a side that allow an interval of a confidence without partners: all values of one side above all of
/// the other have probability 1/C(2n, n).
pub fn rounds_a_side_min(confidence: f64) -> usize {
    let tail_max = (1.0 - confidence) / 2.0 + 1e-12;
    // C(2n, n) = C(2n − 2, n − 1)·(4 − 2/n).
    let mut arrangements = 1.0;
    (1..ROUNDS_A_SIDE_MAX)
        .find(|n| {
            arrangements *= 4.0 - 2.0 / *n as f64;
            1.0 / arrangements <= tail_max
        })
        .unwrap_or(ROUNDS_A_SIDE_MAX)
}
