//! Throughput over concurrency: where it peaks, and what it loses on the way.

mod fit;

use serde::Serialize;

use crate::median::sorted;
use crate::median_interval::{CONFIDENCE, Interval};
use crate::random::SplitMix64;
pub use fit::Point;
use fit::{Curve, fit, leverages};

/// The fewest levels of concurrency that three parameters can be told from.
pub const LEVELS_MIN: usize = 6;

/// Refits that the intervals are made of.
const REFITS: usize = 1000;

/// The Universal Scalability Law, X(N) = γN / (1 + α(N − 1) + βN(N − 1)), as it fits the measurements.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Scalability {
    /// γ: throughput of one client that is alone.
    pub single: Estimate,
    /// α: the share of the work that clients must do one after the other (contention).
    pub contention: Estimate,
    /// β: the share of the work that each client causes every other (coherency); above 0, more clients in the end
    /// deliver less.
    pub coherency: Estimate,
    /// The clients with the most throughput, √((1 − α)/β). None if β's interval reaches 0: then no peak was
    /// measured and none is made up.
    pub peak_clients: Option<Estimate>,
    /// The clients where the line of perfect scaling meets the greatest throughput: beyond this knee, more clients
    /// mostly wait. With β's interval reaching 0, of the saturation γ/α, and none where α's does too.
    pub knee_clients: Option<f64>,
    /// The most clients measured. Where no peak was found, beyond them the curve says nothing.
    pub clients_max: f64,
    /// The share of the variance of the rates that the curve explains.
    pub r_squared: f64,
}

/// A number with its 95% interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    pub value: f64,
    pub interval: Interval,
}

/// Fits the Universal Scalability Law by non-negative non-linear least squares. None with fewer than
/// [`LEVELS_MIN`] levels of concurrency, or if nothing was delivered.
///
/// (Gunther, "Guerrilla Capacity Planning", 2007, chapters 4 to 6; knee: Lazowska et al., "Quantitative System
/// Performance", 1984, chapter 5. Intervals: the wild bootstrap, which turns the sign of each residual by chance, so
/// that levels with more noise keep it; Wu, Annals of Statistics 14(4), 1986, and for the signs Davidson and
/// Flachaire, Journal of Econometrics 146(1), 2008. Residuals are scaled up by their points'
/// leverage: HC3 of `MacKinnon` and White, Journal of Econometrics 29(3), 1985.)
pub fn scalability(points: &[Point], seed: u64) -> Option<Scalability> {
    let mut levels = sorted(&points.iter().map(|point| point.clients).collect::<Vec<_>>());
    levels.dedup();
    if levels.len() < LEVELS_MIN || points.iter().any(|point| point.rate <= 0.0) {
        return None;
    }
    let curve = fit(points)?;
    let refits = refits(points, &curve, seed);
    let interval = |parameter: fn(&Curve) -> f64| interval(&refits.iter().map(parameter).collect::<Vec<_>>());
    let estimate =
        |parameter: fn(&Curve) -> f64| Estimate { value: parameter(&curve), interval: interval(parameter) };
    let (contention, coherency) = (estimate(|curve| curve.contention), estimate(|curve| curve.coherency));
    let has_peak = coherency.interval.low > 0.0;
    Some(Scalability {
        single: estimate(|curve| curve.single),
        contention,
        coherency,
        peak_clients: has_peak.then(|| estimate(Curve::peak_clients)),
        knee_clients: if has_peak {
            Some(curve.rate(curve.peak_clients()) / curve.single)
        } else {
            (contention.interval.low > 0.0).then(|| 1.0 / contention.value)
        },
        clients_max: levels[levels.len() - 1],
        r_squared: r_squared(points, &curve),
    })
}

/// Fits to rates that lie as far from the curve as the measured ones, each on a side drawn by chance.
fn refits(points: &[Point], curve: &Curve, seed: u64) -> Vec<Curve> {
    let mut random = SplitMix64::new(seed);
    // A point that draws the curve to itself hides its error. (A leverage of 1 would hide all of it.)
    let scales: Vec<f64> =
        leverages(points, curve).into_iter().map(|leverage| 1.0 / (1.0 - leverage.min(0.9))).collect();
    let refit = |_| {
        let drawn = points.iter().zip(&scales).map(|(point, scale)| {
            let expected = curve.rate(point.clients);
            let side = if random.below(2) == 0 { *scale } else { -scale };
            // A rate stays a rate, however far off a residual was.
            let rate = (expected + side * (point.rate - expected)).max(0.01 * point.rate);
            Point { rate, ..*point }
        });
        fit(&drawn.collect::<Vec<_>>())
    };
    (0..REFITS).filter_map(refit).collect()
}

fn interval(values: &[f64]) -> Interval {
    let values = sorted(values);
    let tail = (values.len() as f64 * (1.0 - CONFIDENCE) / 2.0).floor() as usize;
    Interval { low: values[tail], high: values[values.len() - 1 - tail], confidence: CONFIDENCE }
}

fn r_squared(points: &[Point], curve: &Curve) -> f64 {
    let mean = points.iter().map(|point| point.rate).sum::<f64>() / points.len() as f64;
    let total: f64 = points.iter().map(|point| (point.rate - mean).powi(2)).sum();
    if total > 0.0 { 1.0 - curve.error(points) / total } else { 0.0 }
}

#[cfg(test)]
mod tests;
