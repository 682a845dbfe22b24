//! The effect of each factor alone.

use dyno_stats::{RatioEstimate, additive_effects, mean_ratio_of_rounds};

use super::design::{Design, Factor, Measured};
use super::{BestLevel, Effect, FactorSensitivity, LevelSensitivity, Turn, judged};
use crate::compare::comparison::Finding;
use crate::compare::rule::Rule;

/// The logarithm of the effect of each level of each factor at a client count. The indices of `rounds` are round,
/// factor and level.
struct Fitted {
    clients: u32,
    rounds: Vec<Vec<Vec<f64>>>,
}

/// Two levels of a factor at a client count.
struct Contrast {
    factor: usize,
    /// Indices of the two levels. The second level is compared with the first.
    levels: [usize; 2],
    clients: u32,
    rounds: usize,
    estimate: RatioEstimate,
}

/// The effect of each factor. A factor is left out if its effect cannot be estimated at any client count.
///
/// Each pair of levels is compared at each client count. All these comparisons are one family.
pub(super) fn factors(design: &Design<'_>, measured: &[Measured], rule: &Rule) -> Vec<FactorSensitivity> {
    let counts = design.level_counts();
    let fit = |measured: &Measured| Fitted {
        clients: measured.clients,
        rounds: measured.by_round(|observations| additive_effects(&counts, observations)),
    };
    let fitted: Vec<Fitted> = measured.iter().map(fit).collect();
    let contrasts: Vec<Contrast> = fitted.iter().flat_map(|fitted| fitted.contrasts(&counts, rule)).collect();
    let estimates: Vec<(u32, usize, RatioEstimate)> =
        contrasts.iter().map(|it| (it.clients, it.rounds, it.estimate)).collect();
    let effects = judged(&estimates, rule);
    let judged: Vec<(&Contrast, &Effect)> = contrasts.iter().zip(&effects).collect();
    let of_factor = |(at, factor): (usize, &Factor<'_>)| {
        let own: Vec<(&Contrast, &Effect)> =
            judged.iter().copied().filter(|(contrast, _)| contrast.factor == at).collect();
        (!own.is_empty()).then(|| sensitivity(factor, &own))
    };
    design.factors.iter().enumerate().filter_map(of_factor).collect()
}

impl Fitted {
    fn contrasts(&self, counts: &[usize], rule: &Rule) -> Vec<Contrast> {
        let pairs = counts.iter().enumerate().flat_map(|(factor, count)| {
            (0..*count).flat_map(move |low| (low + 1..*count).map(move |high| (factor, [low, high])))
        });
        pairs
            .filter_map(|(factor, levels)| {
                let ln_ratios: Vec<f64> = self
                    .rounds
                    .iter()
                    .map(|effects| effects[factor][levels[1]] - effects[factor][levels[0]])
                    .collect();
                let estimate = mean_ratio_of_rounds(&ln_ratios, rule.margin, rule.confidence())?;
                Some(Contrast { factor, levels, clients: self.clients, rounds: ln_ratios.len(), estimate })
            })
            .collect()
    }
}

fn sensitivity(factor: &Factor<'_>, own: &[(&Contrast, &Effect)]) -> FactorSensitivity {
    let levels = (1..factor.levels.len()).map(|level| LevelSensitivity {
        level: factor.levels[level].to_owned(),
        effects: own
            .iter()
            .filter(|(contrast, _)| contrast.levels == [0, level])
            .map(|(_, effect)| (*effect).clone())
            .collect(),
    });
    let mut clients: Vec<u32> = own.iter().map(|(contrast, _)| contrast.clients).collect();
    clients.dedup();
    FactorSensitivity {
        factor: factor.name.to_owned(),
        reference: factor.levels[0].to_owned(),
        levels: levels.collect(),
        best: clients.iter().map(|clients| best(factor, own, *clients)).collect(),
        turns: turn(factor, own),
    }
}

/// The level with the highest throughput at a client count.
fn best(factor: &Factor<'_>, own: &[(&Contrast, &Effect)], clients: u32) -> BestLevel {
    let here = || own.iter().filter(move |(contrast, _)| contrast.clients == clients);
    let against_reference = |level: usize| {
        let found = here().find(|(contrast, _)| contrast.levels == [0, level]);
        found.map_or(1.0, |(_, effect)| effect.ratio)
    };
    let best = (0..factor.levels.len())
        .max_by(|a, b| against_reference(*a).total_cmp(&against_reference(*b)))
        .unwrap_or(0);
    let is_better = |(contrast, effect): &(&Contrast, &Effect)| {
        let wanted = if contrast.levels[1] == best { Finding::Improved } else { Finding::Regressed };
        effect.finding == wanted
    };
    BestLevel {
        clients,
        level: factor.levels[best].to_owned(),
        is_decided: here().filter(|(contrast, _)| contrast.levels.contains(&best)).all(is_better),
    }
}

/// Finds two levels that change places: one is better at some client count, the other at another client count.
fn turn(factor: &Factor<'_>, own: &[(&Contrast, &Effect)]) -> Option<Turn> {
    let found = |finding: Finding| own.iter().filter(move |(_, effect)| effect.finding == finding);
    found(Finding::Improved).find_map(|(contrast, _)| {
        let (opposite, _) = found(Finding::Regressed).find(|(other, _)| other.levels == contrast.levels)?;
        let [low, high] = contrast.levels;
        Some(Turn {
            level: factor.levels[high].to_owned(),
            clients: contrast.clients,
            other_level: factor.levels[low].to_owned(),
            other_clients: opposite.clients,
        })
    })
}
