//! Predicts the throughput of systems on hardware that was not measured.
//!
//! Bottleneck bounds ([`dyno_stats::BottleneckLaw`]) are calibrated within a family of systems that differ only in
//! their amount of hardware. To test the bounds, each system is predicted from the other systems of the family. The
//! errors of these predictions widen the intervals of forecasts.

mod hardware;
mod model;
#[cfg(test)]
mod tests;

use dyno_stats::{Interval, median, utilisation};
use dyno_store::{Run, TrialRecord};
use serde::Serialize;

use self::hardware::{Family, families};
use self::model::{Demand, Measured, Model};
use crate::analysis::Analysis;
use crate::analysis::test::Test;
use crate::trial::of_run::Trials;
use crate::trial::quantity::Quantity;
pub use hardware::{Hardware, Resource};

/// Largest error, as a share of the measured rate, at which Dyno still makes predictions for a family. To find the
/// error, each system of the family is predicted from the other systems.
pub const ERROR_MAX: f64 = 0.2;

/// Hardware to forecast for. If a list is empty, each family keeps its own amounts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WantedHardware {
    pub cpus: Vec<u64>,
    /// Limits of requests per second. Each number limits reads and, separately, writes.
    pub iops: Vec<u64>,
}

/// A family of systems at a number of clients, with predictions for other hardware.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Forecast {
    pub family: String,
    /// A system of the family, as an example.
    pub like: String,
    pub clients: u32,
    /// For each system of the family, the shares of its hardware that it used.
    pub used: Vec<Used>,
    /// Each measured system, predicted from the other systems of the family. Empty if there are too few systems.
    pub left_out: Vec<LeftOut>,
    pub predictions: Vec<Prediction>,
}

/// The utilisation of a resource by a system, as a share of what the system may use.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Used {
    pub system: String,
    pub resource: Resource,
    pub share: f64,
}

/// A measured system, and its prediction from the other systems of its family.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LeftOut {
    pub system: String,
    pub hardware: Hardware,
    /// The measured rate.
    pub operations_per_second: f64,
    pub predicted: f64,
    /// The prediction divided by the measured rate, minus 1.
    pub error: f64,
    /// Whether the system's hardware is outside the range of the other systems' hardware.
    pub is_outside: bool,
}

/// A prediction for a family on hardware that was not measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Prediction {
    pub hardware: Hardware,
    pub predicted: Predicted,
}

/// What is known about the throughput on hardware that was not measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Predicted {
    Rate {
        operations_per_second: f64,
        /// Interval of the rate, from the variation between rounds and the errors of the model.
        interval: Interval,
        /// Whether the hardware is outside the measured range.
        is_outside: bool,
        /// The largest error when measured systems of the family are predicted from the others, as a share of the
        /// measured rate.
        error_max: f64,
    },
    /// Only an upper bound of the rate is known: a higher rate would need more of this resource than the hardware has.
    AtMost {
        operations_per_second: f64,
        resource: Resource,
        because: Unpredicted,
    },
    Nothing {
        because: Unpredicted,
    },
}

/// Why there is no prediction.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "reason", rename_all = "snake_case")]
pub enum Unpredicted {
    /// The forecast asks for another amount of a resource than the measured systems have. Their amounts of this
    /// resource do not differ, or are not known, so they do not show how the rate depends on it. The same reason is
    /// given if all measured systems limit reads and writes in one proportion, and the forecast asks for another
    /// proportion.
    NotVaried { resource: Resource },
    TooFew {
        /// Systems that were measured.
        systems: usize,
        /// Fewest systems from which a prediction can be made and tested.
        wanted: usize,
    },
    /// The model does not predict the family's own systems well enough.
    LeaveOneOut { error_max: f64 },
}

