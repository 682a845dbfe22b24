//! Step-down max-T: p-values of tests that share rounds, adjusted for their number and their dependence.

use crate::distribution::random::SplitMix64;
use crate::series::effective_size::variance;
use crate::test::moderation::Prior;
use crate::test::verdict::Margin;

/// Up to this number of rounds, every combination of sign reversals ("flips") is tried. With more rounds,
/// [`FLIPS_MAX`] random combinations are tried.
const ALL_FLIPS_ROUNDS_MAX: usize = 14;
const FLIPS_MAX: u64 = 1 << ALL_FLIPS_ROUNDS_MAX;

/// A test of a family whose tests share their rounds.
#[derive(Clone, Debug, PartialEq)]
pub struct SharedTest {
    /// Log ratio in each round; `None` in a round in which the test has no ratio.
    pub ln_ratios: Vec<Option<f64>>,
    /// The null hypothesis is that the true ratio lies within this margin.
    pub margin: Margin,
}

/// Two-sided adjusted p-values, in the given order. If the tests with a value of at most α are rejected, the
/// probability of any false alarm is at most α. A test with fewer than two rounds has the value 1.
///
/// If there is no difference, reversing the signs of all log ratios of a round gives an outcome that is equally
/// probable. So the statistic of each test is compared with the largest statistic of all tests under every reversal
/// of whole rounds. This preserves the dependence between tests. The comparison goes step by step, from the largest
/// statistic down, and tests already rejected no longer count. The smallest possible p of n rounds is 2/2ⁿ for any
/// number of tests, while that of [`holm`](crate::holm) grows with their number. (Westfall and Young,
/// "Resampling-Based Multiple Testing", Wiley 1993, section 2.6; the order of computation is that of Ge, Dudoit and
/// Speed, "Resampling-based multiple testing for microarray data analysis", Test 12(1), 2003, box 2.)
///
/// The statistic is Student's t beyond the margin, with a [moderated](Prior) variance. With more than 14 rounds,
/// reversals are drawn at random from `seed`, and the unreversed signs count as one of the draws (Phipson and
/// Smyth, "Permutation p-values should never be zero", Statistical Applications in Genetics and Molecular Biology
/// 9(1), 2010). `rounds` is the length of every `ln_ratios`.
///
/// A run may stop measuring a test at an earlier look. The test then has only the rounds up to that look. It stays
/// among the tests, unless its hypothesis was rejected. If such tests were removed, the remaining tests would be
/// those that chance favours, and they would be judged as if no others had been tried. With the stopped tests in
/// place, the largest t under reversals tends to be at least as large as if all tests had been measured to the end,
/// except for small numbers of rounds. The reason is that a test with n of the N rounds has correlations with other
/// tests that are smaller by the factor √(n/N), which makes a large maximum more probable (Royen, "A simple proof
/// of the Gaussian correlation conjecture extended to some multivariate gamma distributions", Far East Journal of
/// Theoretical Statistics 48(2), 2014; the monotony is in Latała and Matlak, "Royen's proof of the Gaussian
/// correlation inequality", Lecture Notes in Mathematics 2169, 2017). So to stop measuring tests, for any reason,
/// does not raise the probability of a false alarm at a look.
pub fn max_t(tests: &[SharedTest], rounds: usize, seed: u64) -> Vec<f64> {
    let values: Vec<Vec<f64>> =
        tests.iter().map(|test| test.ln_ratios.iter().copied().flatten().collect()).collect();
    let prior = Prior::of(values.iter().map(Vec::as_slice));
    let known: Vec<(usize, Statistic<'_>)> = tests
        .iter()
        .enumerate()
        .filter_map(|(at, test)| Some((at, Statistic::of(test, &values[at], prior)?)))
        .collect();
    let found: Vec<f64> = known.iter().map(|(_, statistic)| statistic.under(0)).collect();
    let mut order: Vec<usize> = (0..known.len()).collect();
    order.sort_by(|a, b| found[*b].total_cmp(&found[*a]));

    let mut reached = vec![0_u64; known.len()];
    let flips = Flips::new(rounds, seed);
    let tried = flips.len();
    for flip in flips {
        let mut largest = f64::NEG_INFINITY;
        for &at in order.iter().rev() {
            largest = largest.max(known[at].1.under(flip));
            // The tolerance allows for rounding: equal sums in another order may differ in their last digits.
            reached[at] += u64::from(largest >= found[at] - 1e-9 * found[at].abs());
        }
    }
    let mut adjusted = vec![1.0; tests.len()];
    let mut least: f64 = 0.0;
    for at in order {
        least = least.max(reached[at] as f64 / tried as f64);
        adjusted[known[at].0] = least;
    }
    adjusted
}

/// Computes Student's t of a test with the signs of some rounds reversed.
struct Statistic<'a> {
    ln_ratios: &'a [Option<f64>],
    n: f64,
    upper: f64,
    lower: f64,
    /// Sums of squares of the distances beyond the upper edge of the margin, and beyond the lower edge.
    squares_above: f64,
    squares_below: f64,
    prior: Option<Prior>,
}

