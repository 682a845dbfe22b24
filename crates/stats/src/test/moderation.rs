//! Estimates the variance of a test more precisely by using the variances of the other tests.

use crate::series::effective_size::variance;

/// The information that the variances of many tests give about each variance: an estimate, and its weight in
/// degrees of freedom.
///
/// With six rounds a variance is known only to a factor of two. So the test with the largest of 24 values of
/// Student's t most likely has a variance that was estimated too small. Each variance is therefore drawn towards
/// the common estimate. (Smyth, "Linear models and empirical Bayes methods for assessing differential expression in
/// microarray experiments", Statistical Applications in Genetics and Molecular Biology 3(1), 2004, section 6.2.)
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Prior {
    variance: f64,
    /// The weight of `variance`, in degrees of freedom. Infinite if the variances differ no more than chance
    /// explains.
    degrees: f64,
}

impl Prior {
    /// The prior of samples; `None` if fewer than two of them have a variance.
    pub(crate) fn of<'a>(samples: impl IntoIterator<Item = &'a [f64]>) -> Option<Self> {
        let known = samples.into_iter().filter_map(|sample| {
            let variance = variance(sample).filter(|variance| *variance > 0.0)?;
            Some((variance, (sample.len() - 1) as f64))
        });
        let (mut logs, mut chance) = (Vec::new(), 0.0);
        for (variance, degrees) in known {
            logs.push(variance.ln() - digamma(degrees / 2.0) + (degrees / 2.0).ln());
            chance += trigamma(degrees / 2.0);
        }
        let (n, mean) = (logs.len() as f64, logs.iter().sum::<f64>() / logs.len() as f64);
        let spread = variance(&logs)? - chance / n;
        if spread <= 0.0 {
            return Some(Self { variance: mean.exp(), degrees: f64::INFINITY });
        }
        let half = trigamma_inverse(spread);
        Some(Self { variance: (mean + digamma(half) - half.ln()).exp(), degrees: 2.0 * half })
    }

    /// A variance with this many degrees of freedom, drawn towards the prior.
    pub(crate) fn moderate(self, variance: f64, degrees: f64) -> f64 {
        if self.degrees.is_infinite() {
            return self.variance;
        }
        (self.degrees * self.variance + degrees * variance) / (self.degrees + degrees)
    }
}

/// The derivative of ln Γ: recurrence up to 10, then its asymptotic series (Abramowitz and Stegun, 6.3.5 and
/// 6.3.18).
fn digamma(mut x: f64) -> f64 {
    let mut sum = 0.0;
    while x < 10.0 {
        sum -= 1.0 / x;
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    sum + x.ln() - 0.5 / x - square * (1.0 / 12.0 - square * (1.0 / 120.0 - square / 252.0))
}

/// The derivative of [`digamma`] (Abramowitz and Stegun, 6.4.6 and 6.4.12).
fn trigamma(mut x: f64) -> f64 {
    let mut sum = 0.0;
    while x < 10.0 {
        sum += 1.0 / (x * x);
        x += 1.0;
    }
    let square = 1.0 / (x * x);
    sum + 1.0 / x + square / 2.0 + square / x * (1.0 / 6.0 - square * (1.0 / 30.0 - square / 42.0))
}

/// The value whose trigamma is `y`, for positive `y`. Uses Newton's method on 1/trigamma, which is nearly linear
/// (Smyth 2004, appendix).
fn trigamma_inverse(y: f64) -> f64 {
    let mut x = 0.5 + 1.0 / y;
    for _ in 0..50 {
        let value = trigamma(x);
        let slope = (trigamma(x + x * 1e-5) - trigamma(x - x * 1e-5)) / (x * 2e-5);
        let step = value * (1.0 - value / y) / slope;
        x += step;
        if step.abs() < 1e-8 * x {
            break;
        }
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::random::SplitMix64;
    use crate::testing::{assert_close, normal};

    #[test]
    fn functions_have_their_known_values() {
        // The values of digamma are −γ and −γ − 2 ln 2. Those of trigamma are π²/6 and π²/2.
        assert_close(digamma(1.0), -0.577_215_664_9, 1e-9);
        assert_close(digamma(0.5), -1.963_510_026_0, 1e-9);
        assert_close(trigamma(1.0), 1.644_934_066_8, 1e-9);
        assert_close(trigamma(0.5), 4.934_802_200_5, 1e-9);
        for x in [0.1, 0.5, 1.0, 4.0, 40.0] {
            assert_close(trigamma_inverse(trigamma(x)) / x, 1.0, 1e-6);
        }
    }

    /// Samples of six values. Their true variances are drawn from a scaled inverse χ² distribution with these
    /// degrees of freedom.
    fn samples(random: &mut SplitMix64, degrees: u32) -> Vec<Vec<f64>> {
        (0..4_000)
            .map(|_| {
                let chi: f64 = (0..degrees).map(|_| normal(random).powi(2)).sum();
                let deviation = 0.03 * (f64::from(degrees) / chi).sqrt();
                (0..6).map(|_| deviation * normal(random)).collect()
            })
            .collect()
    }

    #[test]
    fn the_prior_of_simulated_variances_is_found() {
        let mut random = SplitMix64::new(7);
        let found = samples(&mut random, 8);
        let prior = Prior::of(found.iter().map(Vec::as_slice)).unwrap();
        assert_close(prior.degrees, 8.0, 1.0);
        assert_close(prior.variance.sqrt(), 0.03, 0.001);
        let equal: Vec<Vec<f64>> = (0..40).map(|_| (0..6).map(|_| normal(&mut random)).collect()).collect();
        let prior = Prior::of(equal.iter().map(Vec::as_slice)).unwrap();
        assert!(prior.degrees > 20.0, "{prior:?}");
        assert_close(prior.variance, 1.0, 0.3);
    }

    #[test]
    fn a_variance_lies_between_its_own_and_the_prior_s() {
        let prior = Prior { variance: 4.0, degrees: 5.0 };
        assert_close(prior.moderate(1.0, 5.0), 2.5, 1e-12);
        assert_close(Prior { degrees: f64::INFINITY, ..prior }.moderate(1.0, 5.0), 4.0, 1e-12);
        assert_eq!(Prior::of([&[1.0, 2.0][..]]), None);
        assert_eq!(Prior::of([&[1.0][..], &[2.0, 2.0]]), None);
    }
}
