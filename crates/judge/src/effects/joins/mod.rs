//! Steps in which clients of a background load join over time. Each stretch of time between two joins has figures of
//! its own: the throughput of the step, the throughput of the background load, and the share of the step's throughput
//! that remains.

mod course;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;

use dyno_stats::{Interval, Method, median, ratio_of_rounds};
use dyno_store::{JoinRecord, Operation, StepRecord, Trial};
use serde::Serialize;

use self::course::course;
use crate::compare::rule::Rule;
use crate::trial::evidence::Evidence;
use crate::trial::steps::joined;

/// A step at a client count, in which clients of a background load join.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JoinedTest {
    pub group: String,
    pub step: String,
    pub clients: u32,
    /// The kind of operation that the step's rate counts.
    pub operation: Operation,
    /// The step id of the background load.
    pub background: String,
    /// The kind of operation that the background load's rate counts.
    pub background_operation: Operation,
    /// When clients of the background load join.
    pub joins: Vec<JoinRecord>,
    /// Each system that the step is planned for, in the plan's order.
    pub systems: Vec<JoinedSystem>,
}

/// A system in a test in which clients join.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct JoinedSystem {
    pub system: String,
    /// The stretches of time: one before the first join, and one after each join.
    pub stretches: Vec<Stretch>,
    /// Throughput over time.
    pub seconds: Vec<JoinedSecond>,
}

/// A stretch between two joins, without the second in which clients join.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Stretch {
    /// Number of background clients that run in the stretch.
    pub joined: u32,
    /// Operations per second of the step's own clients: the median over rounds of the mean rate of the stretch. `None`
    /// if no round has a whole second of the stretch.
    pub rate: Option<f64>,
    /// Operations per second of the background clients: the median over rounds of the mean rate of the stretch.
    pub background_rate: Option<f64>,
    /// The rate of each round.
    pub rounds: Vec<StretchRound>,
    /// `rate` as a multiple of the rate without background clients; `None` in the first stretch.
    pub kept: Option<StretchRatio>,
    /// `rate` as a multiple of the base's rate in the same stretch; `None` for the base itself.
    pub against_base: Option<StretchRatio>,
}

/// The mean rates of one stretch of time in one round.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct StretchRound {
    /// The round, from 0.
    pub round: u32,
    pub rate: f64,
    /// `None` if the background load was not measured in this stretch.
    pub background_rate: Option<f64>,
}

/// A ratio of two rates, estimated from their ratios in each round. It has no verdict.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct StretchRatio {
    pub ratio: f64,
    pub interval: Option<Interval>,
    pub method: Method,
    /// Number of rounds from which the ratio is estimated.
    pub rounds: usize,
}

/// Throughput in a second: medians over rounds.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct JoinedSecond {
    /// Start of the second, since measuring began.
    pub at_seconds: u32,
    pub rate: f64,
    pub background_rate: Option<f64>,
}

/// The mean rate of a trial in each stretch: in the first, before clients join, and then after each join. `None` for a
/// stretch without a whole second. `rates` has the operations per second of each measured second.
fn stretch_rates(rates: &[f64], joins: &[JoinRecord]) -> Vec<Option<f64>> {
    // A second in which clients join belongs to no stretch.
    let begins =
        std::iter::once(0).chain(joins.iter().map(|join| (join.at_seconds as usize).saturating_add(1)));
    let ends = joins.iter().map(|join| join.at_seconds as usize).chain([rates.len()]);
    let mean = |(begin, end): (usize, usize)| {
        let of_stretch = rates.get(begin..end.min(rates.len())).filter(|rates| !rates.is_empty())?;
        Some(of_stretch.iter().sum::<f64>() / of_stretch.len() as f64)
    };
    begins.zip(ends).map(mean).collect()
}

/// The rate of a system in each round during the stretch with this number of joined clients. `step` may be the id
/// of the background load.
pub(crate) fn rates_when_joined(
    evidence: &Evidence<'_>,
    (step, clients): (&str, u32),
    system: &str,
    joined_clients: u32,
) -> BTreeMap<u32, f64> {
    let Some((_, background)) = joined(evidence.run, step) else { return BTreeMap::new() };
    let stretch = match joined_clients {
        0 => Some(0),
        _ => background.joins.iter().position(|join| join.clients == joined_clients).map(|at| at + 1),
    };
    let rate = |trial: &&Trial| {
        let rates = stretch_rates(&evidence.checks.get(&trial.id)?.rates, &background.joins);
        Some((trial.record.round, rates.get(stretch?).copied()??))
    };
    evidence.trials.completed(step, clients, system).iter().filter_map(rate).collect()
}

