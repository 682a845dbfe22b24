//! The throughput of a family of systems as a function of its hardware.

use std::collections::BTreeMap;

use dyno_stats::{
    BottleneckLaw, BottleneckPoint, CONFIDENCE, Interval, centre_of_rounds, is_beyond, leave_one_out,
    rate_max, student_quantile,
};

use super::hardware::{Hardware, Resource};
use super::{ERROR_MAX, LeftOut, Predicted, Unpredicted};

/// A system of the family in a test.
#[derive(Clone, Debug)]
pub(super) struct Measured {
    pub(super) system: String,
    pub(super) hardware: Hardware,
    /// Operations per second, median over rounds.
    pub(super) rate: f64,
    pub(super) rounds: BTreeMap<u32, f64>,
    pub(super) demand: Demand,
}

/// The demand of an operation on each resource: CPU seconds, or numbers of requests. `None` if the demand was not
/// measured.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Demand {
    pub(super) cpu_seconds: Option<f64>,
    pub(super) reads: Option<f64>,
    pub(super) writes: Option<f64>,
}

impl Demand {
    pub(super) fn of(self, resource: Resource) -> Option<f64> {
        match resource {
            Resource::Cpus => self.cpu_seconds,
            Resource::ReadIops => self.reads,
            Resource::WriteIops => self.writes,
        }
    }
}

/// The model of a family at a number of clients.
pub(super) struct Model<'a> {
    measured: &'a [Measured],
    clients: u32,
    /// Resources whose amount differs between systems.
    varied: Vec<Resource>,
    /// Each system, predicted from the other systems. Empty if there are too few systems.
    pub(super) left_out: Vec<LeftOut>,
}

impl<'a> Model<'a> {
    pub(super) fn of(measured: &'a [Measured], clients: u32) -> Self {
        let varied = varied(measured);
        let mut model = Self { measured, clients, varied, left_out: Vec::new() };
        if !model.varied.is_empty() && measured.len() >= model.systems_min() {
            model.left_out = leave_one_out(measured, |others, one| model.left_out(others, one))
                .into_iter()
                .flatten()
                .collect();
        }
        model
    }

    /// Fewest systems for predictions that can be tested. The law has one more parameter than there are resources, and
    /// for the test one system is left out.
    fn systems_min(&self) -> usize {
        self.varied.len() + 2
    }

    fn left_out(&self, others: &[Measured], one: &Measured) -> Option<LeftOut> {
        let predicted = self.rate(others, |it| Some(it.rate), one.hardware)?;
        Some(LeftOut {
            system: one.system.clone(),
            hardware: one.hardware,
            operations_per_second: one.rate,
            predicted,
            error: predicted / one.rate - 1.0,
            is_outside: self.is_outside(others, one.hardware)?,
        })
    }

    /// The rate on some hardware, by a law that is fitted to `systems`. The rate is at most the bound that follows from
    /// the systems' demands.
    fn rate(
        &self,
        systems: &[Measured],
        rate: impl Fn(&Measured) -> Option<f64>,
        hardware: Hardware,
    ) -> Option<f64> {
        let point = |it: &Measured| {
            Some(BottleneckPoint { capacities: self.capacities(it.hardware)?, rate: rate(it)? })
        };
        let points: Vec<BottleneckPoint> = systems.iter().filter_map(point).collect();
        let law = BottleneckLaw::fit(&points, self.clients)?;
        let rate = law.rate(&self.capacities(hardware)?);
        Some(bound(systems, hardware).map_or(rate, |(_, bound)| rate.min(bound)))
    }

    /// The amounts of the resources that vary; `None` if an amount is unknown.
    fn capacities(&self, hardware: Hardware) -> Option<Vec<f64>> {
        self.varied.iter().map(|resource| hardware.capacity(*resource)).collect()
    }

    fn is_outside(&self, systems: &[Measured], hardware: Hardware) -> Option<bool> {
        let known: Vec<Vec<f64>> = systems.iter().filter_map(|it| self.capacities(it.hardware)).collect();
        let known: Vec<&[f64]> = known.iter().map(Vec::as_slice).collect();
        Some(is_beyond(&known, &self.capacities(hardware)?))
    }

    /// The prediction for some hardware. If all systems of the family have the same amount of a resource, the
    /// hardware must have that amount too.
    pub(super) fn predict(&self, hardware: Hardware) -> Predicted {
        match self.estimate(hardware) {
            Ok(predicted) => predicted,
            Err(because) => match bound(self.measured, hardware) {
                Some((resource, operations_per_second)) => {
                    Predicted::AtMost { operations_per_second, resource, because }
                }
                None => Predicted::Nothing { because },
            },
        }
    }

