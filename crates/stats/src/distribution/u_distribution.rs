//! The distribution of Mann and Whitney's U.

use crate::distribution::normal::normal_at_most;

/// Largest sample size for which the exact distribution is computed. For larger samples, the normal approximation is
/// close enough.
const EXACT_MAX: usize = 20;

/// Distribution of U if both samples come from one distribution without ties. A pair consists of one value from
/// each sample, and U is the number of pairs in which the second sample's value is larger (Mann and Whitney, "On a
/// test of whether one of two random variables is stochastically larger than the other", Annals of Mathematical
/// Statistics 18(1), 1947).
pub(crate) enum UDistribution {
    /// P(U ≤ u) for u = 0, 1, … n·m, computed exactly.
    Exact(Vec<f64>),
    /// Normal approximation with continuity correction.
    Normal { middle: f64, deviation: f64 },
}

impl UDistribution {
    /// Distribution for samples of n and m values; exact up to 20 values each.
    pub(crate) fn of(n: usize, m: usize) -> Self {
        if n > EXACT_MAX || m > EXACT_MAX {
            let (pairs, total) = ((n * m) as f64, (n + m) as f64);
            return Self::Normal { middle: pairs / 2.0, deviation: (pairs * (total + 1.0) / 12.0).sqrt() };
        }
        let counts = arrangements(n, m);
        let total: f64 = counts.iter().sum();
        let mut sum = 0.0;
        let cumulative = counts.iter().map(|count| {
            sum += count;
            sum / total
        });
        Self::Exact(cumulative.collect())
    }

    /// P(U ≤ u).
    pub(crate) fn at_most(&self, u: usize) -> f64 {
        match self {
            Self::Exact(cumulative) => cumulative.get(u).copied().unwrap_or(1.0),
            Self::Normal { middle, deviation } => normal_at_most(u, *middle, *deviation),
        }
    }
}

/// Number of arrangements with U = 0, 1, … n·m: the coefficients of ∏ (1 − q^(m+i)) / (1 − q^i), i = 1 … n (the
/// Gaussian binomial coefficient; Andrews, "The Theory of Partitions", chapter 3).
fn arrangements(n: usize, m: usize) -> Vec<f64> {
    let size = n * m + 1;
    let mut counts = vec![0.0; size];
    counts[0] = 1.0;
    for i in 1..=n {
        for at in (m + i..size).rev() {
            counts[at] -= counts[at - m - i];
        }
        for at in i..size {
            counts[at] += counts[at - i];
        }
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_close;

    #[test]
    fn figures_of_scipy() {
        // Half of scipy.stats.mannwhitneyu(…, method="exact").pvalue with U = 3, for four and five values.
        assert_close(UDistribution::of(4, 5).at_most(3), 0.111_111_111_111_111_1 / 2.0, 1e-12);
        // If all values of one sample exceed all values of the other, p has its least value, 1/C(2n, n).
        for (n, least) in [(3, 1.0 / 20.0), (4, 1.0 / 70.0), (5, 1.0 / 252.0)] {
            assert_close(UDistribution::of(n, n).at_most(0), least, 1e-12);
        }
        assert_close(UDistribution::of(4, 5).at_most(20), 1.0, 1e-12);
    }

    #[test]
    fn beyond_twenty_values_the_normal_distribution_is_as_good() {
        let normal = UDistribution::Normal { middle: 200.0, deviation: (400.0 * 41.0 / 12.0_f64).sqrt() };
        let exact = UDistribution::of(20, 20);
        for u in [100, 127, 150, 200] {
            assert_close(normal.at_most(u), exact.at_most(u), 0.002);
        }
        assert!(matches!(UDistribution::of(21, 5), UDistribution::Normal { .. }));
    }
}
