//! Whether one system's trials tend to be larger than another's, when they are not paired.

use serde::Serialize;

use crate::median::sorted;

/// The largest sample for which the distribution is counted out; beyond, the normal one is as good.
const EXACT_MAX: usize = 20;

/// The outcome of the test.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct MannWhitney {
    /// Pairs of one value of each sample in which the candidate's is larger; ties count half.
    pub u: f64,
    /// The chance of a U as far from the middle if both samples come from one distribution; two-sided.
    pub p: f64,
    /// Whether `p` is counted out, not approximated.
    pub is_exact: bool,
    /// Cliff's δ: the chance that a candidate's value is larger less the chance that it is smaller, from −1 to 1.
    /// (Cliff, "Dominance statistics", Psychological Bulletin 114(3), 1993.)
    pub delta: f64,
}

/// The Mann–Whitney U test. Exact up to 20 values each without ties, otherwise by the normal distribution with
/// corrections for ties and continuity. None if a sample is empty.
///
/// (Mann and Whitney, Annals of Mathematical Statistics 18(1), 1947; ties: Lehmann, "Nonparametrics", section 1.4.)
/// With 3 values each, p is never below 0.1; with 4, 0.029; with 5, 0.008.
///
/// # Panics
/// If a value is NaN, which no measurement is.
pub fn mann_whitney(base: &[f64], candidate: &[f64]) -> Option<MannWhitney> {
    let (n, m) = (base.len(), candidate.len());
    if n == 0 || m == 0 {
        return None;
    }
    let u: f64 =
        candidate.iter().map(|own| base.iter().map(|base| dominance(*own, *base)).sum::<f64>()).sum();
    let pooled = sorted(&[base, candidate].concat());
    let ties: Vec<f64> = pooled.chunk_by(|a, b| a >= b).map(|tie| tie.len() as f64).collect();
    let is_exact = ties.len() == n + m && n <= EXACT_MAX && m <= EXACT_MAX;
    let far = u.max((n * m) as f64 - u);
    let p = if is_exact { exact_p(n, m, far) } else { normal_p(n as f64, m as f64, far, &ties) };
    Some(MannWhitney { u, p, is_exact, delta: 2.0 * u / (n * m) as f64 - 1.0 })
}

/// P(U ≤ u) if both samples come from one distribution without ties: counted out up to 20 values each, beyond by the
/// normal distribution with a correction for continuity.
pub(crate) fn u_at_most(n: usize, m: usize, u: usize) -> f64 {
    if u >= n * m {
        return 1.0;
    }
    if n <= EXACT_MAX && m <= EXACT_MAX {
        let counts = arrangements(n, m);
        return counts[..=u].iter().sum::<f64>() / counts.iter().sum::<f64>();
    }
    let (pairs, total) = ((n * m) as f64, (n + m) as f64);
    let z = (pairs / 2.0 - u as f64 - 0.5) / (pairs * (total + 1.0) / 12.0).sqrt();
    0.5 * libm::erfc(z / std::f64::consts::SQRT_2)
}

fn dominance(own: f64, base: f64) -> f64 {
    match own.partial_cmp(&base).expect("a measured value is a number") {
        std::cmp::Ordering::Greater => 1.0,
        std::cmp::Ordering::Equal => 0.5,
        std::cmp::Ordering::Less => 0.0,
    }
}

/// Twice the share of all arrangements with a U of at least `far`.
fn exact_p(n: usize, m: usize, far: f64) -> f64 {
    let counts = arrangements(n, m);
    let total: f64 = counts.iter().sum();
    let tail: f64 = counts[far as usize..].iter().sum();
    (2.0 * tail / total).min(1.0)
}

/// How many arrangements have U = 0, 1, … n·m: the coefficients of ∏ (1 − q^(m+i)) / (1 − q^i), i = 1 … n
/// (the Gaussian binomial coefficient; Andrews, "The Theory of Partitions", chapter 3).
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

fn normal_p(n: f64, m: f64, far: f64, ties: &[f64]) -> f64 {
    let total = n + m;
    let correction: f64 = ties.iter().map(|tie| tie.powi(3) - tie).sum();
    let variance = n * m / 12.0 * (total + 1.0 - correction / (total * (total - 1.0)));
    if variance <= 0.0 {
        return 1.0;
    }
    let z = (far - n * m / 2.0 - 0.5) / variance.sqrt();
    libm::erfc(z / std::f64::consts::SQRT_2).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SplitMix64;
    use crate::testing::{assert_close, hits_max, rates};

    #[test]
    fn figures_of_scipy_exact() {
        // scipy.stats.mannwhitneyu(candidate, base, method="exact")
        let found = mann_whitney(&[19.0, 22.0, 16.0, 29.0, 24.0], &[20.0, 11.0, 17.0, 12.0]).unwrap();
        assert_eq!((found.u, found.is_exact), (3.0, true));
        assert_close(found.p, 0.111_111_111_111_111_1, 1e-12);
        assert_close(found.delta, -0.7, 1e-12);
    }

    #[test]
    fn figures_of_scipy_with_ties() {
        // scipy.stats.mannwhitneyu(candidate, base, method="asymptotic")
        let found = mann_whitney(&[1.0, 2.0, 2.0, 3.0, 4.0], &[2.0, 3.0, 5.0, 6.0, 6.0, 7.0]).unwrap();
        assert_eq!((found.u, found.is_exact), (25.5, false));
        assert_close(found.p, 0.064_146_618_734_404_37, 1e-9);
    }

    #[test]
    fn the_smallest_p_that_few_trials_can_have() {
        for (n, least) in [(3, 0.1), (4, 2.0 / 70.0), (5, 2.0 / 252.0)] {
            let base: Vec<f64> = (0..n).map(f64::from).collect();
            let candidate: Vec<f64> = (0..n).map(|at| f64::from(at + 100)).collect();
            assert_close(mann_whitney(&base, &candidate).unwrap().p, least, 1e-12);
        }
    }

    #[test]
    fn where_all_is_tied_nothing_differs() {
        let found = mann_whitney(&[1.0; 4], &[1.0; 4]).unwrap();
        assert_close(found.p, 1.0, 0.0);
        assert_close(found.delta, 0.0, 0.0);
        assert_eq!(mann_whitney(&[], &[1.0]), None);
    }

    #[test]
    fn between_equals_alarms_are_as_rare_as_promised() {
        let mut random = SplitMix64::new(11);
        for n in [6, 15, 30] {
            let alarms = (0..2000).filter(|_| {
                let base = rates(&mut random, n, 1.0, 0.05);
                mann_whitney(&base, &rates(&mut random, n, 1.0, 0.05)).unwrap().p <= 0.05
            });
            assert!(alarms.count() as u32 <= hits_max(2000, 0.05), "n = {n}");
        }
    }
}
