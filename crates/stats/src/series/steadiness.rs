//! Classifies a series of throughput: steady, rising, falling, periodic or unsteady.

use serde::Serialize;

use crate::estimate::median::median;
use crate::series::mser::{Truncation, mser5};
use crate::series::period::period;
use crate::series::trend::trend;

/// Series with fewer samples are not classified.
const SAMPLES_MIN: usize = 20;

/// Smallest change of the level that matters, as a share of the level.
const CHANGE_MIN: f64 = 0.05;

/// Largest error probability of a trend.
const TREND_P_MAX: f64 = 0.01;

/// The class of a series of throughput.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Steadiness {
    Flat,
    /// The rate rises by 5% or more. The warm-up was too short.
    Warming {
        /// Level at the end minus level at the start, as a share of the median.
        change: f64,
    },
    /// The rate falls by 5% or more. Background work may accumulate, or a device may be throttled.
    Slowing {
        /// Level at the end minus level at the start, as a negative share of the median.
        change: f64,
    },
    /// The rate is periodic, for example because of checkpoints, and at least two periods were measured. This
    /// counts as steady.
    Sawtooth {
        /// Samples in a period.
        period: usize,
    },
    /// The rate fits no other class. The measurement is too short to show a level.
    Unsteady,
}

/// Classifies a series of throughput; `None` with fewer than 20 samples.
///
/// It first looks for a period ([`period`]) in the detrended series, because parts of a period look like a trend.
/// It then looks for a trend ([`trend`], p ≤ 0.01) of at least 5% of the median from start to end. Finally it
/// applies MSER-5 ([`mser5`]). A start-up transient whose level differs by 5% or more counts as a trend if it ends
/// within the first half. If it ends later, there is no steady state.
pub fn steadiness(series: &[f64]) -> Option<Steadiness> {
    if series.len() < SAMPLES_MIN {
        return None;
    }
    let level = median(series).filter(|level| *level > 0.0)?;
    let trend = trend(series)?;
    let rest: Vec<f64> = (0..).zip(series).map(|(at, value)| value - trend.slope * f64::from(at)).collect();
    if let Some(period) = period(&rest).filter(|period| swing(&rest, *period) >= CHANGE_MIN * level) {
        return Some(Steadiness::Sawtooth { period });
    }
    let change = trend.slope * (series.len() - 1) as f64 / level;
    if trend.p <= TREND_P_MAX && change.abs() >= CHANGE_MIN {
        return Some(moving(change));
    }
    let (cut, is_late) = match mser5(series)? {
        Truncation::After(samples) => (samples, false),
        Truncation::PastHalf(samples) => (samples, true),
    };
    let (before, after) = series.split_at(cut);
    let change = median(before).zip(median(after)).map_or(0.0, |(before, after)| (after - before) / level);
    Some(match change.abs() >= CHANGE_MIN {
        false => Steadiness::Flat,
        true if is_late => Steadiness::Unsteady,
        true => moving(change),
    })
}

fn moving(change: f64) -> Steadiness {
    if change > 0.0 { Steadiness::Warming { change } } else { Steadiness::Slowing { change } }
}

/// Height of the mean period: its highest point minus its lowest point.
fn swing(series: &[f64], period: usize) -> f64 {
    let mean_at = |phase: usize| {
        let values: Vec<f64> = series.iter().skip(phase).step_by(period).copied().collect();
        values.iter().sum::<f64>() / values.len() as f64
    };
    let (least, most) = (0..period)
        .map(mean_at)
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), mean| (least.min(mean), most.max(mean)));
    most - least
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::distribution::random::SplitMix64;
    use crate::testing::normal;

    /// A series with 2% noise around `course`.
    fn series(n: u32, seed: u64, course: impl Fn(f64) -> f64) -> Vec<f64> {
        let mut random = SplitMix64::new(seed);
        (0..n).map(|at| 1000.0 * course(f64::from(at)) * (1.0 + 0.02 * normal(&mut random))).collect()
    }

    fn count(course: impl Fn(f64) -> f64 + Copy, is_it: impl Fn(Steadiness) -> bool) -> usize {
        (0..100).filter(|seed| is_it(steadiness(&series(120, *seed, course)).unwrap())).count()
    }

    #[test]
    fn what_is_flat_is_called_flat() {
        let flat = count(|_| 1.0, |found| found == Steadiness::Flat);
        assert!(flat >= 93, "{flat} of 100");
    }

    #[test]
    fn a_cache_that_fills_is_warming() {
        let warming = |found| matches!(found, Steadiness::Warming { change } if change > 0.05);
        assert!(count(|at| 0.8 + 0.2 * at / 120.0, warming) >= 98);
        assert!(count(|at| 1.0 - 0.4 * (-at / 15.0).exp(), warming) >= 95);
    }

    #[test]
    fn debts_are_slowing() {
        let slowing = |found| matches!(found, Steadiness::Slowing { change } if change < -0.05);
        assert!(count(|at| 1.0 - 0.2 * at / 120.0, slowing) >= 98);
    }

    #[test]
    fn checkpoints_are_a_sawtooth_also_on_a_slope() {
        let sawtooth = |found| matches!(found, Steadiness::Sawtooth { period } if period.is_multiple_of(20));
        assert!(count(|at| 1.0 - 0.2 * (at % 20.0) / 20.0, sawtooth) >= 95);
        assert!(count(|at| 1.0 - 0.2 * (at % 20.0) / 20.0 - at / 1000.0, sawtooth) >= 95);
        assert!(count(|at| if at % 20.0 < 3.0 { 0.5 } else { 1.0 }, sawtooth) >= 95);
    }

    #[test]
    fn what_changes_level_at_the_end_was_never_steady() {
        let found = steadiness(&series(120, 1, |at| if at < 90.0 { 1.0 } else { 0.5 })).unwrap();
        assert!(matches!(found, Steadiness::Unsteady | Steadiness::Slowing { .. }), "{found:?}");
    }

    #[test]
    fn little_or_nothing_measured_has_no_state() {
        assert_eq!(steadiness(&[1.0; 19]), None);
        assert_eq!(steadiness(&[0.0; 30]), None);
    }
}
