//! Whether a trial has a level at all, or its rate was still rising or falling when it ended.

use serde::Serialize;

use crate::trend::trend;

/// Fewer values than these never show that there is no level.
const VALUES_MIN: usize = 8;

/// Values that a series is made into at most, each the mean of neighbours. The trend looks at every pair of them.
const VALUES_MAX: usize = 60;

/// The error that a trend may have to count.
const P_MAX: f64 = 0.001;

/// Trends by less than this factor from start to end are of no consequence.
const CHANGE_MIN: f64 = 1.1;

/// The course of a trial from start to end.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Level {
    /// The rate at the end as a multiple of that at the start, by the trend.
    pub change: f64,
    /// The chance of so consistent a direction if there is none.
    pub p: f64,
}

impl Level {
    /// Whether the rate keeps to a level: no trend by a tenth or more that is sure (p ≤ 0.001).
    pub fn has_level(&self) -> bool {
        !self.moves_by(CHANGE_MIN)
    }

    /// Whether there surely is a trend by a factor or more, up or down.
    pub fn moves_by(&self, factor: f64) -> bool {
        self.p <= P_MAX && self.change.ln().abs() >= factor.ln()
    }
}

/// The trend of the logarithms of a trial's rates, or of the ratios of two systems' rates ([`trend`]: Theil and Sen's
/// slope, Mann and Kendall's test). None with fewer than eight values, which show no course.
pub fn level(ln_rates: &[f64]) -> Option<Level> {
    if ln_rates.len() < VALUES_MIN {
        return None;
    }
    let bucket = ln_rates.len().div_ceil(VALUES_MAX);
    let means = crate::effective_size::batch_means(ln_rates, bucket);
    let found = trend(&means)?;
    Some(Level { change: (found.slope * (means.len() - 1) as f64).exp(), p: found.p })
}
