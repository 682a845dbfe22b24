//! Location of the differences of pairs, by Wilcoxon's signed ranks.

use crate::distribution::normal::normal_at_most;
use crate::estimate::interval::Interval;
use crate::estimate::median::{median, sorted};

/// Largest number of differences for which the exact distribution is computed. For more differences, the normal
/// approximation is close enough.
const EXACT_MAX: usize = 60;

/// The differences of pairs. The only assumption is that their distribution is symmetric. This holds for rounds if
/// the speed of an instance varies in the same way for both systems.
///
/// The estimate is the median of all means of two differences, where a difference is also paired with itself (Hodges
/// and Lehmann, "Estimates of location based on rank tests", Annals of Mathematical Statistics 34(2), 1963). These
/// means are called Walsh averages. The number of them below a bound is Wilcoxon's statistic ("Individual comparisons
/// by ranking methods", Biometrics Bulletin 1(6), 1945). Tests and intervals are therefore exact and agree (Hollander,
/// Wolfe and Chicken, "Nonparametric Statistical Methods", 3rd ed., sections 3.1 to 3.3). For normal differences, the
/// method needs two thirds of the rounds that a sign test needs.
pub(crate) struct SignedRanks {
    averages: Vec<f64>,
    sums: RankSums,
}

impl SignedRanks {
    pub(crate) fn of(differences: &[f64]) -> Self {
        let pairs = differences.iter().enumerate();
        let averages = pairs.flat_map(|(at, own)| differences[at..].iter().map(move |it| (own + it) / 2.0));
        Self { averages: sorted(&averages.collect::<Vec<f64>>()), sums: RankSums::of(differences.len()) }
    }

    /// Hodges and Lehmann's estimate; `None` without a difference.
    pub(crate) fn centre(&self) -> Option<f64> {
        median(&self.averages)
    }

    /// Confidence interval of the true centre; `None` with too few differences for the confidence.
    pub(crate) fn interval(&self, confidence: f64) -> Option<Interval> {
        let error = |below: usize| 2.0 * self.sums.at_most(below);
        // The tolerance allows for rounding: 6 differences must reach exactly the confidence 1 − 2/2⁶.
        let is_sure = |below: &usize| error(*below) <= 1.0 - confidence + 1e-12;
        let below = (0..self.averages.len() / 2).take_while(is_sure).last()?;
        Some(Interval {
            low: self.averages[below],
            high: self.averages[self.averages.len() - 1 - below],
            confidence: 1.0 - error(below),
        })
    }

    /// Probability of differences at least this far above `bound` if their true centre is not above `bound`.
    ///
    /// An interval of confidence 1 − α lies wholly above the bound if and only if twice this probability is at most
    /// α.
    pub(crate) fn p_above(&self, bound: f64) -> f64 {
        self.sums.at_most(self.averages.iter().filter(|average| **average <= bound).count())
    }

    pub(crate) fn p_below(&self, bound: f64) -> f64 {
        self.sums.at_most(self.averages.iter().filter(|average| **average >= bound).count())
    }
}

/// Distribution of W, the sum of a random selection of the ranks from 1 to n, in which each rank is selected with the
/// probability ½.
enum RankSums {
    /// P(W ≤ w) for w = 0, 1, …, computed exactly.
    Exact(Vec<f64>),
    /// Normal approximation with continuity correction.
    Normal { middle: f64, deviation: f64 },
}

impl RankSums {
    /// Distribution for n ranks; exact up to 60.
    fn of(n: usize) -> Self {
        if n > EXACT_MAX {
            let n = n as f64;
            let deviation = (n * (n + 1.0) * (2.0 * n + 1.0) / 24.0).sqrt();
            return Self::Normal { middle: n * (n + 1.0) / 4.0, deviation };
        }
        let mut chances = vec![0.0; n * (n + 1) / 2 + 1];
        chances[0] = 1.0;
        for rank in 1..=n {
            for sum in (0..chances.len()).rev() {
                let picked = if sum >= rank { chances[sum - rank] } else { 0.0 };
                chances[sum] = 0.5 * (chances[sum] + picked);
            }
        }
        let mut at_most = 0.0;
        for chance in &mut chances {
            at_most += *chance;
            *chance = f64::min(at_most, 1.0);
        }
        Self::Exact(chances)
    }

