//! Collects the measurements of a run's drivers.

use dyno_stats::median;
use dyno_store::{DriverRecord, Run};

use crate::model::DriverLoad;

/// A driver's records in a test of a system. `place` is the step, the client count, the system and the driver's
/// host.
struct OfDriver<'a> {
    place: (&'a str, u32, &'a str, &'a str),
    rounds: Vec<&'a DriverRecord>,
}

/// The measurements of each driver in each test of each system, in run order.
pub(crate) fn driver_loads(run: &Run) -> Vec<DriverLoad> {
    let mut found: Vec<OfDriver<'_>> = Vec::new();
    for trial in run.trials.iter().map(|trial| &trial.record).filter(|trial| trial.is_complete()) {
        for driver in &trial.drivers {
            let place =
                (trial.step_id.as_str(), trial.clients, trial.system_id.as_str(), driver.host.as_str());
            match found.iter_mut().find(|of_driver| of_driver.place == place) {
                Some(of_driver) => of_driver.rounds.push(driver),
                None => found.push(OfDriver { place, rounds: vec![driver] }),
            }
        }
    }
    found.sort_by_key(|of_driver| position(run, of_driver.place));
    found.iter().map(load).collect()
}

/// Returns the key by which the measurements of drivers are sorted in run order: step, client count, system. The sort
/// is stable, so drivers stay in the plan's order.
fn position(run: &Run, (step, clients, system, _): (&str, u32, &str, &str)) -> (usize, u32, usize) {
    let step = run.steps.iter().position(|of_run| of_run.id == step);
    let system = run.systems.iter().position(|of_run| of_run.id == system);
    (step.unwrap_or(usize::MAX), clients, system.unwrap_or(usize::MAX))
}

fn load(of_driver: &OfDriver<'_>) -> DriverLoad {
    let (step, clients, system, host) = of_driver.place;
    let figures = |of: &dyn Fn(&DriverRecord) -> Option<f64>| {
        median(&of_driver.rounds.iter().filter_map(|driver| of(driver)).collect::<Vec<_>>())
    };
    let measured =
        |driver: &DriverRecord, amount: f64| (driver.seconds > 0.0).then(|| amount / driver.seconds);
    DriverLoad {
        step: step.to_owned(),
        clients,
        system: system.to_owned(),
        host: host.to_owned(),
        driver_clients: of_driver.rounds.first().map_or(0, |driver| driver.clients),
        rounds: of_driver.rounds.len(),
        operations_per_second: figures(&|driver| measured(driver, driver.operations as f64)),
        latency_p99_us: figures(&|driver| driver.latency.map(|latency| latency.p99_us)),
        cores: figures(&|driver| measured(driver, driver.cpu_us as f64 / 1e6)),
        round_trip_us: figures(&|driver| driver.network.map(|network| network.round_trip_us)),
        bytes_per_second: figures(&|driver| driver.network.and_then(|network| network.bytes_per_second)),
    }
}
