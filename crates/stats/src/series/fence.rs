//! Tests whether the newest result of a short history is an outlier.

use serde::Serialize;

use crate::estimate::median::sorted;

/// Smallest number of earlier differences from which the usual range is estimated.
const DIFFERENCES_MIN: usize = 4;

/// The newest difference between neighbouring values, compared with the earlier differences.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Fence {
    /// The newest value as a multiple of the value before it.
    pub ratio: f64,
    /// The newest relative difference as a multiple of the fence. The newest value is an outlier if this is 1 or
    /// more.
    pub significance: f64,
}

impl Fence {
    /// Whether the difference is beyond the fence.
    pub fn is_crossed(&self) -> bool {
        self.significance >= 1.0
    }
}

/// Compares the last value with the value before it. The fence is the third quartile of the earlier differences
/// between neighbours plus three times their interquartile range, as in rustc-perf
/// (<https://github.com/rust-lang/rustc-perf/blob/master/docs/comparison-analysis.md>; Tukey's outer fence,
/// "Exploratory Data Analysis", 1977). It is meant for histories that are too short for change points. `None` with
/// fewer than four earlier differences, or if a value is not positive.
pub fn fence(history: &[f64]) -> Option<Fence> {
    if history.iter().any(|value| *value <= 0.0) {
        return None;
    }
    let ratios: Vec<f64> = history.windows(2).map(|pair| pair[1] / pair[0]).collect();
    let (last, before) = ratios.split_last()?;
    if before.len() < DIFFERENCES_MIN {
        return None;
    }
    let usual = sorted(&before.iter().map(|ratio| (ratio - 1.0).abs()).collect::<Vec<_>>());
    let (first, third) = (quantile(&usual, 0.25), quantile(&usual, 0.75));
    let limit = third + 3.0 * (third - first);
    let difference = (last - 1.0).abs();
    let significance = if limit > 0.0 {
        difference / limit
    } else if difference > 0.0 {
        f64::INFINITY
    } else {
        0.0
    };
    Some(Fence { ratio: *last, significance })
}

/// A quantile of sorted values, interpolated between neighbours: type 7 of Hyndman and Fan, "Sample quantiles in
/// statistical packages", The American Statistician 50(4), 1996.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let place = (sorted.len() - 1) as f64 * share;
    let (below, above) = (sorted[place.floor() as usize], sorted[place.ceil() as usize]);
    below + (above - below) * place.fract()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::assert_close;

    #[test]
    fn quantiles_are_those_of_numpy() {
        // numpy.quantile([1, 2, 4, 8, 16], [0.25, 0.6])
        assert_close(quantile(&[1.0, 2.0, 4.0, 8.0, 16.0], 0.25), 2.0, 1e-12);
        assert_close(quantile(&[1.0, 2.0, 4.0, 8.0, 16.0], 0.6), 5.6, 1e-12);
    }

    #[test]
    fn a_jump_stands_out_of_a_quiet_history() {
        let quiet = [100.0, 101.0, 100.0, 101.0, 100.5, 101.0, 100.0];
        let with = |last: f64| fence(&[&quiet[..], &[last]].concat()).unwrap();
        assert!(!with(101.0).is_crossed());
        assert!(with(95.0).is_crossed());
        assert_close(with(95.0).ratio, 0.95, 1e-12);
    }

    #[test]
    fn a_loud_history_hides_the_same_jump() {
        let found = fence(&[100.0, 108.0, 97.0, 104.0, 95.0, 103.0, 98.0, 93.0]).unwrap();
        assert!(!found.is_crossed(), "{found:?}");
    }

    #[test]
    fn after_no_difference_at_all_any_stands_out() {
        assert!(fence(&[5.0, 5.0, 5.0, 5.0, 5.0, 5.1]).unwrap().is_crossed());
        assert!(!fence(&[5.0; 6]).unwrap().is_crossed());
    }

    #[test]
    fn little_history_has_no_fence() {
        assert_eq!(fence(&[1.0, 2.0, 3.0, 4.0, 5.0]), None);
        assert_eq!(fence(&[]), None);
        assert_eq!(fence(&[1.0, 0.0, 3.0, 4.0, 5.0, 6.0, 7.0]), None);
    }
}