    /// P(W ≤ w).
    fn at_most(&self, w: usize) -> f64 {
        match self {
            Self::Exact(cumulative) => cumulative.get(w).copied().unwrap_or(1.0),
            Self::Normal { middle, deviation } => normal_at_most(w, *middle, *deviation),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::random::SplitMix64;
    use crate::testing::{assert_close, hits_max, normal};

    #[test]
    fn figures_of_scipy() {
        // Half of scipy.stats.wilcoxon(…, method="exact").pvalue for n differences whose negative ranks have the sum
        // w.
        for (n, w, expected) in
            [(6, 0, 1.0 / 64.0), (6, 1, 2.0 / 64.0), (6, 3, 5.0 / 64.0), (10, 8, 25.0 / 1024.0)]
        {
            assert_close(RankSums::of(n).at_most(w), expected, 1e-12);
        }
        assert_close(RankSums::of(20).at_most(210), 1.0, 1e-12);
        assert_close(RankSums::of(0).at_most(0), 1.0, 0.0);
    }

    /// The expected values are those of qsignrank(0.025, n) in R.
    #[test]
    fn ranks_of_intervals_are_those_of_tables() {
        for (n, below) in [(6, 1), (7, 3), (8, 4), (9, 6), (10, 9), (12, 14), (15, 26), (20, 53), (25, 90)] {
            let sums = RankSums::of(n);
            let unlikely = (0..n * n).find(|w| 2.0 * sums.at_most(*w) > 0.05);
            assert_eq!(unlikely, Some(below), "{n}");
        }
    }

    #[test]
    fn beyond_sixty_differences_the_normal_distribution_is_as_good() {
        let exact = RankSums::of(60);
        let normal = RankSums::Normal { middle: 915.0, deviation: (60.0_f64 * 61.0 * 121.0 / 24.0).sqrt() };
        for w in [500, 650, 800, 915] {
            assert_close(normal.at_most(w), exact.at_most(w), 0.002);
        }
        let beyond = RankSums::of(61);
        assert!(matches!(beyond, RankSums::Normal { .. }) && (beyond.at_most(945) - 0.5).abs() < 0.01);
    }

    #[test]
    fn the_centre_is_the_median_of_means_of_two() {
        let ranks = SignedRanks::of(&[1.0, 2.0, 6.0]);
        // The means of two values are 1, 1.5, 2, 3.5, 4 and 6.
        assert_close(ranks.centre().unwrap(), 2.75, 1e-12);
        assert_eq!(SignedRanks::of(&[]).centre(), None);
        assert!(ranks.interval(0.95).is_none(), "three differences are too few");
    }

    #[test]
    fn an_interval_excludes_a_bound_exactly_if_p_says_so() {
        let mut random = SplitMix64::new(1);
        for _ in 0..1000 {
            let n = 6 + random.below(30);
            let differences: Vec<f64> = (0..n).map(|_| 0.02 + 0.04 * normal(&mut random)).collect();
            let ranks = SignedRanks::of(&differences);
            let interval = ranks.interval(0.95).unwrap();
            assert_eq!(interval.low > 0.0, 2.0 * ranks.p_above(0.0) <= 0.05, "{differences:?}");
            assert_eq!(interval.high < 0.0, 2.0 * ranks.p_below(0.0) <= 0.05, "{differences:?}");
        }
    }

    #[test]
    fn intervals_enclose_the_truth_as_often_as_they_say_whatever_the_tails() {
        let mut random = SplitMix64::new(5);
        for tail in [0.0, 30.0] {
            for n in [6, 10, 25, 70] {
                let missed = (0..1000).filter(|_| {
                    let mut difference = || {
                        let scale = if random.below(10) == 0 { 1.0 + tail } else { 1.0 };
                        0.01 * scale * normal(&mut random)
                    };
                    let differences: Vec<f64> = (0..n).map(|_| difference()).collect();
                    let interval = SignedRanks::of(&differences).interval(0.95).unwrap();
                    interval.low > 0.0 || interval.high < 0.0
                });
                let missed = missed.count() as u32;
                assert!(missed <= hits_max(1000, 0.05), "{n} rounds, tails {tail}: {missed}");
            }
        }
    }
}
