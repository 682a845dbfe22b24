//! Intervals by resampling trials, for what order statistics cannot do: unpaired trials, and means over tests.

use crate::mean::geometric_mean;
use crate::median::{median, median_in_place};
use crate::paired::{Interval, PAIRS_MIN};
use crate::random::SplitMix64;

/// Resamples that an interval is made of.
pub const RESAMPLES: usize = 10_000;

/// The trials of one test of two systems. What is resampled is trials, never the seconds within them, which depend
/// on each other.
#[derive(Clone, Debug, PartialEq)]
pub enum Ratios {
    /// The ratio of each pair of trials.
    Paired(Vec<f64>),
    /// Trials that have no partner.
    Unpaired {
        /// The base's.
        base: Vec<f64>,
        /// The candidate's.
        candidate: Vec<f64>,
    },
}

impl Ratios {
    /// The median of the ratios; of unpaired trials, the ratio of the medians. None if there is none.
    pub fn estimate(&self) -> Option<f64> {
        match self {
            Self::Paired(ratios) => median(ratios),
            Self::Unpaired { base, candidate } => {
                let base = median(base)?;
                (base > 0.0).then_some(median(candidate)? / base)
            }
        }
    }

    /// Pairs; of unpaired trials, as many as the system with fewer has.
    pub fn len(&self) -> usize {
        match self {
            Self::Paired(ratios) => ratios.len(),
            Self::Unpaired { base, candidate } => base.len().min(candidate.len()),
        }
    }

    /// Whether there is nothing to compare.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The same as [`Self::estimate`], of trials that may be put into another order.
    fn estimate_in_place(&mut self) -> Option<f64> {
        match self {
            Self::Paired(ratios) => median_in_place(ratios),
            Self::Unpaired { base, candidate } => {
                let base = median_in_place(base)?;
                (base > 0.0).then_some(median_in_place(candidate)? / base)
            }
        }
    }

    /// Draws the trials anew, with replacement.
    fn resample(&self, random: &mut SplitMix64, into: &mut Self) {
        match (self, into) {
            (Self::Paired(ratios), Self::Paired(into)) => random.resample(ratios, into),
            (
                Self::Unpaired { base, candidate },
                Self::Unpaired { base: base_into, candidate: candidate_into },
            ) => {
                random.resample(base, base_into);
                random.resample(candidate, candidate_into);
            }
            (_, into) => *into = self.clone(),
        }
    }
}

/// What an estimate comes to when the trials are drawn anew, many times.
#[derive(Clone, Debug, PartialEq)]
pub struct Bootstrap {
    /// The estimate from the trials themselves.
    pub estimate: f64,
    /// From each resample, ascending.
    resampled: Vec<f64>,
}

impl Bootstrap {
    /// The estimate of a test. None with fewer than [`PAIRS_MIN`] trials of a system, of which resamples say too
    /// little, or if a base is not positive.
    pub fn of_test(test: &Ratios, seed: u64) -> Option<Self> {
        Self::of_group(std::slice::from_ref(test), seed)
    }

    /// The geometric mean over tests. Trials are drawn anew within each test: the interval is about these tests, of
    /// which none is drawn at random. None if there is no test, or on the conditions of [`Self::of_test`].
    pub fn of_group(tests: &[Ratios], seed: u64) -> Option<Self> {
        let are_enough = tests.iter().all(|test| test.len() >= PAIRS_MIN);
        let ratios: Option<Vec<f64>> = tests.iter().map(Ratios::estimate).collect();
        let estimate = geometric_mean(&ratios?).filter(|_| are_enough)?;
        let mut random = SplitMix64::new(seed);
        let mut drawn = tests.to_vec();
        let mut resampled = Vec::with_capacity(RESAMPLES);
        for _ in 0..RESAMPLES {
            for (test, drawn) in tests.iter().zip(&mut drawn) {
                test.resample(&mut random, drawn);
            }
            let ratios: Option<Vec<f64>> = drawn.iter_mut().map(Ratios::estimate_in_place).collect();
            resampled.push(geometric_mean(&ratios?)?);
        }
        resampled.sort_by(f64::total_cmp);
        Some(Self { estimate, resampled })
    }

    /// The percentile interval (Efron and Tibshirani, "An Introduction to the Bootstrap", 1993, chapter 13).
    pub fn interval(&self, confidence: f64) -> Interval {
        let tail = (1.0 - confidence) / 2.0;
        let below = (self.resampled.len() as f64 * tail).floor() as usize;
        let last = self.resampled.len() - 1;
        Interval { low: self.resampled[below], high: self.resampled[last - below], confidence }
    }

    /// The share of resamples that are not above a bound, counting the trials themselves as one more: the one-sided
    /// p of "it is not above" (Davison and Hinkley, "Bootstrap Methods and their Application", 1997, section 4.2).
    pub fn p_above(&self, bound: f64) -> f64 {
        self.share(self.resampled.partition_point(|value| *value <= bound))
    }

    /// The share of resamples that are not below a bound, likewise.
    pub fn p_below(&self, bound: f64) -> f64 {
        self.share(self.resampled.len() - self.resampled.partition_point(|value| *value < bound))
    }

    fn share(&self, hits: usize) -> f64 {
        (hits + 1) as f64 / (self.resampled.len() + 1) as f64
    }
}

#[cfg(test)]
mod tests;
