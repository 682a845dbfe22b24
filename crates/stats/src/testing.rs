//! Synthetic measurements for simulations.

use crate::distribution::random::SplitMix64;
use crate::{Look, Looks, rounds_min};

/// Looks with equal levels. Between two looks, the number of rounds grows by a factor of 1.3 or more. There are as many
/// looks as fit into the budget of `rounds_max` rounds, at most six.
pub(crate) fn equal_looks(rounds_max: usize, alpha: f64) -> Looks {
    let first = |looks: usize| rounds_min(1.0 - alpha / looks as f64) as f64;
    let fits = |looks: &usize| first(*looks) * 1.3_f64.powi(*looks as i32 - 1) <= rounds_max as f64;
    let looks = (1..=6).rev().find(fits).unwrap();
    let growth =
        |look: usize| (rounds_max as f64 / first(looks)).powf(look as f64 / (looks - 1).max(1) as f64);
    let look = |look: usize| match looks {
        1 => Look { rounds: rounds_max, alpha },
        _ => Look { rounds: (first(looks) * growth(look)).round() as usize, alpha: alpha / looks as f64 },
    };
    Looks { at: (0..looks).map(look).collect() }
}

/// A uniform number in (0, 1].
pub(crate) fn uniform(random: &mut SplitMix64) -> f64 {
    ((random.draw() >> 11) + 1) as f64 / (1_u64 << 53) as f64
}

/// A standard normal deviate (Box and Muller, Annals of Mathematical Statistics 29(2), 1958).
pub(crate) fn normal(random: &mut SplitMix64) -> f64 {
    (-2.0 * uniform(random).ln()).sqrt() * (std::f64::consts::TAU * uniform(random)).cos()
}

/// Rates around `centre` with a relative spread. Like real rates they are skewed, with occasional slow outliers.
pub(crate) fn rates(random: &mut SplitMix64, n: usize, centre: f64, spread: f64) -> Vec<f64> {
    (0..n)
        .map(|_| {
            let slow = if random.below(20) == 0 { 0.7 } else { 1.0 };
            centre * slow * (spread * normal(random)).exp()
        })
        .collect()
}

/// First-order autoregression around 100.
pub(crate) fn autoregression(random: &mut SplitMix64, n: usize, coefficient: f64) -> Vec<f64> {
    let mut state = normal(random) / (1.0 - coefficient * coefficient).sqrt();
    (0..n)
        .map(|_| {
            let value = 100.0 + state;
            state = coefficient * state + normal(random);
            value
        })
        .collect()
}

/// The number of hits in `trials` that is exceeded in only one case in 1000 if the probability of a hit is
/// `probability`: the binomial's mean plus 3.1 standard deviations.
pub(crate) fn hits_max(trials: u32, probability: f64) -> u32 {
    let trials = f64::from(trials);
    (trials * probability + 3.1 * (trials * probability * (1.0 - probability)).sqrt()).ceil() as u32
}

pub(crate) fn assert_close(value: f64, expected: f64, tolerance: f64) {
    assert!((value - expected).abs() <= tolerance, "{value} is not {expected} ± {tolerance}");
}
