//! Steps that repeat an earlier step. They show the effect of the steps between the two.

use dyno_judge::{RoundValue, Rule};
use dyno_stats::ratio_of_rounds;
use dyno_store::Run;

use crate::build::grid::{CellInput, Grid};
use crate::model::{Content, Repeated, RepeatedRatio};

/// A row for each step that repeats an earlier one. The two steps of a round ran on one instance, so their ratios are
/// computed by round, like those of two systems. They have no verdict.
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
