//! The Zipf distribution.

use super::generator::Generator;

/// Draws k from 1 to n with probability proportional to k^−s, by rejection-inversion (Hörmann and Derflinger,
/// "Rejection-inversion to generate variates from monotone discrete distributions", 1996). It needs no table, and
/// about one try per number.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Zipf {
    n: f64,
    exponent: f64,
    /// The integral of x^−s at both ends of the range from which tries are drawn.
    integral_first: f64,
    integral_last: f64,
    /// A try x that is at most this much below its rounded value k is accepted without computing the density.
    shortcut: f64,
}

impl Zipf {
    pub(crate) fn new(n: f64, exponent: f64) -> Self {
        let mut zipf = Self { n, exponent, integral_first: 0.0, integral_last: 0.0, shortcut: 0.0 };
        zipf.integral_first = zipf.integral(1.5) - 1.0;
        zipf.integral_last = zipf.integral(n + 0.5);
        zipf.shortcut = 2.0 - zipf.inverse_integral(zipf.integral(2.5) - zipf.density(2.0));
        zipf
    }

    /// Size of the range of numbers.
    pub(crate) fn n(&self) -> f64 {
        self.n
    }

    pub(crate) fn sample(&self, generator: &mut Generator) -> f64 {
        loop {
            let area = self.integral_last + generator.unit() * (self.integral_first - self.integral_last);
            let x = self.inverse_integral(area);
            let k = x.round().clamp(1.0, self.n);
            if k - x <= self.shortcut || area >= self.integral(k + 0.5) - self.density(k) {
                return k;
            }
        }
    }

    fn density(&self, x: f64) -> f64 {
        x.powf(-self.exponent)
    }

    /// The integral of t^−s from 1 to x, which is (x^(1−s) − 1) / (1−s). Its limit at s = 1 is ln x.
    fn integral(&self, x: f64) -> f64 {
        let power = 1.0 - self.exponent;
        if power == 0.0 { x.ln() } else { (power * x.ln()).exp_m1() / power }
    }

    fn inverse_integral(&self, area: f64) -> f64 {
        let power = 1.0 - self.exponent;
        if power == 0.0 { area.exp() } else { ((power * area).max(-1.0).ln_1p() / power).exp() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares observed shares with k^−s over their sum, for exponents below, at and above 1.
    #[test]
    fn shares_follow_the_power_law() {
        for exponent in [0.5, 0.8, 1.0, 1.5] {
            let zipf = Zipf::new(100.0, exponent);
            let mut generator = Generator::new(3, 0);
            let mut counts = [0_u32; 101];
            let draws = 1_000_000;
            for _ in 0..draws {
                counts[zipf.sample(&mut generator) as usize] += 1;
            }
            let total: f64 = (1..=100).map(|k| f64::from(k).powf(-exponent)).sum();
            for k in [1_u32, 2, 3, 10, 50, 100] {
                let expected = f64::from(k).powf(-exponent) / total * f64::from(draws);
                let deviation = (f64::from(counts[k as usize]) - expected).abs() / expected.sqrt();
                assert!(deviation < 5.0, "s = {exponent}, k = {k}: {deviation} standard deviations off");
            }
        }
    }

    #[test]
    fn one_number_is_always_drawn() {
        let mut generator = Generator::new(3, 0);
        assert!((0..100).all(|_| (Zipf::new(1.0, 0.8).sample(&mut generator) - 1.0).abs() < 1e-9));
    }
}