/// Every test of a run in which clients join, in run order.
pub(crate) fn joined_tests(evidence: &Evidence<'_>, base: &str, rule: &Rule) -> Vec<JoinedTest> {
    let is_wanted = |step: &StepRecord| rule.steps.is_empty() || rule.steps.contains(&step.id);
    let steps = evidence.run.steps.iter().filter(|step| step.background_of.is_none() && is_wanted(step));
    steps
        .filter_map(|step| joined(evidence.run, &step.id))
        .flat_map(|pair| pair.0.clients.iter().map(move |clients| test(evidence, pair, *clients, base, rule)))
        .collect()
}

fn test(
    evidence: &Evidence<'_>,
    (step, background): (&StepRecord, &StepRecord),
    clients: u32,
    base: &str,
    rule: &Rule,
) -> JoinedTest {
    let is_planned = |id: &&str| !step.not_for.iter().any(|system| system == id);
    let ids = evidence.run.systems.iter().map(|system| system.id.as_str()).filter(is_planned);
    let place = Place { evidence, step, background, clients };
    let rounds_of_base = place.rounds(base);
    JoinedTest {
        group: step.group.clone(),
        step: step.id.clone(),
        clients,
        operation: step.operation,
        background: background.id.clone(),
        background_operation: background.operation,
        joins: background.joins.clone(),
        systems: ids
            .map(|id| JoinedSystem {
                system: id.to_owned(),
                stretches: place.stretches(id, (id != base).then_some(&rounds_of_base), rule),
                seconds: course(&place.pairs(id)),
            })
            .collect(),
    }
}

/// A test in which clients join.
struct Place<'a> {
    evidence: &'a Evidence<'a>,
    step: &'a StepRecord,
    background: &'a StepRecord,
    clients: u32,
}

/// The rates of a trial and of its background load, by second.
struct Pair<'a> {
    round: u32,
    rates: &'a [f64],
    background_rates: &'a [f64],
}

impl<'a> Place<'a> {
    /// A system's completed trials, each with the background load's trial of the same round.
    fn pairs(&self, system: &str) -> Vec<Pair<'a>> {
        let trials = |step: &StepRecord| self.evidence.trials.completed(&step.id, self.clients, system);
        let rates = |trial: &Trial| Some(self.evidence.checks.get(&trial.id)?.rates.as_slice());
        let pair = |own: &&'a Trial| {
            let round = own.record.round;
            let background = trials(self.background).iter().find(|trial| trial.record.round == round);
            Some(Pair {
                round,
                rates: rates(own)?,
                background_rates: background.and_then(|trial| rates(trial)).unwrap_or_default(),
            })
        };
        trials(self.step).iter().filter_map(pair).collect()
    }

    /// The rates of a system's rounds in each stretch.
    fn rounds(&self, system: &str) -> Vec<Vec<StretchRound>> {
        let joins = &self.background.joins;
        let mut stretches = vec![Vec::new(); joins.len() + 1];
        for Pair { round, rates, background_rates } in self.pairs(system) {
            let (own, background) = (stretch_rates(rates, joins), stretch_rates(background_rates, joins));
            for ((stretch, rate), background_rate) in stretches.iter_mut().zip(own).zip(background) {
                stretch.extend(rate.map(|rate| StretchRound { round, rate, background_rate }));
            }
        }
        stretches
    }

    fn stretches(
        &self,
        system: &str,
        rounds_of_base: Option<&Vec<Vec<StretchRound>>>,
        rule: &Rule,
    ) -> Vec<Stretch> {
        let rounds = self.rounds(system);
        let first = rounds.first().cloned().unwrap_or_default();
        let joined = std::iter::once(0).chain(self.background.joins.iter().map(|join| join.clients));
        let stretch = |(at, (joined, rounds)): (usize, (u32, Vec<StretchRound>))| Stretch {
            joined,
            rate: median(&rounds.iter().map(|round| round.rate).collect::<Vec<_>>()),
            background_rate: median(&rounds.iter().filter_map(|it| it.background_rate).collect::<Vec<_>>()),
            kept: if at == 0 { None } else { ratio(&first, &rounds, rule) },
            against_base: rounds_of_base.and_then(|base| ratio(base.get(at)?, &rounds, rule)),
            rounds,
        };
        joined.zip(rounds).enumerate().map(stretch).collect()
    }
}

/// The ratio of two rates, over the rounds that have both. `None` if no round has both.
fn ratio(base: &[StretchRound], own: &[StretchRound], rule: &Rule) -> Option<StretchRatio> {
    let ln_ratio = |own: &StretchRound| {
        let base = base.iter().find(|base| base.round == own.round)?;
        (base.rate > 0.0 && own.rate > 0.0).then(|| (own.rate / base.rate).ln())
    };
    let ln_ratios: Vec<f64> = own.iter().filter_map(ln_ratio).collect();
    let estimate = ratio_of_rounds(&ln_ratios, rule.margin, rule.confidence())?;
    Some(StretchRatio {
        ratio: estimate.ratio,
        interval: estimate.interval,
        method: estimate.method,
        rounds: ln_ratios.len(),
    })
}
