//! Random numbers, equal to those of PostgreSQL 15 and later for the same seed.

use std::f64::consts::PI;

use crate::error::EvaluationError;

/// xoroshiro128** 1.0 (Blackman and Vigna, "Scrambled linear pseudorandom number generators", 2021).
#[derive(Clone, Debug)]
pub(crate) struct Generator {
    state: [u64; 2],
}

/// The bounds of a range.
#[derive(Clone, Copy, Debug)]
pub(super) struct Range {
    low: i64,
    /// How many numbers the range has.
    count: i64,
}

impl Range {
    pub(super) fn new(low: i64, high: i64) -> Result<Self, EvaluationError> {
        if low > high {
            return Err(EvaluationError::EmptyRange { low, high });
        }
        let count = high.checked_sub(low).and_then(|last| last.checked_add(1));
        count.map(|count| Self { low, count }).ok_or(EvaluationError::RangeTooLarge { low, high })
    }

    /// The number at this fraction of the range. The fraction is at least 0 and below 1.
    fn at(self, part: f64) -> i64 {
        self.low.wrapping_add((self.count as f64 * part) as i64)
    }
}

impl Generator {
    /// Creates a generator. `SplitMix64` fills its state from the seed.
    pub(crate) fn seeded(mut seed: u64) -> Self {
        Self { state: [split_mix(&mut seed), split_mix(&mut seed)] }
    }

    /// A random 64-bit number.
    pub(crate) fn next(&mut self) -> u64 {
        let [first, second] = self.state;
        let mixed = first ^ second;
        self.state = [first.rotate_left(24) ^ mixed ^ (mixed << 16), mixed.rotate_left(37)];
        first.wrapping_mul(5).rotate_left(7).wrapping_mul(9)
    }

    /// A random number from 0 to `last`. It is drawn with as many bits as `last` has, and drawn again until it is
    /// not above `last`.
    pub(crate) fn up_to(&mut self, last: u64) -> u64 {
        if last == 0 {
            return 0;
        }
        loop {
            let number = self.next() >> last.leading_zeros();
            if number <= last {
                return number;
            }
        }
    }

    /// A random number from 0 to below 1, with 52 random bits.
    fn unit(&mut self) -> f64 {
        (self.next() >> 12) as f64 / (1_u64 << 52) as f64
    }

    pub(super) fn uniform(&mut self, range: Range) -> i64 {
        range.low.wrapping_add(self.up_to(range.count as u64 - 1) as i64)
    }

    /// Draws from an exponential distribution. The probability of a number falls from the first number of the range to
    /// the last by a factor of e to the power of `parameter`.
    pub(super) fn exponential(&mut self, range: Range, parameter: f64) -> Result<i64, EvaluationError> {
        if parameter.is_nan() || parameter <= 0.0 {
            return Err(EvaluationError::ExponentialParameter(parameter));
        }
        let cut = (-parameter).exp();
        let unit = 1.0 - self.unit();
        Ok(range.at(-(cut + (1.0 - cut) * unit).ln() / parameter))
    }

    /// Draws from a normal distribution (Box and Muller) whose mean is the middle of the range. The distribution is cut
    /// at the ends of the range, which are `parameter` standard deviations away from the mean.
    pub(super) fn gaussian(&mut self, range: Range, parameter: f64) -> Result<i64, EvaluationError> {
        if parameter.is_nan() || parameter < 2.0 {
            return Err(EvaluationError::GaussianParameter(parameter));
        }
        loop {
            let (first, second) = (1.0 - self.unit(), 1.0 - self.unit());
            let deviation = (-2.0 * first.ln()).sqrt() * (2.0 * PI * second).sin();
            if (-parameter..parameter).contains(&deviation) {
                return Ok(range.at((deviation + parameter) / (parameter * 2.0)));
            }
        }
    }

    /// Draws from a Zipfian distribution by rejection: L. Devroye, "Non-Uniform Random Variate Generation", Springer
    /// 1986, p. 550.
    pub(super) fn zipfian(&mut self, range: Range, parameter: f64) -> Result<i64, EvaluationError> {
        if !(1.001..=1000.0).contains(&parameter) {
            return Err(EvaluationError::ZipfianParameter(parameter));
        }
        if range.count == 1 {
            return Ok(range.low);
        }
        let exponent = parameter - 1.0;
        let bound = 2.0_f64.powf(exponent);
        loop {
            let (first, second) = (self.unit(), self.unit());
            let rank = first.powf(-1.0 / exponent).floor();
            let term = (1.0 + 1.0 / rank).powf(exponent);
            let fits = second * rank * (term - 1.0) / (bound - 1.0) <= term / bound;
            if fits && rank <= range.count as f64 {
                return Ok(range.low.wrapping_sub(1).wrapping_add(rank as i64));
            }
        }
    }
}

/// `SplitMix64` (Steele, Lea and Flood, 2014).
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*state ^ (*state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// With `--random-seed=5432`, pgbench draws these numbers in this order in PostgreSQL's own tests.
    #[test]
    fn numbers_are_those_of_pgbench() {
        let client = Generator::seeded(5432).next();
        let mut random = Generator::seeded(client);
        let range = |low, high| Range::new(low, high).unwrap();
        assert_eq!(random.uniform(range(10, 19)), 17);
        assert_eq!(random.exponential(range(100, 199), 10.0), Ok(104));
        assert_eq!(random.gaussian(range(1000, 1999), 10.0), Ok(1498));
        assert_eq!(random.zipfian(range(1, 9), 1.3), Ok(3));
    }

    #[test]
    fn numbers_stay_in_their_range() {
        let mut random = Generator::seeded(1);
        for (low, high) in [(0, 0), (-5, 5), (0, i64::MAX - 1), (i64::MIN, -2)] {
            let range = Range::new(low, high).unwrap();
            for _ in 0..100 {
                let drawn = [
                    random.uniform(range),
                    random.exponential(range, 3.0).unwrap(),
                    random.gaussian(range, 2.0).unwrap(),
                    random.zipfian(range, 1.5).unwrap(),
                ];
                assert!(
                    drawn.iter().all(|number| (low..=high).contains(number)),
                    "{drawn:?} of {low} to {high}"
                );
            }
        }
    }

    #[test]
    fn ranges_and_parameters_are_checked() {
        assert_eq!(Range::new(5, 3).unwrap_err(), EvaluationError::EmptyRange { low: 5, high: 3 });
        for (low, high) in [(i64::MIN, i64::MAX), (0, i64::MAX), (-1, i64::MAX - 1)] {
            assert_eq!(Range::new(low, high).unwrap_err(), EvaluationError::RangeTooLarge { low, high });
        }
        let range = Range::new(0, 10).unwrap();
        let mut random = Generator::seeded(1);
        assert!(random.gaussian(range, 1.0).is_err() && random.exponential(range, 0.0).is_err());
        assert!(random.zipfian(range, 1.0).is_err() && random.zipfian(range, 1e6).is_err());
    }
}
