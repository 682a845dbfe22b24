//! Non-linear least squares for the law of capacities.

use super::{BottleneckLaw, BottleneckPoint};
use crate::estimate::additive::solve;
use crate::estimate::median::sorted;

/// Largest number of steps of a descent. A typical descent takes a dozen.
const STEPS_MAX: usize = 100;
/// A bound that is this far above the highest measured rate, on the logarithmic scale, has no effect.
const NO_BOUND: f64 = 20.0;
/// Largest error of a law that fits: the root mean square of the residuals of logarithms. Median rates vary by
/// about this much.
const ERROR_FIT: f64 = 0.03;
/// A descent ends when a step improves the error by less than this share.
const GAIN_MIN: f64 = 1e-9;

/// The law with the least squares. It has a bound for each resource, and one further bound for everything that all
/// configurations share. The further bound is used only if the law without it errs by more than [`ERROR_FIT`].
/// Otherwise noise at the highest rate would look like a bound.
pub(super) fn fit(points: &[BottleneckPoint], sharpness: f64) -> BottleneckLaw {
    let ln_rates = sorted(&points.iter().map(|point| point.rate.ln()).collect::<Vec<_>>());
    let (median, max) = (ln_rates[ln_rates.len() / 2], ln_rates[ln_rates.len() - 1]);
    let mut starts: Vec<Vec<f64>> = vec![Vec::new()];
    for resource in 0..points[0].capacities.len() {
        let ratio = |point: &BottleneckPoint| point.rate.ln() - point.capacities[resource].ln();
        let ratios = sorted(&points.iter().map(ratio).collect::<Vec<_>>());
        starts = crossed(&starts, &[ratios[ratios.len() - 1], ratios[ratios.len() / 2], ratios[0]]);
    }
    let without = best(points, &crossed(&starts, &[max + NO_BOUND]), sharpness);
    let error_without = (error(points, &without) / points.len() as f64).sqrt();
    if error_without > ERROR_FIT {
        best(points, &crossed(&starts, &[max, median]), sharpness)
    } else {
        without
    }
}

/// The best law that the descents from all starts find. Several starts are needed, because the error has a local
/// minimum for each assignment of limiting bounds to points.
fn best(points: &[BottleneckPoint], starts: &[Vec<f64>], sharpness: f64) -> BottleneckLaw {
    let descended = starts.iter().map(|start| descend(points, law(start, sharpness)));
    let better = |best: BottleneckLaw, law: BottleneckLaw| {
        if error(points, &law) < error(points, &best) { law } else { best }
    };
    descended.reduce(better).expect("there are starts")
}

fn crossed(starts: &[Vec<f64>], values: &[f64]) -> Vec<Vec<f64>> {
    let longer = |start: &Vec<f64>, value: f64| start.iter().copied().chain(std::iter::once(value)).collect();
    starts.iter().flat_map(|start| values.iter().map(move |value| longer(start, *value))).collect()
}

fn law(parameters: &[f64], sharpness: f64) -> BottleneckLaw {
    let (rest, rates) = parameters.split_last().expect("the bound by everything else");
    BottleneckLaw { ln_rates: rates.to_vec(), ln_rest: *rest, sharpness }
}

/// Sum of squared residuals of logarithms.
fn error(points: &[BottleneckPoint], law: &BottleneckLaw) -> f64 {
    points.iter().map(|point| residual(point, law).powi(2)).sum()
}

fn residual(point: &BottleneckPoint, law: &BottleneckLaw) -> f64 {
    point.rate.ln() - law.ln_rate(&point.capacities)
}

/// Levenberg's damped least squares (Quarterly of Applied Mathematics 2, 1944).
fn descend(points: &[BottleneckPoint], start: BottleneckLaw) -> BottleneckLaw {
    let (mut law_now, mut damping) = (start, 1e-2);
    for _ in 0..STEPS_MAX {
        let before = error(points, &law_now);
        let Some(next) = step(points, &law_now, damping) else { break };
        let gain = before - error(points, &next);
        if gain > 0.0 {
            law_now = next;
            damping = f64::max(damping / 3.0, 1e-4);
            if gain < GAIN_MIN * before {
                break;
            }
        } else if damping > 1e4 {
            break;
        } else {
            damping *= 3.0;
        }
    }
    law_now
}

/// The law after one step. The damping leaves a bound unchanged if no point depends on it.
fn step(points: &[BottleneckPoint], law_now: &BottleneckLaw, damping: f64) -> Option<BottleneckLaw> {
    let size = law_now.ln_rates.len() + 1;
    // Normal equations, with the right side as the last column.
    let mut rows = vec![vec![0.0; size + 1]; size];
    for point in points {
        let (shares, residual) = (law_now.shares(&point.capacities), residual(point, law_now));
        for (row, share) in rows.iter_mut().zip(&shares) {
            for (column, other) in shares.iter().enumerate() {
                row[column] += share * other;
            }
            row[size] += share * residual;
        }
    }
    for (at, row) in rows.iter_mut().enumerate() {
        row[at] += damping;
    }
    let moved = solve(rows)?;
    let parameters = law_now.ln_rates.iter().chain(std::iter::once(&law_now.ln_rest));
    let parameters: Vec<f64> = parameters.zip(moved).map(|(parameter, step)| parameter + step).collect();
    parameters.iter().all(|parameter| parameter.is_finite()).then(|| law(&parameters, law_now.sharpness))
}
