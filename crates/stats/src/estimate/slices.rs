//! Comparison of two systems that take turns within a round.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::distribution::student::student_quantile;
use crate::estimate::interval::Interval;
use crate::estimate::location::trimmed_mean;

/// Comparison of two systems in a round, from their slices.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SliceRatio {
    pub ln_ratio: f64,
    /// Standard error of `ln_ratio`; `None` with fewer than two cycles.
    pub standard_error: Option<f64>,
    /// Degrees of freedom of Student's t for the interval of `ln_ratio`.
    pub degrees: usize,
    /// Number of slices of each system from which the ratio is computed.
    pub slices: usize,
    /// Standard deviation of the log ratios of neighbouring slices; `None` with fewer than two
    /// cycles.
    pub between_slices: Option<f64>,
}

impl SliceRatio {
    /// Confidence interval of the ratio of this pair of instances. The ratio of other instances may differ.
    pub fn interval(&self, confidence: f64) -> Option<Interval> {
        let reach = self.standard_error.filter(|_| self.degrees > 0)?
            * student_quantile((1.0 - confidence) / 2.0, self.degrees as f64);
        Some(Interval { low: (self.ln_ratio - reach).exp(), high: (self.ln_ratio + reach).exp(), confidence })
    }
}

/// The ratio of two systems, from the log ratios of their slices by cycle.
///
/// Cycles come in pairs of opposite order (A B, B A). A linear trend, or an effect of the order, raises the ratio in
/// one cycle of a pair and lowers it in the other, so the effect cancels over the pair. Cycles without their partner
/// are dropped, unless no cycle has a partner. The ratio is the [`trimmed_mean`] of the cycles, because a stall (a
/// checkpoint, an fsync) is in one system's slice and not in the other's. `None` without a cycle.
///
/// The trimmed mean of the means of pairs would be worse, because there are half as many values and stalls affect
/// twice as large a share of them. With point selects and with updates that do not sync, that estimate varied a
/// tenth more between rounds with 38 cycles, and half more with 8 cycles.
///
/// `between_slices` is the standard error times the square root of the number of slices. It estimates the standard
/// deviation of the log ratio of a single cycle, without stalls, for planning the number of slices. With normal noise
/// it is 9% larger than that standard deviation.
pub fn slice_ratio(cycles: &BTreeMap<u32, f64>) -> Option<SliceRatio> {
    let has_partner = |(cycle, _): &(&u32, &f64)| cycles.contains_key(&(*cycle ^ 1));
    let paired: Vec<f64> = cycles.iter().filter(has_partner).map(|(_, ln_ratio)| *ln_ratio).collect();
    let values = if paired.is_empty() { cycles.values().copied().collect() } else { paired };
    let found = trimmed_mean(&values)?;
    let slices = values.len();
    Some(SliceRatio {
        ln_ratio: found.centre,
        standard_error: found.standard_error,
        degrees: found.degrees,
        slices,
        between_slices: found.standard_error.map(|error| error * (slices as f64).sqrt()),
    })
}

