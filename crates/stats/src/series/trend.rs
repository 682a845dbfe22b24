//! Trend of a series.

use serde::Serialize;

use crate::estimate::median::median_in_place;
use crate::series::effective_size::effective_size;

/// A straight line through a series, and the significance of its direction.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Trend {
    /// Change from one sample to the next: the median of the slopes between all pairs of samples.
    pub slope: f64,
    /// Two-sided probability of a direction at least as consistent if there is no trend.
    pub p: f64,
}

/// The slope of Theil and Sen with the test of Mann and Kendall. Correlated neighbours rise and fall together even
/// without a trend. The test's variance is therefore multiplied by n/n*, where n* is the [`effective_size`] of the
/// detrended series. `None` with fewer than four samples.
///
/// (Sen, Journal of the American Statistical Association 63, 1968; Kendall, "Rank Correlation Methods"; the
/// correction: Yue and Wang, "The Mann-Kendall test modified by effective sample size", Water Resources Management
/// 18, 2004.)
pub fn trend(series: &[f64]) -> Option<Trend> {
    if series.len() < 4 {
        return None;
    }
    let pairs = || (1..series.len()).flat_map(|later| (0..later).map(move |earlier| (earlier, later)));
    let mut slopes: Vec<f64> = pairs()
        .map(|(earlier, later)| (series[later] - series[earlier]) / (later - earlier) as f64)
        .collect();
    let score: f64 = slopes.iter().map(|slope| if *slope == 0.0 { 0.0 } else { slope.signum() }).sum();
    // To save time, the slopes are not sorted: there is one slope for each pair of samples, and reports call this
    // function for every trial.
    let slope = median_in_place(&mut slopes)?;
    let rest: Vec<f64> = (0..).zip(series).map(|(at, value)| value - slope * f64::from(at)).collect();
    let n = series.len() as f64;
    let variance = n * (n - 1.0) * (2.0 * n + 5.0) / 18.0 * (n / effective_size(&rest));
    let z = (score.abs() - 1.0).max(0.0) / variance.sqrt();
    Some(Trend { slope, p: libm::erfc(z / std::f64::consts::SQRT_2) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::random::SplitMix64;
    use crate::testing::{assert_close, autoregression, hits_max, normal};

    #[test]
    fn figures_of_scipy() {
        // scipy.stats.theilslopes([3, 5, 4, 8, 9, 7, 12, 11]).slope
        let found = trend(&[3.0, 5.0, 4.0, 8.0, 9.0, 7.0, 12.0, 11.0]).unwrap();
        assert_close(found.slope, 4.0 / 3.0, 1e-12);
        // The score is 20 and the variance 8·7·21/18. Eight samples are too few to show correlation.
        assert_close(found.p, 0.018_741_136_789_596_692, 1e-9);
    }

    #[test]
    fn a_slope_is_found_and_has_its_sign() {
        let mut random = SplitMix64::new(1);
        let series: Vec<f64> = (0..100).map(|at| 0.1 * f64::from(at) + normal(&mut random)).collect();
        let rising = trend(&series).unwrap();
        assert!(rising.p < 1e-6 && (0.08..0.12).contains(&rising.slope), "{rising:?}");
        let falling = trend(&series.into_iter().rev().collect::<Vec<_>>()).unwrap();
        assert!(falling.slope < 0.0);
    }

    #[test]
    fn correlated_samples_without_a_trend_rarely_show_one() {
        let mut random = SplitMix64::new(5);
        let alarms = (0..500).filter(|_| trend(&autoregression(&mut random, 120, 0.6)).unwrap().p <= 0.01);
        // The correlation is estimated from the same few samples, so the error probability may exceed the nominal
        // 1%.
        let alarms = alarms.count() as u32;
        assert!(alarms <= hits_max(500, 0.06), "{alarms}");
    }

    #[test]
    fn a_constant_has_no_direction() {
        assert_eq!(trend(&[4.0; 10]), Some(Trend { slope: 0.0, p: 1.0 }));
        assert_eq!(trend(&[1.0, 2.0, 3.0]), None);
    }
}
