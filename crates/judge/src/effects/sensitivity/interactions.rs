//! Pairs of factors whose effects depend on each other.

use dyno_stats::{Observation, RatioEstimate, mean_ratio_of_rounds};

use super::design::{Design, Measured};
use super::{Interaction, judged};
use crate::compare::rule::Rule;

/// Two factors and a level of each. The levels are compared with the factors' reference levels.
#[derive(Clone, Copy)]
struct Pair {
    factors: [usize; 2],
    levels: [usize; 2],
}

/// The interactions at each client count, the largest first. For every pair of factors, each level of the first (except
/// its reference level) is combined with each level of the second (except its reference level). Pairs whose effects the
/// configurations cannot separate are left out. All interactions are one family.
pub(super) fn interactions(design: &Design<'_>, measured: &[Measured], rule: &Rule) -> Vec<Interaction> {
    let counts = design.level_counts();
    let mut found: Vec<(Pair, (u32, usize, RatioEstimate))> = Vec::new();
    for pair in pairs(&counts) {
        for measured in measured {
            let ln_ratios = measured.by_round(|observations| contrast(observations, pair));
            if let Some(estimate) = mean_ratio_of_rounds(&ln_ratios, rule.margin, rule.confidence()) {
                found.push((pair, (measured.clients, ln_ratios.len(), estimate)));
            }
        }
    }
    let estimates: Vec<(u32, usize, RatioEstimate)> = found.iter().map(|(_, estimate)| *estimate).collect();
    let mut interactions: Vec<Interaction> = found
        .iter()
        .zip(judged(&estimates, rule))
        .map(|((pair, _), effect)| {
            let name = |place: usize| design.factors[pair.factors[place]].name.to_owned();
            let level =
                |place: usize| design.factors[pair.factors[place]].levels[pair.levels[place]].to_owned();
            Interaction { factors: [name(0), name(1)], levels: [level(0), level(1)], effect }
        })
        .collect();
    let size = |interaction: &Interaction| interaction.effect.ratio.ln().abs();
    interactions.sort_by(|a, b| size(b).total_cmp(&size(a)));
    interactions
}

fn pairs(counts: &[usize]) -> impl Iterator<Item = Pair> {
    let factors = (0..counts.len()).flat_map(|one| (one + 1..counts.len()).map(move |two| [one, two]));
    factors.flat_map(|factors| {
        let [one, two] = factors.map(|factor| counts[factor]);
        (1..one).flat_map(move |a| (1..two).map(move |b| Pair { factors, levels: [a, b] }))
    })
}

/// The logarithm of the joint effect of both levels minus the logarithms of their separate effects. It is the mean
/// over the combinations of the other factors' levels for which all four configurations were measured: with both
/// levels, with only the first, with only the second, and with neither. `None` if there is no such combination.
fn contrast(observations: &[Observation], pair: Pair) -> Option<f64> {
    let corner = |observation: &Observation, levels: [usize; 2]| {
        let others_as = |other: &&Observation| {
            let at = |factor: usize| match pair.factors.iter().position(|own| *own == factor) {
                Some(place) => levels[place],
                None => observation.levels[factor],
            };
            (0..other.levels.len()).all(|factor| other.levels[factor] == at(factor))
        };
        observations.iter().find(others_as).map(|found| found.value)
    };
    let is_reference =
        |observation: &&Observation| pair.factors.iter().all(|factor| observation.levels[*factor] == 0);
    let [a, b] = pair.levels;
    let contrasts: Vec<f64> = observations
        .iter()
        .filter(is_reference)
        .filter_map(|neither| {
            let (both, one, two) =
                (corner(neither, [a, b])?, corner(neither, [a, 0])?, corner(neither, [0, b])?);
            Some(both - one - two + neither.value)
        })
        .collect();
    (!contrasts.is_empty()).then(|| contrasts.iter().sum::<f64>() / contrasts.len() as f64)
}