/// The mean ratio of one pair of instances over several tests. `None` if a test has no standard error. The mean's
/// standard error is √(Σ sᵢ²)/n for the n standard errors sᵢ of the tests. The degrees of freedom are added.
pub fn mean_of_slices(tests: &[SliceRatio]) -> Option<SliceRatio> {
    let n = tests.len() as f64;
    let mut sum =
        SliceRatio { ln_ratio: 0.0, standard_error: None, degrees: 0, slices: 0, between_slices: None };
    let mut variance = 0.0;
    for test in tests {
        variance += test.standard_error?.powi(2);
        sum.ln_ratio += test.ln_ratio / n;
        sum.degrees += test.degrees;
        sum.slices += test.slices;
    }
    Some(SliceRatio { standard_error: Some(variance.sqrt() / n), ..sum }).filter(|_| !tests.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::random::SplitMix64;
    use crate::testing::{assert_close, normal};

    fn cycles(ln_ratios: impl IntoIterator<Item = f64>) -> BTreeMap<u32, f64> {
        (0..).zip(ln_ratios).collect()
    }

    #[test]
    fn even_drift_and_the_order_cancel() {
        // The system that runs second in a cycle is 3% slower. In even cycles the base runs first.
        let ratio = |cycle: u32| 0.1 + if cycle.is_multiple_of(2) { -0.03 } else { 0.03 };
        let found = slice_ratio(&cycles((0..20).map(ratio))).unwrap();
        assert_close(found.ln_ratio, 0.1, 1e-12);
        // Ten of twenty values remain, and each differs from 0.1 by 0.03.
        assert_close(found.standard_error.unwrap(), 0.03 * (20.0_f64 / (10.0 * 9.0)).sqrt(), 1e-12);
        assert_eq!(found.slices, 20);
    }

    #[test]
    fn a_cycle_without_partner_is_left_out_unless_none_has_one() {
        let found = slice_ratio(&cycles([0.1, 0.2, 9.0])).unwrap();
        assert_close(found.ln_ratio, 0.15, 1e-12);
        assert_eq!(found.slices, 2);
        assert_close(found.standard_error.unwrap(), 0.05, 1e-12);
        assert_close(slice_ratio(&cycles([0.1])).unwrap().ln_ratio, 0.1, 1e-12);
        // Cycles 1 and 4 have no partner, as if the run had been stopped.
        let gaps: BTreeMap<u32, f64> = [(1, 5.0), (2, 0.1), (3, 0.3), (4, 7.0)].into();
        assert_close(slice_ratio(&gaps).unwrap().ln_ratio, 0.2, 1e-12);
        assert_eq!(slice_ratio(&BTreeMap::new()), None);
    }

    #[test]
    fn one_stall_in_four_cycles_is_left_out() {
        let found = slice_ratio(&cycles([0.1, 0.11, -2.0, 0.09])).unwrap();
        assert_close(found.ln_ratio, 0.095, 1e-12);
    }

    #[test]
    fn between_slices_is_what_a_single_cycle_varies_by() {
        let mut random = SplitMix64::new(1);
        let found = slice_ratio(&cycles((0..20_000).map(|_| 0.05 * normal(&mut random)))).unwrap();
        // The variance of the trimmed mean is 1.195 times the variance of the mean.
        assert_close(found.between_slices.unwrap(), 0.05 * 1.195_f64.sqrt(), 0.002);
        assert_close(found.standard_error.unwrap(), found.between_slices.unwrap() / 20_000_f64.sqrt(), 1e-12);
    }

    #[test]
    fn an_interval_is_of_slices_and_a_mean_of_tests_is_surer() {
        let mut random = SplitMix64::new(2);
        let mut test = || slice_ratio(&cycles((0..40).map(|_| 0.2 + 0.05 * normal(&mut random)))).unwrap();
        let tests: Vec<SliceRatio> = (0..9).map(|_| test()).collect();
        let width = |interval: Interval| (interval.high / interval.low).ln();
        let widths: Vec<f64> = tests.iter().map(|test| width(test.interval(0.95).unwrap())).collect();
        let all = mean_of_slices(&tests).unwrap();
        let encloses = |test: &&SliceRatio| {
            let interval = test.interval(0.95).unwrap();
            interval.low < 0.2_f64.exp() && 0.2_f64.exp() < interval.high
        };
        assert!(tests.iter().filter(encloses).count() >= 7);
        assert!(width(all.interval(0.95).unwrap()) < crate::estimate::median::median(&widths).unwrap() / 2.0);
        assert_close(all.ln_ratio, 0.2, 0.01);
        assert_eq!((all.slices, mean_of_slices(&[])), (360, None));
        let single = slice_ratio(&cycles([0.1])).unwrap();
        assert_eq!((single.interval(0.95), mean_of_slices(&[single])), (None, None));
    }
}