    fn estimate(&self, hardware: Hardware) -> Result<Predicted, Unpredicted> {
        for resource in Resource::ALL.into_iter().filter(|resource| !self.is_varied(*resource, hardware)) {
            let wanted = hardware.capacity(resource);
            if self.measured.iter().any(|it| it.hardware.capacity(resource) != wanted) {
                return Err(Unpredicted::NotVaried { resource });
            }
        }
        let too_few = Unpredicted::TooFew { systems: self.measured.len(), wanted: self.systems_min() };
        let rate = self.rate(self.measured, |it| Some(it.rate), hardware).ok_or_else(|| too_few.clone())?;
        let is_outside = self.is_outside(self.measured, hardware).ok_or_else(|| too_few.clone())?;
        // Predictions within the measured range are easier than predictions outside it. So for hardware within the
        // range, only the errors of predictions within it count, if there are any.
        let inside: Vec<&LeftOut> = self.left_out.iter().filter(|it| !it.is_outside).collect();
        let tried = if is_outside || inside.is_empty() { self.left_out.iter().collect() } else { inside };
        let error_max = tried.iter().map(|it| it.error.abs()).reduce(f64::max).ok_or(too_few)?;
        if error_max > ERROR_MAX {
            return Err(Unpredicted::LeaveOneOut { error_max });
        }
        let half = f64::hypot(of_model(&tried), self.of_rounds(hardware));
        let bound = bound(self.measured, hardware).map_or(f64::INFINITY, |(_, bound)| bound);
        let interval = Interval {
            low: rate * (-half).exp(),
            high: (rate * half.exp()).min(bound),
            confidence: CONFIDENCE,
        };
        Ok(Predicted::Rate { operations_per_second: rate, interval, is_outside, error_max })
    }

    fn is_varied(&self, resource: Resource, hardware: Hardware) -> bool {
        // If the limits of reads and writes vary together, in one proportion, the law has only reads as a resource. Its
        // prediction is then also valid for other limits of writes, but only if they are in the same proportion.
        let iops = [Resource::ReadIops, Resource::WriteIops];
        self.varied.contains(&resource)
            || iops.contains(&resource)
                && self.varied.contains(&iops[0])
                && in_proportion(self.measured.iter().map(|it| it.hardware).chain([hardware]))
    }

    /// Half-width of the interval that shows how a prediction varies between rounds. For each round, the rate is
    /// predicted from this round alone. The interval is the confidence interval of the centre of these predictions'
    /// logarithms. 0 with fewer than two rounds.
    fn of_rounds(&self, hardware: Hardware) -> f64 {
        let rounds = self.measured[0].rounds.keys();
        let of_all = rounds.filter(|round| self.measured.iter().all(|it| it.rounds.contains_key(*round)));
        let predictions: Vec<f64> = of_all
            .filter_map(|round| {
                let rate = |it: &Measured| it.rounds.get(round).copied().filter(|rate| *rate > 0.0);
                Some(self.rate(self.measured, rate, hardware)?.ln())
            })
            .collect();
        let interval = centre_of_rounds(&predictions, CONFIDENCE).and_then(|centre| centre.interval);
        interval.map_or(0.0, |interval| (interval.high - interval.low) / 2.0)
    }
}

/// Half-width of the prediction interval of a rate's logarithm, by Student's t. It is computed from the errors of
/// predictions for systems that were measured. The mean of these errors is assumed to be 0.
fn of_model(tried: &[&LeftOut]) -> f64 {
    let squares: f64 = tried.iter().map(|it| it.error.ln_1p().powi(2)).sum();
    let degrees = tried.len() as f64;
    (squares / degrees).sqrt() * student_quantile((1.0 - CONFIDENCE) / 2.0, degrees)
}

/// The highest rate that some hardware allows, and the resource that limits it. If systems have different demands on a
/// resource, the smallest counts. `None` if no demand is known.
pub(super) fn bound(systems: &[Measured], hardware: Hardware) -> Option<(Resource, f64)> {
    let of_resource = |resource: Resource| {
        let demand = systems.iter().filter_map(|it| it.demand.of(resource)).reduce(f64::min)?;
        Some((resource, rate_max(demand, hardware.capacity(resource)?)?))
    };
    Resource::ALL.into_iter().filter_map(of_resource).min_by(|(_, a), (_, b)| a.total_cmp(b))
}

/// Resources whose amounts differ between the systems.
fn varied(systems: &[Measured]) -> Vec<Resource> {
    let differs = |resource: &Resource| {
        let amounts: Option<Vec<f64>> = systems.iter().map(|it| it.hardware.capacity(*resource)).collect();
        amounts.is_some_and(|amounts| amounts.windows(2).any(|two| two[0].to_bits() != two[1].to_bits()))
    };
    let mut varied: Vec<Resource> = Resource::ALL.into_iter().filter(differs).collect();
    if varied.contains(&Resource::ReadIops) && in_proportion(systems.iter().map(|it| it.hardware)) {
        varied.retain(|resource| *resource != Resource::WriteIops);
    }
    varied
}

/// Whether all systems limit reads and writes in the same proportion.
fn in_proportion(hardware: impl Iterator<Item = Hardware>) -> bool {
    let limits = |it: Hardware| Some((it.read_iops?, it.write_iops?));
    let limits: Option<Vec<(u64, u64)>> = hardware.map(limits).collect();
    limits.is_some_and(|limits| {
        let (read, write) = limits[0];
        limits.iter().all(|(own_read, own_write)| {
            u128::from(*own_read) * u128::from(write) == u128::from(*own_write) * u128::from(read)
        })
    })
}
