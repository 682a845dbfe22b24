//! The binomial distribution with probability one half, the basis of sign tests.

/// P(Bin(n, ½) ≤ k) for k = 0, 1, … n. The terms are computed from logarithms, because 0.5ⁿ underflows an f64 for n >
/// 1074.
pub(crate) fn cumulative(n: usize) -> impl Iterator<Item = f64> {
    let mut term_ln = -(n as f64) * std::f64::consts::LN_2;
    let mut sum = 0.0;
    (0..=n).map(move |k| {
        if k > 0 {
            term_ln += ((n - k + 1) as f64 / k as f64).ln();
        }
        sum += term_ln.exp();
        f64::min(sum, 1.0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_close;

    #[test]
    fn figures_of_scipy() {
        // scipy.stats.binom.cdf(k, n, 0.5)
        for (n, k, expected) in [
            (6, 0, 0.015_625),
            (20, 5, 0.020_694_732_666_015_625),
            (100, 39, 0.017_600_100_108_852_39),
            (2000, 950, 0.013_412_073_120_140_273),
        ] {
            assert_close(cumulative(n).nth(k).unwrap(), expected, 1e-11);
        }
        assert_close(cumulative(7).last().unwrap(), 1.0, 1e-15);
    }
}
