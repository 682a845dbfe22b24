//! Throughput as a function of concurrency: the peak, and the losses from contention and coherency.

mod fit;

use serde::Serialize;

use crate::distribution::random::SplitMix64;
use crate::estimate::interval::{CONFIDENCE, Interval};
use crate::estimate::median::sorted;
pub use fit::Point;
use fit::{Curve, fit, leverages};

/// Fewest levels of concurrency from which three parameters can be estimated.
pub const LEVELS_MIN: usize = 6;

/// Number of refits to resampled rates, from which the intervals are computed.
const REFITS: usize = 1000;

/// The Universal Scalability Law, X(N) = γN / (1 + α(N − 1) + βN(N − 1)), fitted to the measurements.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Scalability {
    /// γ: throughput of a single client.
    pub single: Estimate,
    /// α: share of the work that clients cannot do at the same time (contention).
    pub contention: Estimate,
    /// β: share of the work that each client causes for every other (coherency). Above 0, throughput falls beyond
    /// some number of clients.
    pub coherency: Estimate,
    /// Number of clients with the highest throughput, √((1 − α)/β). `None` if β's interval reaches 0, because
    /// then no peak was measured.
    pub peak_clients: Option<Estimate>,
    /// Number of clients at which perfect scaling would reach the highest throughput. Beyond this knee, more
    /// clients mostly wait. If β's interval reaches 0, the highest throughput is the saturation γ/α. `None` if α's
    /// interval reaches 0 too.
    pub knee_clients: Option<f64>,
    /// Largest number of clients measured. If no peak was found, the curve is not valid beyond this number.
    pub clients_max: f64,
    /// Share of the variance of the rates that the curve explains.
    pub r_squared: f64,
}

/// An estimate with its 95% interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Estimate {
    pub value: f64,
    pub interval: Interval,
}

/// Fits the Universal Scalability Law by non-negative non-linear least squares. `None` with fewer than
/// [`LEVELS_MIN`] levels of concurrency, or if a rate is not positive.
///
/// (Gunther, "Guerrilla Capacity Planning", 2007, chapters 4 to 6; knee: Lazowska et al., "Quantitative System
/// Performance", 1984, chapter 5. Intervals: the wild bootstrap, which flips the sign of each residual at random,
/// so that noisier levels stay noisier; Wu, Annals of Statistics 14(4), 1986, and for the signs Davidson and
/// Flachaire, Journal of Econometrics 146(1), 2008. Residuals are scaled up by their points' leverage: HC3 of
/// `MacKinnon` and White, Journal of Econometrics 29(3), 1985.)
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

/// Fits curves to resampled rates. Each resampled rate is as far from the curve as the measured rate (after scaling
/// by leverage), above or below the curve at random.
fn refits(points: &[Point], curve: &Curve, seed: u64) -> Vec<Curve> {
    let mut random = SplitMix64::new(seed);
    // A point with high leverage pulls the curve towards itself and so has a small residual. At a leverage of 1 the
    // residual would be 0, so leverages are limited to 0.9.
    let scales: Vec<f64> =
        leverages(points, curve).into_iter().map(|leverage| 1.0 / (1.0 - leverage.min(0.9))).collect();
    let refit = |_| {
        let drawn = points.iter().zip(&scales).map(|(point, scale)| {
            let expected = curve.rate(point.clients);
            let side = if random.below(2) == 0 { *scale } else { -scale };
            // A rate stays positive, however large a residual is.
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
