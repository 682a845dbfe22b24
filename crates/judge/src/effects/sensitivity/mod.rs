//! The effect of each factor of a sweep on the throughput, the interactions of factors, and whether a factor's best
//! level depends on the number of clients.

mod design;
mod effects;
mod interactions;
#[cfg(test)]
mod tests;

use dyno_stats::{Better, Interval, Method, RatioEstimate, Verdict, verdict};
use dyno_store::StepRecord;
use serde::Serialize;

use self::design::{Design, Measured};
use crate::compare::comparison::Finding;
use crate::compare::rule::{ROUNDS_WITH_VERDICT_MIN, Rule};
use crate::trial::evidence::Evidence;

/// The effects of the factors of a sweep in a step.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sensitivity {
    /// The id that the plan gives the sweep.
    pub sweep: String,
    pub group: String,
    pub step: String,
    /// The largest number of configurations that have a figure in one round at one client count.
    pub configurations: usize,
    /// Number of combinations of all levels of all factors.
    pub combinations: usize,
    /// The factors with more than one level, in the plan's order.
    pub factors: Vec<FactorSensitivity>,
    /// Interactions of pairs of factors, the largest first. Interactions without a verdict are included.
    pub interactions: Vec<Interaction>,
}

/// The effect of a factor of a sweep in a step.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FactorSensitivity {
    pub factor: String,
    /// The level with which the other levels are compared: the first in the plan.
    pub reference: String,
    /// The other levels.
    pub levels: Vec<LevelSensitivity>,
    /// The best level at each client count.
    pub best: Vec<BestLevel>,
    /// Two levels that change places: one is better at some client count, the other at another client count. `None`
    /// if there are no such levels.
    pub turns: Option<Turn>,
}

/// A level of a factor.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LevelSensitivity {
    pub level: String,
    /// Throughput at this level as a multiple of the throughput at the reference level, with the other factors
    /// unchanged. One effect for each client count.
    pub effects: Vec<Effect>,
}

/// A ratio of throughputs that is due to a level or a pair of levels.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Effect {
    pub clients: u32,
    pub ratio: f64,
    pub interval: Option<Interval>,
    pub method: Method,
    /// Number of rounds from which the ratio is estimated.
    pub rounds: usize,
    /// Improved, regressed, the same, or not enough evidence. All effects of a sweep in a step are one family.
    pub finding: Finding,
}

/// The best level of a factor at a client count.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BestLevel {
    pub clients: u32,
    pub level: String,
    /// Whether verdicts show that this level is better than each other level.
    pub is_decided: bool,
}

/// Two levels that change places: by verdicts, one is better at one number of clients, and the other at another.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Turn {
    /// The level that is better at `clients` and worse at `other_clients`.
    pub level: String,
    pub clients: u32,
    /// The level that is better at `other_clients` and worse at `clients`.
    pub other_level: String,
    pub other_clients: u32,
}

/// Two factors at two levels each.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Interaction {
    /// The two factors. For each of them, `levels` has one level, which is compared with the factor's reference level.
    pub factors: [String; 2],
    pub levels: [String; 2],
    /// The joint effect of both levels as a multiple of the product of their separate effects; 1 if they do not
    /// interact.
    pub effect: Effect,
}

/// The sensitivity of each step to each sweep of a run, in run order. Steps that load data are left out.
pub(crate) fn sensitivities(evidence: &Evidence<'_>, rule: &Rule) -> Vec<Sensitivity> {
    let designs = Design::of_run(evidence.run, &evidence.in_force);
    let is_wanted = |step: &&StepRecord| rule.steps.is_empty() || rule.steps.contains(&step.id);
    let steps = evidence.run.steps.iter().filter(|step| step.seconds.is_some()).filter(is_wanted);
    steps
        .flat_map(|step| designs.iter().filter_map(move |design| sensitivity(evidence, design, step, rule)))
        .collect()
}

/// The sensitivity of a step to a sweep; `None` if no factor's effect can be estimated.
fn sensitivity(
    evidence: &Evidence<'_>,
    design: &Design<'_>,
    step: &StepRecord,
    rule: &Rule,
) -> Option<Sensitivity> {
    let measured: Vec<Measured> =
        step.clients.iter().map(|clients| design.measured(evidence, &step.id, *clients)).collect();
    let factors = effects::factors(design, &measured, rule);
    (!factors.is_empty()).then(|| Sensitivity {
        sweep: design.sweep.to_owned(),
        group: step.group.clone(),
        step: step.id.clone(),
        configurations: measured.iter().map(Measured::configurations).max().unwrap_or(0),
        combinations: design.level_counts().iter().product(),
        factors,
        interactions: interactions::interactions(design, &measured, rule),
    })
}

/// Turns estimates into effects with verdicts. Their p-values are one family.
fn judged(estimates: &[(u32, usize, RatioEstimate)], rule: &Rule) -> Vec<Effect> {
    let p: Vec<f64> = estimates.iter().map(|(_, _, it)| it.p()).collect();
    let adjusted = rule.adjust_over_looks(&p);
    let effects = estimates.iter().zip(adjusted).map(|((clients, rounds, estimate), p)| Effect {
        clients: *clients,
        ratio: estimate.ratio,
        interval: estimate.interval,
        method: estimate.method,
        rounds: *rounds,
        finding: finding(estimate, *rounds, p, rule),
    });
    effects.collect()
}

fn finding(estimate: &RatioEstimate, rounds: usize, p: f64, rule: &Rule) -> Finding {
    if rounds < ROUNDS_WITH_VERDICT_MIN {
        return Finding::NotEnoughEvidence;
    }
    if p <= rule.alpha {
        return if estimate.p_above < estimate.p_below { Finding::Improved } else { Finding::Regressed };
    }
    match verdict(estimate.interval, rule.margin, Better::Higher) {
        Verdict::Same => Finding::Same,
        _ => Finding::NotEnoughEvidence,
    }
}
