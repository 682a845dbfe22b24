//! Ratio of two runs whose rounds are not paired.

use crate::distribution::u_distribution::UDistribution;
use crate::estimate::interval::Interval;
use crate::estimate::median::{median, sorted};
use crate::estimate::rounds::{Method, RatioEstimate};
use crate::test::verdict::Margin;

/// Upper limit of [`rounds_a_side_min`].
const ROUNDS_A_SIDE_MAX: usize = 1000;

/// Estimates a ratio from the log values of two systems' rounds, which are not paired.
///
/// The ratio is Hodges and Lehmann's: the median of all differences between a value of the candidate and a value of
/// the base. The interval reaches from the k-th smallest difference to the k-th largest. k comes from the exact
/// distribution of Mann and Whitney's U (Lehmann, "Nonparametrics", section 2.6; Moses 1953). The p-values are
/// those of Mann and Whitney's test after the base is shifted by the margin. Differences exactly at the margin's
/// edge count against an alarm. The interval lies beyond the edge if and only if p is small enough. `None` if a
/// side has no value.
pub fn ratio_of_runs(
    base: &[f64],
    candidate: &[f64],
    margin: Margin,
    confidence: f64,
) -> Option<RatioEstimate> {
    let differences: Vec<f64> =
        candidate.iter().flat_map(|own| base.iter().map(move |base| own - base)).collect();
    let u = UDistribution::of(base.len(), candidate.len());
    let centre = median(&differences)?;
    let sorted = sorted(&differences);
    let tail_max = (1.0 - confidence) / 2.0 + 1e-12;
    let rank = (1..=sorted.len().div_ceil(2)).take_while(|k| u.at_most(k - 1) <= tail_max).last();
    let interval = rank.map(|k| Interval {
        low: sorted[k - 1].exp(),
        high: sorted[sorted.len() - k].exp(),
        confidence: 1.0 - 2.0 * u.at_most(k - 1),
    });
    let p = |against: usize| u.at_most(against);
    let (upper, lower) = (margin.high().ln(), margin.low().ln());
    Some(RatioEstimate {
        ratio: centre.exp(),
        method: if interval.is_some() { Method::Unpaired } else { Method::None },
        interval,
        p_above: p(sorted.iter().filter(|difference| **difference <= upper).count()),
        p_below: p(sorted.iter().filter(|difference| **difference >= lower).count()),
    })
}

/// Fewest unpaired rounds of each side that allow an interval of this confidence. With n rounds of each side, the
/// probability that all values of one side exceed all values of the other by chance is 1/C(2n, n).
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::random::SplitMix64;
    use crate::testing::{assert_close, hits_max, normal};

    const BASE: [f64; 5] = [0.80, 0.83, 1.89, 1.04, 1.45];
    const CANDIDATE: [f64; 5] = [1.15, 0.88, 0.90, 0.74, 1.21];

    fn nothing() -> Margin {
        Margin::new(0.0).unwrap()
    }

    #[test]
    fn figures_of_r() {
        // Half of Hollander and Wolfe's example (1973, p. 69): outer(CANDIDATE, BASE, "-") sorted by hand.
        let found = ratio_of_runs(&BASE, &CANDIDATE, nothing(), 0.9).unwrap();
        let mut differences: Vec<f64> =
            CANDIDATE.iter().flat_map(|own| BASE.iter().map(move |base| own - base)).collect();
        differences.sort_by(f64::total_cmp);
        assert_close(found.ratio.ln(), differences[12], 1e-12);
        // qwilcox(0.05, 5, 5) is 5: the interval is from the fifth smallest to the fifth largest, and its
        // confidence is 1 − 2·pwilcox(4, 5, 5) = 1 − 2·12/252.
        let interval = found.interval.unwrap();
        assert_close(interval.low.ln(), differences[4], 1e-12);
        assert_close(interval.high.ln(), differences[20], 1e-12);
        assert_close(interval.confidence, 1.0 - 24.0 / 252.0, 1e-12);
        assert_eq!(found.method, Method::Unpaired);
    }

    #[test]
    fn an_interval_lies_beyond_the_margin_exactly_if_p_says_so() {
        let mut random = SplitMix64::new(2);
        for _ in 0..500 {
            let (n, m) = (4 + random.below(8), 4 + random.below(8));
            let mut draw = |n, centre: f64| -> Vec<f64> {
                (0..n).map(|_| centre + 0.03 * normal(&mut random)).collect()
            };
            let (base, candidate) = (draw(n, 0.0), draw(m, 0.06));
            let margin = Margin::new(0.02).unwrap();
            let found = ratio_of_runs(&base, &candidate, margin, 0.95).unwrap();
            let interval = found.interval.unwrap();
            assert_eq!(interval.low > margin.high(), 2.0 * found.p_above <= 0.05);
            assert_eq!(interval.high < margin.low(), 2.0 * found.p_below <= 0.05);
        }
    }

    #[test]
    fn rounds_that_an_interval_takes() {
        // Four rounds are enough, because 2/C(8, 4) = 0.029. Three are not, because 2/C(6, 3) = 0.1.
        assert_eq!(rounds_a_side_min(0.95), 4);
        for confidence in [0.9, 0.95, 0.99, 1.0 - 0.05 / 24.0] {
            let n = rounds_a_side_min(confidence);
            let values = |n: usize| (0..n).map(|at| at as f64).collect::<Vec<f64>>();
            let interval = |n| ratio_of_runs(&values(n), &values(n), nothing(), confidence).unwrap().interval;
            assert!(interval(n).is_some() && interval(n - 1).is_none(), "{confidence}: {n}");
        }
        assert_eq!(ratio_of_runs(&[], &[1.0], nothing(), 0.95), None);
    }

    #[test]
    fn between_equals_alarms_are_as_rare_as_promised_and_intervals_hold() {
        let mut random = SplitMix64::new(11);
        for n in [4, 8, 15, 25] {
            let (mut alarms, mut missed) = (0, 0);
            for _ in 0..1000 {
                let mut draw = || (0..n).map(|_| 0.05 * normal(&mut random)).collect::<Vec<f64>>();
                let found = ratio_of_runs(&draw(), &draw(), nothing(), 0.95).unwrap();
                alarms += u32::from(found.p() <= 0.05);
                missed += u32::from(found.interval.unwrap().excludes_one());
            }
            assert!(
                alarms <= hits_max(1000, 0.05) && missed <= hits_max(1000, 0.05),
                "{n}: {alarms} {missed}"
            );
        }
    }
}
