//! Ratios by test, with their intervals, on a logarithmic scale.

use dyno_judge::Finding;
use maud::{Markup, html};

use super::heat::cut;
use super::{Axis, Chart, px};
use crate::model::{Cell, Relative, Reports};
use crate::wording::number::times;
use crate::wording::words;

const LABEL: f64 = 190.0;
const WIDTH: f64 = 760.0;
const VALUE: f64 = 60.0;
const ROW: f64 = 20.0;
const TOP: f64 = 22.0;

/// The ratios of a system against the base at a client count; `None` if no test has a ratio.
pub(crate) fn ratios(reports: &Reports, system: &str, clients: u32, title: String) -> Option<Chart> {
    let is_it = |cell: &&Cell<Relative>| cell.system == system && cell.clients == clients;
    let tests: Vec<(&str, &Relative)> = reports
        .relative
        .rows
        .iter()
        .filter_map(|row| Some((row.step.as_str(), row.cells.iter().find(is_it)?.value()?)))
        .collect();
    if tests.is_empty() {
        return None;
    }
    // The ratios alone determine the scale, so very wide intervals are cut off.
    let reach = tests
        .iter()
        .map(|(_, relative)| relative.ratio.max(1.0 / relative.ratio))
        .filter(|far| far.is_finite());
    let reach = reach.fold(1.3, f64::max) * 1.3;
    let axis = Axis::Log { min: 1.0 / reach, max: reach };
    let floor = TOP + tests.len() as f64 * ROW;
    let place = |value: f64| LABEL + axis.place(value.clamp(1.0 / reach, reach)) * (WIDTH - LABEL - VALUE);
    let body = html! {
        @for (value, name) in axis.ticks() {
            path.rule d=(format!("M{} {TOP}V{}", px(place(value)), px(floor))) {}
            text x=(px(place(value))) y=(px(TOP - 8.0)) text-anchor="middle" { "×" (name) }
        }
        path.one d=(format!("M{} {TOP}V{}", px(place(1.0)), px(floor))) {}
        @for (at, (step, relative)) in tests.iter().enumerate() {
            (test(step, relative, TOP + (at as f64 + 0.5) * ROW, &place))
        }
    };
    Some(Chart { title, width: WIDTH, height: floor + 4.0, body })
}

fn test(step: &str, relative: &Relative, y: f64, place: &impl Fn(f64) -> f64) -> Markup {
    // Only ratios with a verdict are coloured.
    let class = match relative.finding {
        Some(Finding::Improved) => "better",
        Some(Finding::Regressed) => "worse",
        Some(Finding::Same) => "same",
        _ => "unclear",
    };
    html! {
        text.name x="0" y=(px(y + 4.0)) { (cut(step, 30)) }
        @if let Some(interval) = relative.interval {
            path class={ "whisker " (class) } d=(format!("M{} {}H{}", px(place(interval.low)), px(y), px(place(interval.high)))) {}
        }
        circle class=(class) cx=(px(place(relative.ratio))) cy=(px(y)) r="4" {}
        text.name x=(WIDTH) y=(px(y + 4.0)) text-anchor="end" { (times(relative.ratio)) " " (relative.finding.map_or("", words::mark)) }
    }
}
