//! Ratios by test, each with its interval, on a logarithmic scale.

use dyno_stats::PairedRatio;
use maud::{Markup, html};

use super::heat::cut;
use super::{Axis, Chart, px};
use crate::model::Cell;
use crate::model::Reports;
use crate::number::ratio;
use crate::summary::{Direction, direction};

const LABEL: f64 = 190.0;
const WIDTH: f64 = 760.0;
const VALUE: f64 = 60.0;
const ROW: f64 = 20.0;
const TOP: f64 = 22.0;

/// The ratios of a system against the base at a client count; none if no test has one.
pub(crate) fn ratios(reports: &Reports, system: &str, clients: u32, title: String) -> Option<Chart> {
    let is_it = |cell: &&Cell<PairedRatio>| cell.system == system && cell.clients == clients;
    let tests: Vec<(&str, &PairedRatio)> = reports
        .relative
        .rows
        .iter()
        .filter_map(|row| Some((row.step.as_str(), row.cells.iter().find(is_it)?.value()?)))
        .collect();
    if tests.is_empty() {
        return None;
    }
    // The medians decide how far the scale goes; the end of a very wide interval is cut off.
    let reach =
        tests.iter().map(|(_, paired)| paired.ratio.max(1.0 / paired.ratio)).filter(|far| far.is_finite());
    let reach = reach.fold(1.3, f64::max) * 1.3;
    let axis = Axis::Log { min: 1.0 / reach, max: reach };
    let floor = TOP + tests.len() as f64 * ROW;
    let place = |value: f64| LABEL + axis.place(value.clamp(1.0 / reach, reach)) * (WIDTH - LABEL - VALUE);
    let body = html! {
        @for (value, name) in axis.ticks() {
            path.rule d=(format!("M{} {TOP}V{}", px(place(value)), px(floor))) {}
            text x=(px(place(value))) y=(px(TOP - 8.0)) text-anchor="middle" { (name) }
        }
        path.one d=(format!("M{} {TOP}V{}", px(place(1.0)), px(floor))) {}
        @for (at, (step, paired)) in tests.iter().enumerate() {
            (test(step, paired, TOP + (at as f64 + 0.5) * ROW, &place))
        }
    };
    Some(Chart { title, width: WIDTH, height: floor + 4.0, body })
}

fn test(step: &str, paired: &PairedRatio, y: f64, place: &impl Fn(f64) -> f64) -> Markup {
    let class = match direction(paired) {
        // Without an interval nothing is sure.
        _ if paired.interval.is_none() => "unclear",
        Direction::Faster => "better",
        Direction::Slower => "worse",
        Direction::Unclear => "unclear",
    };
    html! {
        text.name x="0" y=(px(y + 4.0)) { (cut(step, 30)) }
        @if let Some(interval) = paired.interval {
            path class={ "whisker " (class) } d=(format!("M{} {}H{}", px(place(interval.low)), px(y), px(place(interval.high)))) {}
        }
        circle class=(class) cx=(px(place(paired.ratio))) cy=(px(y)) r="4" {}
        text.name x=(WIDTH) y=(px(y + 4.0)) text-anchor="end" { "×" (ratio(paired.ratio)) }
    }
}
