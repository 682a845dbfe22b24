//! The interval of a probability from a count of hits.

use crate::estimate::interval::Interval;

/// Number of bisection steps. It exceeds the 53 bits of an f64's precision.
const STEPS: u32 = 60;

/// Exact interval of a probability, from the number of hits in independent trials. At each end of the interval, a
/// count at least as extreme as `hits` has half of the error probability (Clopper and Pearson, "The use of confidence
/// or fiducial limits illustrated in the case of the binomial", Biometrika 26(4), 1934). Without a trial, the interval
/// is from 0 to 1.
pub fn proportion(hits: usize, trials: usize, confidence: f64) -> Interval {
    let error = (1.0 - confidence) / 2.0;
    let misses = trials.saturating_sub(hits);
    Interval { low: least(hits, trials, error), high: 1.0 - least(misses, trials, error), confidence }
}

/// The lower bound of the interval. If a hit has this probability, then `hits` or more hits in `trials` trials have the
/// probability `error`.
fn least(hits: usize, trials: usize, error: f64) -> f64 {
    if hits == 0 {
        return 0.0;
    }
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..STEPS {
        let middle = f64::midpoint(low, high);
        if at_least(hits, trials, middle) < error { low = middle } else { high = middle }
    }
    low
}

/// Probability of `hits` or more hits in `trials` trials.
fn at_least(hits: usize, trials: usize, probability: f64) -> f64 {
    let (ln_hit, ln_miss) = (probability.ln(), (-probability).ln_1p());
    let mut ln_ways = 0.0;
    let mut sum = 0.0;
    for count in 0..=trials {
        if count >= hits {
            sum += (ln_ways + count as f64 * ln_hit + (trials - count) as f64 * ln_miss).exp();
        }
        ln_ways += ((trials - count) as f64 / (count + 1) as f64).ln();
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_close;

    #[test]
    fn bounds_are_those_of_published_tables() {
        // Expected values of binom.test(3, 20) and binom.test(0, 60) in R.
        let found = proportion(3, 20, 0.95);
        assert_close(found.low, 0.032_070_94, 1e-7);
        assert_close(found.high, 0.378_926_8, 1e-6);
        assert_close(proportion(0, 60, 0.95).high, 1.0 - 0.025_f64.powf(1.0 / 60.0), 1e-9);
        assert_close(proportion(20, 20, 0.95).low, 0.025_f64.powf(1.0 / 20.0), 1e-9);
    }

    #[test]
    fn the_extremes_are_closed() {
        assert_eq!((proportion(0, 9, 0.9).low, proportion(9, 9, 0.9).high), (0.0, 1.0));
        let nothing = proportion(0, 0, 0.95);
        assert_eq!((nothing.low, nothing.high), (0.0, 1.0));
    }
}
