//! Two systems that take turns within a round.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::location::trimmed_mean;
use crate::median_interval::Interval;
use crate::student::student_quantile;

/// One system against another in a round, from their slices.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct SliceRatio {
    /// The logarithm of the ratio.
    pub ln_ratio: f64,
    /// Its standard error; none with fewer than two values.
    pub standard_error: Option<f64>,
    /// Degrees of freedom of Student's t for its interval.
    pub degrees: usize,
    /// Slices of each system that it was made of.
    pub slices: usize,
    /// Standard deviation of the log ratios of neighbouring slices; none with fewer than two values.
    pub between_slices: Option<f64>,
}

impl SliceRatio {
    /// Where the ratio of this pair of servers lies; that of other servers may lie elsewhere.
    pub fn interval(&self, confidence: f64) -> Option<Interval> {
        let reach = self.standard_error.filter(|_| self.degrees > 0)?
            * student_quantile((1.0 - confidence) / 2.0, self.degrees as f64);
        Some(Interval { low: (self.ln_ratio - reach).exp(), high: (self.ln_ratio + reach).exp(), confidence })
    }
}

/// The ratio of two systems from the log ratios of their slices of the same cycle, by cycle.
///
/// Cycles come in twos of opposite order (A B, B A), so the mean of the cycles 2k and 2k + 1 is free of whatever rises or
/// falls evenly. The ratio is the middle ([`trimmed_mean`]) of the twos, because a stall (a checkpoint, an fsync) is in
/// one system's slice and not in the other's. Cycles without their partner are left out, unless none has one. None
/// without a cycle.
///
/// `between_slices` is the standard error times the root of the number of slices: what the log ratio of a single cycle
/// would vary by, without stalls and without what the order does.
pub fn slice_ratio(cycles: &BTreeMap<u32, f64>) -> Option<SliceRatio> {
    let two = |(cycle, first): (&u32, &f64)| Some((first + cycles.get(&(cycle + 1))?) / 2.0);
    let twos: Vec<f64> = cycles.iter().filter(|(cycle, _)| cycle.is_multiple_of(2)).filter_map(two).collect();
    let (values, slices) = if twos.is_empty() {
        (cycles.values().copied().collect(), cycles.len())
    } else {
        let slices = 2 * twos.len();
        (twos, slices)
    };
    let found = trimmed_mean(&values)?;
    Some(SliceRatio {
        ln_ratio: found.centre,
        standard_error: found.standard_error,
        degrees: found.degrees,
        slices,
        between_slices: found.standard_error.map(|error| error * (slices as f64).sqrt()),
    })
}

/// The mean of several tests' ratios of one pair of servers; none if one of them has no standard error. Its standard error
/// is the root of the sum of their squares over their number, with all degrees of freedom together.
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
