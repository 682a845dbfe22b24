//! Converts findings of `dyno-judge` for display by `dyno-report`.

use dyno_judge::{Scaling, scalings};
use dyno_report::ScalingCurve;
use dyno_stats::Scalability;
use dyno_store::Run;

/// Number of points on a curve.
const POINTS: u32 = 48;

/// Curves of throughput over concurrency, for tests with enough client counts to fit a curve.
pub(crate) fn curves(run: &Run) -> Vec<ScalingCurve> {
    let curve = |scaling: Scaling| {
        let fit = scaling.curve?;
        let points = (0..=POINTS).map(|at| {
            let clients = 1.0 + (fit.clients_max - 1.0) * f64::from(at) / f64::from(POINTS);
            (clients, rate(&fit, clients))
        });
        Some(ScalingCurve {
            step: scaling.step,
            system: scaling.system,
            points: points.collect(),
            says: says(&fit),
        })
    };
    scalings(run).into_iter().filter_map(curve).collect()
}

/// The Universal Scalability Law: γN / (1 + α(N − 1) + βN(N − 1)) (Gunther, 2007).
fn rate(fit: &Scalability, clients: f64) -> f64 {
    let (alpha, beta) = (fit.contention.value, fit.coherency.value);
    fit.single.value * clients / (1.0 + alpha * (clients - 1.0) + beta * clients * (clients - 1.0))
}

fn says(fit: &Scalability) -> String {
    match &fit.peak_clients {
        Some(peak) => format!("peak at about {:.0} clients", peak.value),
        None => format!("no peak up to {:.0} clients", fit.clients_max),
    }
}
