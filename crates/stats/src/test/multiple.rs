//! Adjustment of p-values for multiple tests.

/// Holm's adjusted p-values, in the given order. If the tests with a value of at most α are rejected, the
/// probability of any false alarm is at most α, however the tests depend on each other. This is meant for gates.
/// (Holm, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6(2),
/// 1979.)
pub fn holm(p: &[f64]) -> Vec<f64> {
    let order = ascending(p);
    let mut adjusted = vec![0.0; p.len()];
    let mut least: f64 = 0.0;
    for (rank, &at) in order.iter().enumerate() {
        least = least.max((p.len() - rank) as f64 * p[at]).min(1.0);
        adjusted[at] = least;
    }
    adjusted
}

/// Benjamini and Hochberg's adjusted p-values, in the given order. If the tests with a value of at most α are
/// rejected, the expected share of false alarms among all alarms is at most α. This holds for tests that are
/// independent or positively dependent. It is meant for exploration. (Benjamini and Hochberg, "Controlling the
/// false discovery rate", Journal of the Royal Statistical Society B 57(1), 1995.)
pub fn benjamini_hochberg(p: &[f64]) -> Vec<f64> {
    let order = ascending(p);
    let mut adjusted = vec![0.0; p.len()];
    let mut most: f64 = 1.0;
    for (rank, &at) in order.iter().enumerate().rev() {
        most = most.min(p[at] * p.len() as f64 / (rank + 1) as f64);
        adjusted[at] = most;
    }
    adjusted
}

/// Indices of the p-values in ascending order of p.
fn ascending(p: &[f64]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|a, b| p[*a].total_cmp(&p[*b]));
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::random::SplitMix64;
    use crate::testing::{assert_close, hits_max, normal, uniform};
    use crate::{Margin, ratio_of_rounds};

    /// Benjamini and Hochberg's own example (1995, section 3.2): fifteen comparisons of heart treatments.
    const HEART: [f64; 15] = [
        0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262, 0.5719,
        0.6528, 0.7590, 1.0,
    ];

    fn rejected(adjusted: &[f64]) -> usize {
        adjusted.iter().filter(|p| **p <= 0.05).count()
    }

    #[test]
    fn the_published_example() {
        // Benjamini and Hochberg write: "The Bonferroni approach … rejects 3, Hochberg's 3, ours 4."
        assert_eq!(rejected(&holm(&HEART)), 3);
        assert_eq!(rejected(&benjamini_hochberg(&HEART)), 4);
    }

    #[test]
    fn figures_of_r() {
        // The expected values are those of p.adjust(c(0.01, 0.04, 0.03, 0.005)) in R, with "holm" and with "BH".
        for (adjusted, expected) in [
            (holm(&[0.01, 0.04, 0.03, 0.005]), [0.03, 0.06, 0.06, 0.02]),
            (benjamini_hochberg(&[0.01, 0.04, 0.03, 0.005]), [0.02, 0.04, 0.04, 0.02]),
        ] {
            for (adjusted, expected) in adjusted.into_iter().zip(expected) {
                assert_close(adjusted, expected, 1e-12);
            }
        }
        assert!(holm(&[]).is_empty() && benjamini_hochberg(&[]).is_empty());
        assert!(holm(&[0.9, 0.8]).iter().all(|p| *p <= 1.0));
    }

    #[test]
    fn among_many_equals_one_false_alarm_is_as_rare_as_promised() {
        let mut random = SplitMix64::new(3);
        let alarms = (0..4000).filter(|_| {
            let p: Vec<f64> = (0..20).map(|_| uniform(&mut random)).collect();
            rejected(&holm(&p)) > 0
        });
        assert!(alarms.count() as u32 <= hits_max(4000, 0.05));
    }

    #[test]
    fn among_alarms_the_share_of_false_ones_is_as_small_as_promised() {
        let mut random = SplitMix64::new(9);
        let mut share = 0.0;
        for _ in 0..2000 {
            let p: Vec<f64> = (0..20)
                .map(|at| if at < 10 { 0.001 * uniform(&mut random) } else { uniform(&mut random) })
                .collect();
            let adjusted = benjamini_hochberg(&p);
            share += rejected(&adjusted[10..]) as f64 / rejected(&adjusted).max(1) as f64;
        }
        // Half of the hypotheses are true, so the expected share is at most α / 2.
        assert!(share / 2000.0 <= 0.03, "{}", share / 2000.0);
    }

    /// p-values of six rounds in which `candidates` servers, with ten tests each, are compared with one base. In
    /// each round, each server starts about 5% faster or slower by chance, equally in all its tests. Each test adds
    /// noise of 3%. The first `different` candidates are a fifth slower.
    fn p_of_one_base(random: &mut SplitMix64, candidates: usize, different: usize) -> Vec<f64> {
        let mut starts = || -> Vec<f64> { (0..6).map(|_| 0.05 * normal(random)).collect() };
        let (base, others): (Vec<f64>, Vec<Vec<f64>>) =
            (starts(), (0..candidates).map(|_| starts()).collect());
        let mut p = Vec::new();
        for (at, starts) in others.iter().enumerate() {
            let effect = if at < different { 0.8_f64.ln() } else { 0.0 };
            for _ in 0..10 {
                let rounds = starts.iter().zip(&base);
                let ratios: Vec<f64> =
                    rounds.map(|(own, base)| effect + own - base + 0.03 * normal(random)).collect();
                let margin = Margin::new(0.0).expect("a margin");
                p.push(ratio_of_rounds(&ratios, margin, 0.95).expect("six rounds").p());
            }
        }
        p
    }

    #[test]
    fn comparisons_with_one_base_depend_on_each_other_and_keep_the_promise() {
        let mut random = SplitMix64::new(5);
        let (mut share, mut found) = (0.0, 0.0);
        for _ in 0..1000 {
            let adjusted = benjamini_hochberg(&p_of_one_base(&mut random, 8, 6));
            share += rejected(&adjusted[60..]) as f64 / rejected(&adjusted).max(1) as f64;
            found += rejected(&adjusted[..60]) as f64 / 60.0;
        }
        assert!(share / 1000.0 <= 0.05, "share of false alarms {}", share / 1000.0);
        assert!(found / 1000.0 >= 0.5, "share of differences found {}", found / 1000.0);
        let alarms =
            (0..1000).filter(|_| rejected(&benjamini_hochberg(&p_of_one_base(&mut random, 8, 0))) > 0);
        assert!(alarms.count() as u32 <= hits_max(1000, 0.05), "among equals");
    }
}
