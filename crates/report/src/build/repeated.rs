//! Some steps repeat an earlier step. Compares each of them with the earlier step. The ratio shows the effect of the
//! steps that ran between the two.

use dyno_judge::{RoundValue, Rule};
use dyno_stats::ratio_of_rounds;
use dyno_store::Run;

use crate::build::grid::{CellInput, Grid};
use crate::model::{Content, Repeated, RepeatedRatio};

/// A row for each step that repeats an earlier one. In each round, both steps ran on the same instance, so the ratios
/// are computed round by round, as for two systems. The ratios have no verdict.
pub(crate) fn repeated(run: &Run, grid: &Grid<'_>, rule: &Rule) -> Vec<Repeated<RepeatedRatio>> {
    let steps = run.steps.iter().filter_map(|step| Some((step, step.repeats.as_deref()?)));
    steps
        .map(|(step, earlier)| Repeated {
            repeats: earlier.to_owned(),
            row: grid.row(step, &|place| change(place, earlier, grid, rule)),
        })
        .collect()
}

fn change(place: CellInput<'_>, earlier: &str, grid: &Grid<'_>, rule: &Rule) -> Content<RepeatedRatio> {
    let before = grid.found(earlier, place.clients, &place.found.system);
    let before = before.map_or(&[][..], |found| &found.rounds);
    let ln_ratio = |after: &RoundValue| {
        let before = before.iter().find(|before| before.round == after.round)?;
        Some((after.value / before.value).ln()).filter(|ln_ratio| ln_ratio.is_finite())
    };
    let ln_ratios: Vec<f64> = place.found.rounds.iter().filter_map(ln_ratio).collect();
    let estimate = ratio_of_rounds(&ln_ratios, rule.margin, rule.confidence());
    estimate.map_or(Content::Incomparable, |estimate| {
        Content::Measured(RepeatedRatio {
            ratio: estimate.ratio,
            interval: estimate.interval,
            method: estimate.method,
        })
    })
}