impl<'a> Statistic<'a> {
    fn of(test: &'a SharedTest, values: &[f64], prior: Option<Prior>) -> Option<Self> {
        variance(values)?;
        let (upper, lower) = (test.margin.high().ln(), test.margin.low().ln());
        let squares = |edge: f64| values.iter().map(|value| (value - edge).powi(2)).sum();
        Some(Self {
            ln_ratios: &test.ln_ratios,
            n: values.len() as f64,
            upper,
            lower,
            squares_above: squares(upper),
            squares_below: squares(lower),
            prior,
        })
    }

    /// The larger of the two t values, above the upper edge and below the lower edge. The signs of the rounds whose
    /// bit in `flip` is set are reversed.
    fn under(&self, flip: u64) -> f64 {
        let (mut above, mut below) = (0.0, 0.0);
        for (round, value) in self.ln_ratios.iter().enumerate() {
            let Some(value) = value else { continue };
            let sign = if flip >> round & 1 == 1 { -1.0 } else { 1.0 };
            above += sign * (value - self.upper);
            below += sign * (self.lower - value);
        }
        self.t(above, self.squares_above).max(self.t(below, self.squares_below))
    }

    fn t(&self, sum: f64, squares: f64) -> f64 {
        let (mean, degrees) = (sum / self.n, self.n - 1.0);
        let own = ((squares - self.n * mean * mean) / degrees).max(0.0);
        let variance = self.prior.map_or(own, |prior| prior.moderate(own, degrees));
        mean / (variance / self.n).sqrt().max(f64::MIN_POSITIVE)
    }
}

/// Combinations of reversed rounds, as bits: all combinations, or random ones. The first reverses nothing.
struct Flips {
    random: Option<SplitMix64>,
    mask: u64,
    next: u64,
    len: u64,
}

impl Flips {
    fn new(rounds: usize, seed: u64) -> Self {
        let is_random = rounds > ALL_FLIPS_ROUNDS_MAX;
        Self {
            random: is_random.then(|| SplitMix64::new(seed)),
            mask: u64::MAX.checked_shr(64_u32.saturating_sub(rounds as u32)).unwrap_or(0),
            next: 0,
            len: if is_random { FLIPS_MAX } else { 1 << rounds },
        }
    }

    fn len(&self) -> u64 {
        self.len
    }
}

impl Iterator for Flips {
    type Item = u64;

    fn next(&mut self) -> Option<u64> {
        let at = self.next;
        self.next += 1;
        (at < self.len).then(|| match &mut self.random {
            Some(random) if at > 0 => random.draw() & self.mask,
            _ => at,
        })
    }
}

#[cfg(test)]
mod tests;
