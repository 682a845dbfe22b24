//! Tests whether the rate of a trial was steady, or still rising or falling at its end.

use serde::Serialize;

use crate::series::trend::trend;

/// Series with fewer values are not tested.
const VALUES_MIN: usize = 8;

/// Largest number of values that are tested. Longer series are averaged, because the trend compares every pair of
/// values.
const VALUES_MAX: usize = 60;

/// Largest error probability of a trend.
const P_MAX: f64 = 0.001;

/// A trend matters if the rate changes by at least this factor from start to end.
const CHANGE_MIN: f64 = 1.1;

/// Change of a trial's rate from start to end.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Level {
    /// Rate at the end as a multiple of the rate at the start, on the trend line.
    pub change: f64,
    /// Probability of a trend at least as consistent if there is no trend.
    pub p: f64,
}

impl Level {
    /// Whether the rate is steady: it has no trend of a tenth or more with p ≤ 0.001.
    pub fn has_level(&self) -> bool {
        !self.moves_by(CHANGE_MIN)
    }

    /// Whether the rate has a trend of `factor` or more, up or down, with p ≤ 0.001.
    pub fn moves_by(&self, factor: f64) -> bool {
        self.p <= P_MAX && self.change.ln().abs() >= factor.ln()
    }
}

/// The trend of the logarithms of a trial's rates, or of the ratios of two systems' rates ([`trend`]: Theil and
/// Sen's slope, Mann and Kendall's test). `None` with fewer than eight values.
pub fn level(ln_rates: &[f64]) -> Option<Level> {
    if ln_rates.len() < VALUES_MIN {
        return None;
    }
    let bucket = ln_rates.len().div_ceil(VALUES_MAX);
    let means = crate::series::effective_size::batch_means(ln_rates, bucket);
    let found = trend(&means)?;
    Some(Level { change: (found.slope * (means.len() - 1) as f64).exp(), p: found.p })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::random::SplitMix64;
    use crate::testing::{assert_close, autoregression, normal};

    /// Share of 1000 series that are not steady.
    fn without(mut series: impl FnMut(&mut SplitMix64) -> Vec<f64>) -> f64 {
        let mut random = SplitMix64::new(9);
        let found = (0..1000).filter(|_| level(&series(&mut random)).is_some_and(|found| !found.has_level()));
        found.count() as f64 / 1000.0
    }

    fn noisy(n: usize, noise: f64, change: f64) -> impl Fn(&mut SplitMix64) -> Vec<f64> {
        move |random| {
            let course = |at: usize| change.ln() * at as f64 / n as f64;
            (0..n).map(|at| course(at) + noise * normal(random)).collect()
        }
    }

    #[test]
    fn what_has_a_level_is_rarely_said_to_have_none() {
        for n in [8, 12, 20, 50, 200, 600] {
            for noise in [0.05, 0.3] {
                assert!(without(noisy(n, noise, 1.0)) < 0.01, "{n} values, noise {noise}");
            }
        }
        // Rates whose neighbours correlate rise and fall together for a while.
        let resembling = |random: &mut SplitMix64| {
            autoregression(random, 120, 0.7).into_iter().map(|value| 0.05 * value).collect()
        };
        assert!(without(resembling) < 0.02);
        // A significant rise that is too small to matter.
        assert!(without(noisy(600, 0.01, 1.07)) < 0.01);
    }

    #[test]
    fn a_rate_that_rises_to_the_end_has_none() {
        for (n, change) in [(20, 1.3), (60, 1.2), (600, 1.2)] {
            assert!(without(noisy(n, 0.03, change)) > 0.99, "{n} values, {change}");
            assert!(without(noisy(n, 0.03, 1.0 / change)) > 0.99, "{n} values, 1/{change}");
        }
    }

    #[test]
    fn the_change_is_from_start_to_end() {
        let ln_rates: Vec<f64> = (0..101).map(|at| 1.4_f64.ln() * f64::from(at) / 100.0).collect();
        let found = level(&ln_rates).unwrap();
        assert_close(found.change, 1.4, 0.02);
        assert!(found.moves_by(1.3) && !found.moves_by(1.5));
        assert_eq!(level(&ln_rates[..7]), None);
    }
}
