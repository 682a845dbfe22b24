//! Verdicts on the figures of events: all quantities of all events of all candidates are one family.

use std::collections::BTreeSet;

use dyno_stats::{Better, RatioEstimate, SharedTest, Verdict, max_t, ratio_of_rounds, verdict};
use dyno_store::{Correction, Run};

use super::{EventQuantity, EventRatio, EventfulTest};
use crate::analysis::RoundValue;
use crate::compare::comparison::Finding;
use crate::compare::noise;
use crate::compare::rule::{ROUNDS_WITH_VERDICT_MIN, Rule};

/// Seed of the random sign reversals, if there are too many rounds to try all of them.
const SEED: u64 = 44;

/// A quantity of an event of a system, as a multiple of the base's.
struct Measured {
    /// Its place: test, system, event.
    at: (usize, usize, usize),
    quantity: EventQuantity,
    ln_ratios: Vec<(u32, f64)>,
    estimate: RatioEstimate,
    /// Whether it counts in the family. A control does not, because it should not differ.
    is_judged: bool,
}

/// Fills in the ratios to the base with their verdicts.
pub(super) fn judge(tests: &mut [EventfulTest], run: &Run, base: &str, rule: &Rule) {
    let measured = measured(tests, run, base, rule);
    let family: Vec<&Measured> = measured.iter().filter(|it| it.is_judged).collect();
    let mut adjusted = adjust(&family, rule).into_iter();
    for it in &measured {
        let p = if it.is_judged { adjusted.next() } else { None };
        let (test, system, event) = it.at;
        let Some(figure) = tests[test].systems[system].events[event].figures.get_mut(&it.quantity) else {
            continue;
        };
        figure.against_base = Some(EventRatio {
            ratio: it.estimate.ratio,
            interval: it.estimate.interval,
            method: it.estimate.method,
            rounds: it.ln_ratios.len(),
            finding: p.map_or(Finding::NotEnoughEvidence, |p| finding(&it.estimate, p, rule)),
            p_adjusted: p,
        });
    }
}

fn measured(tests: &[EventfulTest], run: &Run, base: &str, rule: &Rule) -> Vec<Measured> {
    let mut found = Vec::new();
    for (test_at, test) in tests.iter().enumerate() {
        let Some(of_base) = test.systems.iter().find(|system| system.system == base) else { continue };
        for (system_at, system) in test.systems.iter().enumerate().filter(|(_, it)| it.system != base) {
            let pair = (system.system.as_str(), base);
            let is_control = noise::controls(run, rule)
                .any(|(control, original)| [(control, original), (original, control)].contains(&pair));
            for (event_at, (own, of_base)) in system.events.iter().zip(&of_base.events).enumerate() {
                for (quantity, figure) in &own.figures {
                    let Some(base_figure) = of_base.figures.get(quantity) else { continue };
                    let ln_ratios = ln_ratios(&base_figure.rounds, &figure.rounds, quantity.resolution());
                    let values: Vec<f64> = ln_ratios.iter().map(|(_, ln)| *ln).collect();
                    let Some(estimate) = ratio_of_rounds(&values, rule.margin, rule.confidence()) else {
                        continue;
                    };
                    found.push(Measured {
                        at: (test_at, system_at, event_at),
                        quantity: *quantity,
                        is_judged: !is_control && ln_ratios.len() >= ROUNDS_WITH_VERDICT_MIN,
                        ln_ratios,
                        estimate,
                    });
                }
            }
        }
    }
    found
}

/// The logarithm of the ratio in each round that both have.
fn ln_ratios(base: &[RoundValue], own: &[RoundValue], added: f64) -> Vec<(u32, f64)> {
    let ln_ratio = |own: &RoundValue| {
        let base = base.iter().find(|base| base.round == own.round)?;
        let (base, value) = (base.value + added, own.value + added);
        (base > 0.0 && value > 0.0).then(|| (own.round, (value / base).ln()))
    };
    own.iter().filter_map(ln_ratio).collect()
}

/// The p-values of a family, adjusted for its number of tests and for all looks.
fn adjust(family: &[&Measured], rule: &Rule) -> Vec<f64> {
    let looks = rule.looks as f64;
    let adjusted = if rule.correction() == Correction::MaxT {
        let rounds: BTreeSet<u32> =
            family.iter().flat_map(|it| &it.ln_ratios).map(|(round, _)| *round).collect();
        let shared = |it: &&Measured| {
            let of = |round: &u32| it.ln_ratios.iter().find(|(own, _)| own == round).map(|(_, ln)| *ln);
            SharedTest { ln_ratios: rounds.iter().map(of).collect(), margin: rule.margin }
        };
        max_t(&family.iter().map(shared).collect::<Vec<_>>(), rounds.len(), SEED)
    } else {
        rule.adjust(&family.iter().map(|it| it.estimate.p()).collect::<Vec<_>>())
    };
    adjusted.into_iter().map(|p| (p * looks).min(1.0)).collect()
}

/// For every quantity, less is better.
fn finding(estimate: &RatioEstimate, p: f64, rule: &Rule) -> Finding {
    if p <= rule.alpha {
        return if estimate.p_above < estimate.p_below { Finding::Regressed } else { Finding::Improved };
    }
    match verdict(estimate.interval, rule.margin, Better::Lower) {
        Verdict::Same => Finding::Same,
        _ => Finding::NotEnoughEvidence,
    }
}