/// The forecasts for a step: one for each family of a run, at each of these numbers of clients.
pub fn forecasts(
    run: &Run,
    analysis: &Analysis,
    step: &str,
    clients: &[u32],
    wanted: &WantedHardware,
) -> Vec<Forecast> {
    let trials = Trials::of(run);
    let families = families(run);
    let tests = analysis.tests.iter().filter(|test| test.step == step && clients.contains(&test.clients));
    tests
        .flat_map(|test| families.iter().filter_map(|family| forecast(family, test, &trials, wanted)))
        .collect()
}

/// The forecast for a family in a test; `None` if no system of the family was measured.
fn forecast(
    family: &Family<'_>,
    test: &Test,
    trials: &Trials<'_>,
    wanted: &WantedHardware,
) -> Option<Forecast> {
    let measured: Vec<Measured> = family
        .systems
        .iter()
        .filter_map(|(system, hardware)| measured(&system.id, *hardware, test, trials))
        .collect();
    let first = measured.first()?;
    let model = Model::of(&measured, test.clients);
    let predictions = wanted
        .for_family(&measured)
        .into_iter()
        .filter(|hardware| measured.iter().all(|it| it.hardware != *hardware))
        .map(|hardware| Prediction { hardware, predicted: model.predict(hardware) });
    Some(Forecast {
        family: family.name.clone(),
        like: first.system.clone(),
        clients: test.clients,
        used: measured.iter().flat_map(used).collect(),
        predictions: predictions.collect(),
        left_out: model.left_out,
    })
}

impl WantedHardware {
    /// Every combination of the requested amounts. If no amount of a resource is requested, the family's own
    /// amounts are used.
    fn for_family(&self, measured: &[Measured]) -> Vec<Hardware> {
        let mut all: Vec<Hardware> = Vec::new();
        for it in measured {
            let own = it.hardware;
            let cpus: Vec<Option<u64>> = asked(&self.cpus, own.cpus);
            for cpus in cpus {
                let iops: Vec<(Option<u64>, Option<u64>)> = if self.iops.is_empty() {
                    vec![(own.read_iops, own.write_iops)]
                } else {
                    self.iops.iter().map(|iops| (Some(*iops), Some(*iops))).collect()
                };
                for (read_iops, write_iops) in iops {
                    let hardware = Hardware { cpus, read_iops, write_iops };
                    if !all.contains(&hardware) {
                        all.push(hardware);
                    }
                }
            }
        }
        all
    }
}

fn asked(wanted: &[u64], own: Option<u64>) -> Vec<Option<u64>> {
    if wanted.is_empty() { vec![own] } else { wanted.iter().copied().map(Some).collect() }
}

fn measured(system: &str, hardware: Hardware, test: &Test, trials: &Trials<'_>) -> Option<Measured> {
    let cell = test.cells.iter().find(|cell| cell.system == system)?;
    let records = trials.completed(&test.step, test.clients, system).iter().map(|trial| &trial.record);
    let writes: Vec<f64> = records.filter_map(writes_per_operation).collect();
    let cost = |quantity: Quantity| Some(cell.costs.get(&quantity)?.median);
    Some(Measured {
        system: system.to_owned(),
        hardware,
        rate: cell.rate.filter(|rate| *rate > 0.0)?,
        rounds: cell.rounds.iter().map(|round| (round.round, round.value)).collect(),
        demand: Demand {
            cpu_seconds: cost(Quantity::ServerCpu).map(|us| us / 1e6),
            reads: cost(Quantity::Reads),
            writes: median(&writes),
        },
    })
}

/// Writes and cache flushes per operation. A limit of writes counts both.
fn writes_per_operation(record: &TrialRecord) -> Option<f64> {
    let operations = record.measured.as_ref()?.counts.operations;
    let requests = record.usage.device_writes? + record.usage.device_flushes?;
    (operations > 0).then(|| requests as f64 / operations as f64)
}

fn used(it: &Measured) -> Vec<Used> {
    let of_resource = |resource: Resource| {
        let share = utilisation(it.rate, it.demand.of(resource)?, it.hardware.capacity(resource)?);
        Some(Used { system: it.system.clone(), resource, share })
    };
    Resource::ALL.into_iter().filter_map(of_resource).collect()
}
