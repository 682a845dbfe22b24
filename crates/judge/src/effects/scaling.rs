//! How each system's throughput grows with concurrency, for each step.

use dyno_stats::{Point, Scalability, median, scalability};
use dyno_store::Run;
use serde::Serialize;

use crate::trial::of_run::Trials;
use crate::trial::quantity::throughput;

/// A system's throughput in a step, by client count.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scaling {
    pub step: String,
    pub system: String,
    /// The measured client counts with their throughput, in ascending order.
    pub levels: Vec<ScalingPoint>,
    /// The measured client count with the highest throughput; `None` if nothing was measured.
    pub best: Option<u32>,
    /// The fitted Universal Scalability Law; `None` with fewer than six client counts.
    pub curve: Option<Scalability>,
}

/// A client count with its throughput.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ScalingPoint {
    pub clients: u32,
    /// Operations per second, median of the trials.
    pub rate: f64,
}

/// The scaling of every system in every step with more than one client count, in run order.
pub fn scalings(run: &Run) -> Vec<Scaling> {
    let trials = Trials::of(run);
    let steps = run.steps.iter().filter(|step| step.clients.len() > 1);
    steps
        .flat_map(|step| {
            let trials = &trials;
            run.systems.iter().map(move |system| {
                let mut clients = step.clients.clone();
                clients.sort_unstable();
                let rates = |clients: u32| -> Vec<f64> {
                    let completed = trials.completed(&step.id, clients, &system.id);
                    completed.iter().filter_map(|trial| throughput(&trial.record)).collect()
                };
                let level =
                    |clients: &u32| Some(ScalingPoint { clients: *clients, rate: median(&rates(*clients))? });
                let levels: Vec<ScalingPoint> = clients.iter().filter_map(level).collect();
                let points: Vec<Point> = clients
                    .iter()
                    .flat_map(|count| {
                        rates(*count).into_iter().map(|rate| Point { clients: f64::from(*count), rate })
                    })
                    .collect();
                Scaling {
                    step: step.id.clone(),
                    system: system.id.clone(),
                    best: levels.iter().max_by(|a, b| a.rate.total_cmp(&b.rate)).map(|level| level.clients),
                    curve: scalability(&points, run.record.seed),
                    levels,
                }
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{add_step, run};

    /// Throughput that peaks between 16 and 32 clients.
    fn rate(clients: u32) -> f64 {
        let clients = f64::from(clients);
        1000.0 * clients / (1.0 + 0.05 * (clients - 1.0) + 0.002 * clients * (clients - 1.0))
    }

    #[test]
    fn each_system_has_its_curve_with_peak_and_knee() {
        let mut run = run(1, &["a", "b"]);
        for clients in [64, 1, 2, 4, 8, 16, 32] {
            let of_a = [0.99, 1.0, 1.01].map(|noise| rate(clients) * noise).to_vec();
            add_step(&mut run, "reads", "point", clients, &[("a", of_a), ("b", vec![500.0; 3])]);
        }
        let found = scalings(&run);
        assert_eq!(found.len(), 2);
        let clients: Vec<u32> = found[0].levels.iter().map(|level| level.clients).collect();
        assert_eq!(clients, [1, 2, 4, 8, 16, 32, 64]);
        assert_eq!(found[0].best, Some(16));
        let peak = found[0].curve.unwrap().peak_clients.unwrap();
        assert!((peak.value - (0.95_f64 / 0.002).sqrt()).abs() < 1.0, "{peak:?}");
    }

    #[test]
    fn few_numbers_of_clients_have_levels_but_no_curve() {
        let mut run = run(1, &["a"]);
        add_step(&mut run, "reads", "one", 4, &[("a", vec![500.0])]);
        for clients in [1, 4, 16] {
            add_step(&mut run, "reads", "point", clients, &[("a", vec![rate(clients)])]);
        }
        let found = scalings(&run);
        assert_eq!(found.len(), 1, "a step at one number of clients does not scale");
        assert_eq!((found[0].curve, found[0].levels.len()), (None, 3));
    }
}
