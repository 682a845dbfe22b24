//! The effect of each factor of a sweep on the throughput, its interactions with other factors, and whether
//! its best level depends on the number of clients.

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

/// A sweep in a step.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sensitivity {
    /// The id that the plan gives the sweep.
    pub sweep: String,
    pub group: String,
    pub step: String,
    /// Configurations with a figure at some client count.
    pub configurations: usize,
    /// Combinations of all levels of all factors.
    pub combinations: usize,
    /// The factors with more than one level, in the plan's order.
    pub factors: Vec<FactorSensitivity>,
    /// Pairs of factors whose effects depend on each other, the largest first; also those without a verdict.
    pub interactions: Vec<Interaction>,
}

/// A factor of a sweep in a step.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FactorSensitivity {
    pub factor: String,
    /// The level with which the others are compared: the first in the plan.
    pub reference: String,
    /// The other levels.
    pub levels: Vec<LevelSensitivity>,
    /// The best level at each client count.
    pub best: Vec<BestLevel>,
    /// Two levels, each better than the other at some client count, if any were found.
    pub turns: Option<Turn>,
}

/// A level of a factor.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LevelSensitivity {
    pub level: String,
    /// Throughput at this level as a multiple of that at the reference, with the other factors unchanged. One for
    /// each client count.
    pub effects: Vec<Effect>,
}

/// A ratio of throughputs that is due to a level or a pair of levels.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Effect {
    pub clients: u32,
    pub ratio: f64,
    pub interval: Option<Interval>,
    pub method: Method,
    /// Number of rounds from which it is estimated.
    pub rounds: usize,
    /// Improved, regressed, the same, or not enough evidence. All effects of a sweep in a step are one family.
    pub finding: Finding,
}

/// The best level of a factor at a client count.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct BestLevel {
    pub clients: u32,
    pub level: String,
    /// Whether it is better than each other level by more than chance explains.
    pub is_decided: bool,
}

/// Which of two levels is better depends on the number of clients. Chance does not explain this.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Turn {
    /// Better at `clients`, worse at `other_clients`.
    pub level: String,
    pub clients: u32,
    /// Better at `other_clients`, worse at `clients`.
    pub other_level: String,
    pub other_clients: u32,
}

/// Two factors at two levels each.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Interaction {
    /// Each factor with the level that is compared to its reference.
    pub factors: [String; 2],
    pub levels: [String; 2],
    /// The joint effect of both levels as a multiple of the product of their separate effects; 1 if they do not
    /// interact.
    pub effect: Effect,
}

/// The sensitivity of each step to each sweep of a run, in run order. Loads are left out.
pub(crate) fn sensitivities(evidence: &Evidence<'_>, rule: &Rule) -> Vec<Sensitivity> {
    let designs = Design::of_run(evidence.run, &evidence.in_force);
    let is_wanted = |step: &&StepRecord| rule.steps.is_empty() || rule.steps.contains(&step.id);
    let steps = evidence.run.steps.iter().filter(|step| step.seconds.is_some()).filter(is_wanted);
    steps
        .flat_map(|step| designs.iter().filter_map(move |design| sensitivity(evidence, design, step, rule)))
        .collect()
}

/// `None` without a factor whose effect can be estimated.
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
