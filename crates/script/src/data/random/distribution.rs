//! sysbench's distributions of integers.

use super::generator::{Generator, width};
use super::zipf::Zipf;

/// A distribution, by sysbench's name (`--rand-type`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Uniform,
    Gaussian,
    Special,
    Pareto,
    Zipfian,
}

impl Shape {
    pub(crate) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "uniform" => Self::Uniform,
            "gaussian" => Self::Gaussian,
            "special" => Self::Special,
            "pareto" => Self::Pareto,
            "zipfian" => Self::Zipfian,
            _ => return None,
        })
    }
}

/// The distributions with their parameters.
#[derive(Clone, Debug)]
pub(crate) struct Distributions {
    /// The distribution of `sysbench.rand.default`.
    pub(crate) default: Shape,
    /// Number of uniform numbers whose mean is a Gaussian number (`--rand-spec-iter`).
    pub(crate) iterations: u32,
    /// Percentage of the range that "special" prefers (`--rand-spec-pct`).
    pub(crate) special_percent: f64,
    /// Percentage of numbers in the preferred part (`--rand-spec-res`).
    pub(crate) special_share_percent: f64,
    /// h of the Pareto distribution (`--rand-pareto-h`).
    pub(crate) pareto_h: f64,
    /// s of the Zipf distribution (`--rand-zipfian-exp`).
    pub(crate) zipfian_exponent: f64,
    /// Zipf distribution of the range from which a number was drawn most recently. It is kept because its setup takes
    /// longer than a draw.
    pub(crate) zipf: Option<Zipf>,
}

impl Default for Distributions {
    /// Defaults of sysbench 1.0.20, and of its main branch for the Zipf distribution.
    fn default() -> Self {
        Self {
            default: Shape::Special,
            iterations: 12,
            special_percent: 1.0,
            special_share_percent: 75.0,
            pareto_h: 0.2,
            zipfian_exponent: 0.8,
            zipf: None,
        }
    }
}

impl Distributions {
    /// An integer from `low` to `high`.
    pub(crate) fn draw(&mut self, shape: Shape, generator: &mut Generator, low: i64, high: i64) -> i64 {
        let width = width(low, high);
        let offset = match shape {
            Shape::Uniform => generator.unit() * width,
            Shape::Gaussian => self.mean(generator) * width,
            Shape::Special => self.special(generator, width - 1.0),
            Shape::Pareto => width * generator.unit().powf(self.pareto_power()),
            Shape::Zipfian => self.zipf(width).sample(generator) - 1.0,
        };
        // The product can be rounded up to the width, so the offset is limited to the last number.
        low.saturating_add(offset.min((width - 1.0).max(0.0)).floor() as i64)
    }

    /// The mean of several uniform numbers, which is nearly Gaussian (Irwin–Hall).
    fn mean(&self, generator: &mut Generator) -> f64 {
        (0..self.iterations).map(|_| generator.unit()).sum::<f64>() / f64::from(self.iterations)
    }

    /// Most numbers are from a narrow band near the middle. The others are Gaussian. One random number selects both
    /// the kind and the position in the band, so the lower part of the band never occurs. sysbench has the same
    /// error, and its results must be reproduced.
    fn special(&self, generator: &mut Generator, span: f64) -> f64 {
        let unit = generator.unit();
        if unit < 1.0 - self.special_share_percent / 100.0 {
            return self.mean(generator) * span;
        }
        let band = span * self.special_percent / 100.0;
        unit * (band + 1.0) + (span - band) / 2.0
    }

    /// Returns the power to which a uniform number is raised so that the numbers follow Pareto's principle: a share h
    /// of the range gets a share 1 − h of the draws.
    fn pareto_power(&self) -> f64 {
        self.pareto_h.ln() / (-self.pareto_h).ln_1p()
    }

    fn zipf(&mut self, n: f64) -> &Zipf {
        if self.zipf.as_ref().is_none_or(|zipf| (zipf.n() - n).abs() > 0.5) {
            self.zipf = None;
        }
        self.zipf.get_or_insert_with(|| Zipf::new(n.max(1.0), self.zipfian_exponent))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DRAWS: usize = 200_000;

    fn draws(shape: Shape, low: i64, high: i64) -> Vec<f64> {
        let mut generator = Generator::new(11, 0);
        let mut distributions = Distributions::default();
        (0..DRAWS).map(|_| distributions.draw(shape, &mut generator, low, high) as f64).collect()
    }

    fn mean_and_deviation(draws: &[f64]) -> (f64, f64) {
        let mean = draws.iter().sum::<f64>() / draws.len() as f64;
        let variance = draws.iter().map(|draw| (draw - mean).powi(2)).sum::<f64>() / draws.len() as f64;
        (mean, variance.sqrt())
    }

    fn share(draws: &[f64], predicate: impl Fn(f64) -> bool) -> f64 {
        draws.iter().filter(|&&draw| predicate(draw)).count() as f64 / draws.len() as f64
    }

    #[test]
    fn every_shape_keeps_to_its_range() {
        for shape in [Shape::Uniform, Shape::Gaussian, Shape::Special, Shape::Pareto, Shape::Zipfian] {
            for (low, high) in [(1, 1), (1, 2), (1, 10), (-5, 5), (1, 1_000_000_007)] {
                let draws = draws(shape, low, high);
                let inside = draws.iter().all(|&draw| (low as f64..=high as f64).contains(&draw));
                assert!(inside, "{shape:?} left {low}..{high}");
            }
        }
    }

    #[test]
    fn uniform_has_the_moments_of_its_formula() {
        let (mean, deviation) = mean_and_deviation(&draws(Shape::Uniform, 1, 1000));
        assert!((mean - 500.5).abs() < 3.0, "{mean}");
        assert!((deviation - 288.7).abs() < 3.0, "{deviation}");
    }

    /// The mean of twelve uniform numbers has a standard deviation of 1/12 of the range.
    #[test]
    fn gaussian_has_the_moments_of_its_formula() {
        let (mean, deviation) = mean_and_deviation(&draws(Shape::Gaussian, 1, 1000));
        assert!((mean - 500.5).abs() < 1.0, "{mean}");
        assert!((deviation - 1000.0 / 12.0).abs() < 1.0, "{deviation}");
    }

    /// With h = 0.2, a fifth of the numbers gets four fifths of the draws.
    #[test]
    fn pareto_gives_the_first_fifth_four_fifths() {
        let share = share(&draws(Shape::Pareto, 1, 1000), |draw| draw <= 200.0);
        assert!((share - 0.8).abs() < 0.005, "{share}");
    }

    /// With the range from 1 to 1000, sysbench 1.0.20 returns 498 to 506 in about three draws of four. The numbers
    /// from 499 to 505 occur equally often.
    #[test]
    fn special_prefers_the_same_band_as_sysbench() {
        let draws = draws(Shape::Special, 1, 1000);
        let band = share(&draws, |draw| (498.0..=506.0).contains(&draw));
        assert!((band - 0.759).abs() < 0.005, "{band}");
        for k in 499..=505 {
            let share = share(&draws, |draw| (draw - f64::from(k)).abs() < 0.5);
            assert!((share - 0.0922).abs() < 0.004, "{k}: {share}");
        }
    }
}
