//! The probability distribution of a capacity, given probes.
//!
//! A probe at rate r violates the limit with the probability γ + (1 − 2γ)·Φ(ln(r / c) / s). c is the capacity. s is
//! the spread: the relative distance from the capacity within which probes both keep and violate the limit. γ is
//! the probability of a wrong answer far from the capacity, for example because the host stalls. The probability of
//! each c and s is kept on a grid (Kontsevich and Tyler, "Bayesian adaptive estimation of psychometric slope and
//! threshold", Vision Research 39(16), 1999, after Watson and Pelli, "QUEST", Perception & Psychophysics 33(2),
//! 1983). If s were known to be 0, this would be probabilistic bisection (Horstein, "Sequential transmission using
//! noiseless feedback", IEEE Transactions on Information Theory 9(3), 1963; Waeber, Frazier and Henderson,
//! "Bisection search with noisy responses", SIAM Journal on Control and Optimization 51(3), 2013). Because s is
//! learnt, a system with mixed answers near its capacity gets more probes.

use crate::estimate::interval::Interval;

/// γ: the probability of a wrong answer far from the capacity.
const LAPSES: f64 = 0.03;
/// The smallest s, the largest s, and the number of values of s on the grid.
const SPREADS: (f64, f64, usize) = (0.004, 0.4, 8);
/// Share of the probability beyond each end of the interval.
const TAIL: f64 = 0.025;
/// The grid extends by this factor beyond the two rates with which the search begins. The capacity may lie outside of
/// them, because the answer at either rate may be wrong by chance.
const BEYOND: f64 = 2.0;
/// Number of the grid's capacities within an interval that is just narrow enough to end the search.
const STEPS_WITHIN: f64 = 12.0;
/// Most capacities of the grid.
const CAPACITIES_MAX: usize = 1500;
/// Probabilities below this are set to 0. Even several answers that contradict the earlier answers could hardly raise
/// them again.
const WEIGHT_MIN: f64 = 1e-12;
/// The next probe's rate is one of these quantiles of the capacity.
const CANDIDATES: [f64; 9] = [0.02, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.98];

/// The probability of each combination of capacity and spread.
#[derive(Clone, Debug)]
pub(super) struct Posterior {
    /// Logarithms of the capacities.
    capacities: Vec<f64>,
    spreads: Vec<f64>,
    /// The probabilities, by spread and then by capacity. They add up to 1.
    weights: Vec<Vec<f64>>,
}

impl Posterior {
    /// A grid of capacities and spreads that are all equally likely. The capacities lie around and between two
    /// rates.
    pub(super) fn between(low: f64, high: f64, within: f64) -> Self {
        let (low, high) = (low.min(high), low.max(high));
        let (from, to) = ((low / BEYOND).ln(), (high * BEYOND).ln());
        let wanted = ((to - from) / within.ln_1p() * STEPS_WITHIN).ceil() as usize;
        let number = wanted.clamp(2, CAPACITIES_MAX);
        let capacities: Vec<f64> =
            (0..number).map(|at| from + (to - from) * at as f64 / (number - 1) as f64).collect();
        let (least, most, spreads) = SPREADS;
        let growth = (most / least).powf(1.0 / (spreads - 1) as f64);
        let spreads: Vec<f64> = (0..spreads).map(|at| least * growth.powi(at as i32)).collect();
        let weight = 1.0 / (number * spreads.len()) as f64;
        Self { weights: vec![vec![weight; number]; spreads.len()], capacities, spreads }
    }

    /// Updates the probabilities by a probe.
    pub(super) fn note(&mut self, rate: f64, kept: bool) {
        let ln_rate = rate.ln();
        let mut sum = 0.0;
        for (weights, &spread) in self.weights.iter_mut().zip(&self.spreads) {
            for (weight, &capacity) in
                weights.iter_mut().zip(&self.capacities).filter(|(weight, _)| **weight > 0.0)
            {
                let violated = violates(ln_rate, capacity, spread);
                *weight *= if kept { 1.0 - violated } else { violated };
                sum += *weight;
            }
        }
        for weight in self.weights.iter_mut().flatten() {
            *weight = if *weight < sum * WEIGHT_MIN { 0.0 } else { *weight / sum };
        }
    }

    /// The median: the capacity is below it with a probability of one half.
    pub(super) fn median(&self) -> f64 {
        quantile(&self.capacities, &self.marginal(), 0.5).exp()
    }

    pub(super) fn interval(&self) -> Interval {
        let marginal = self.marginal();
        let at = |share| quantile(&self.capacities, &marginal, share).exp();
        Interval { low: at(TAIL), high: at(1.0 - TAIL), confidence: 1.0 - 2.0 * TAIL }
    }

    /// The rate at which a probe is expected to leave the least variance of the capacity.
    pub(super) fn next_rate(&self) -> f64 {
        let marginal = self.marginal();
        let candidates = CANDIDATES.map(|share| quantile(&self.capacities, &marginal, share));
        let expected = candidates.map(|candidate| (self.variance_after(candidate), candidate));
        expected
            .into_iter()
            .fold((f64::INFINITY, 0.0), |best, it| if it.0 < best.0 { it } else { best })
            .1
            .exp()
    }

    /// The probability of each capacity.
    fn marginal(&self) -> Vec<f64> {
        (0..self.capacities.len()).map(|at| self.weights.iter().map(|weights| weights[at]).sum()).collect()
    }

    /// The expected variance of the logarithm of the capacity after a probe at this rate: the mean over both
    /// answers, weighted by their probabilities.
    fn variance_after(&self, ln_rate: f64) -> f64 {
        let (mut kept, mut violated) = (Moments::default(), Moments::default());
        for (weights, &spread) in self.weights.iter().zip(&self.spreads) {
            for (&weight, &capacity) in
                weights.iter().zip(&self.capacities).filter(|(weight, _)| **weight > 0.0)
            {
                let share = violates(ln_rate, capacity, spread);
                kept.add(capacity, weight * (1.0 - share));
                violated.add(capacity, weight * share);
            }
        }
        kept.weighted_variance() + violated.weighted_variance()
    }
}

/// Sums of weights, of weighted values and of weighted squares.
#[derive(Clone, Copy, Debug, Default)]
struct Moments {
    weight: f64,
    sum: f64,
    squares: f64,
}

impl Moments {
    fn add(&mut self, value: f64, weight: f64) {
        self.weight += weight;
        self.sum += weight * value;
        self.squares += weight * value * value;
    }

    /// The variance times the weight; 0 without weight.
    fn weighted_variance(&self) -> f64 {
        if self.weight > 0.0 { (self.squares - self.sum * self.sum / self.weight).max(0.0) } else { 0.0 }
    }
}

/// The probability that a probe violates the limit. Rates and capacities are logarithms.
fn violates(ln_rate: f64, ln_capacity: f64, spread: f64) -> f64 {
    let below = 0.5 * libm::erfc((ln_capacity - ln_rate) / spread / std::f64::consts::SQRT_2);
    LAPSES + (1.0 - 2.0 * LAPSES) * below
}

/// The value up to which the weights add up to `share`. Values are in ascending order, and all weights add up to 1.
fn quantile(values: &[f64], weights: &[f64], share: f64) -> f64 {
    let mut reached = 0.0;
    for (at, &weight) in weights.iter().enumerate() {
        if reached + weight >= share && weight > 0.0 {
            let step = if at > 0 { values[at] - values[at - 1] } else { 0.0 };
            return values[at] - step * (1.0 - (share - reached) / weight) + step / 2.0;
        }
        reached += weight;
    }
    values.last().copied().unwrap_or_default()
}
