//! The factors of a sweep, and the measurements of its configurations.

use std::collections::BTreeMap;

use dyno_stats::Observation;
use dyno_store::{Configuration, Run, SystemRecord};

use crate::trial::evidence::Evidence;
use crate::trial::in_force::{InForce, swept_settings};
use crate::trial::quantity::Quantity;

/// A sweep: its factors with more than one level, and its configurations.
pub(super) struct Design<'a> {
    pub(super) sweep: &'a str,
    pub(super) factors: Vec<Factor<'a>>,
    /// The systems. For each factor, each system has the index of its value among the factor's levels.
    systems: Vec<(&'a str, Vec<usize>)>,
}

pub(super) struct Factor<'a> {
    pub(super) name: &'a str,
    /// In the order of the plan.
    pub(super) levels: Vec<&'a str>,
}

/// The figures of a sweep's configurations at a client count.
pub(super) struct Measured {
    pub(super) clients: u32,
    /// Logarithms of throughputs, by round.
    rounds: BTreeMap<u32, Vec<Observation>>,
}

impl<'a> Design<'a> {
    /// The sweeps of a run with at least two configurations. A system with a swept setting that is not in
    /// force is left out.
    pub(super) fn of_run(run: &'a Run, in_force: &InForce<'_>) -> Vec<Self> {
        let mut sweeps: Vec<(&str, Vec<&SystemRecord>)> = Vec::new();
        for system in run.systems.iter().filter(|system| system.control_of.is_none()) {
            let Some(configuration) = &system.configuration else { continue };
            match sweeps.iter_mut().find(|(sweep, _)| *sweep == configuration.sweep) {
                Some((_, systems)) => systems.push(system),
                None => sweeps.push((&configuration.sweep, vec![system])),
            }
        }
        let design = |(sweep, systems): (&'a str, Vec<&'a SystemRecord>)| {
            let swept = swept_settings(&systems);
            let is_had = |system: &&SystemRecord| {
                !in_force.not(&system.id).iter().any(|setting| swept.contains(&setting.name))
            };
            let had = systems.into_iter().filter(is_had);
            let configured =
                had.filter_map(|system| Some((system.id.as_str(), system.configuration.as_ref()?)));
            Self::of(sweep, &configured.collect::<Vec<_>>())
        };
        sweeps.into_iter().map(design).filter(|design| design.systems.len() > 1).collect()
    }

    fn of(sweep: &'a str, systems: &[(&'a str, &'a Configuration)]) -> Self {
        let mut factors: Vec<Factor<'a>> = Vec::new();
        for level in systems.iter().flat_map(|(_, configuration)| &configuration.levels) {
            let at = factors.iter().position(|factor| factor.name == level.factor).unwrap_or_else(|| {
                factors.push(Factor { name: &level.factor, levels: Vec::new() });
                factors.len() - 1
            });
            if !factors[at].levels.contains(&level.level.as_str()) {
                factors[at].levels.push(&level.level);
            }
        }
        factors.retain(|factor| factor.levels.len() > 1);
        let place = |configuration: &Configuration, factor: &Factor<'_>| {
            let own = configuration.levels.iter().find(|level| level.factor == factor.name)?;
            factor.levels.iter().position(|level| *level == own.level)
        };
        let places = |configuration: &Configuration| -> Option<Vec<usize>> {
            factors.iter().map(|factor| place(configuration, factor)).collect()
        };
        let systems = systems
            .iter()
            .filter_map(|(system, configuration)| Some((*system, places(configuration)?)))
            .collect();
        Self { sweep, factors, systems }
    }

    pub(super) fn level_counts(&self) -> Vec<usize> {
        self.factors.iter().map(|factor| factor.levels.len()).collect()
    }

    pub(super) fn measured(&self, evidence: &Evidence<'_>, step: &str, clients: u32) -> Measured {
        let mut rounds: BTreeMap<u32, Vec<Observation>> = BTreeMap::new();
        for (system, levels) in &self.systems {
            for trial in evidence.trials.completed(step, clients, system) {
                let rate = evidence.figure(trial, Quantity::Throughput).filter(|rate| *rate > 0.0);
                if let Some(rate) = rate {
                    let observation = Observation { levels: levels.clone(), value: rate.ln() };
                    rounds.entry(trial.record.round).or_default().push(observation);
                }
            }
        }
        Measured { clients, rounds }
    }
}

impl Measured {
    /// The largest number of configurations with a figure in a round.
    pub(super) fn configurations(&self) -> usize {
        self.rounds.values().map(Vec::len).max().unwrap_or(0)
    }

    /// The result of `of` for each round. Rounds for which it returns `None`, because figures are missing, are left
    /// out.
    pub(super) fn by_round<T>(&self, of: impl Fn(&[Observation]) -> Option<T>) -> Vec<T> {
        self.rounds.values().filter_map(|observations| of(observations)).collect()
    }
}
