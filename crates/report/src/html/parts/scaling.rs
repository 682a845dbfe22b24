//! Throughput against concurrency: a small chart for each test.

use maud::{Markup, html};

use crate::chart::{Axis, Chart, Line, LineChart, colour};
use crate::model::{Rate, Reports, Row};

/// A curve that was fitted to a system's throughput in a step, for example the universal scalability law.
#[derive(Clone, Debug, PartialEq)]
pub struct ScalingCurve {
    pub step: String,
    pub system: String,
    /// Points of the curve: number of clients, and operations per second.
    pub points: Vec<(f64, f64)>,
    /// A short description of the fit.
    pub says: String,
}

/// The charts; empty if every test ran at one client count.
pub(crate) fn section(reports: &Reports, curves: &[ScalingCurve]) -> Markup {
    let rows: Vec<(&Row<Rate>, Chart)> = reports
        .absolute
        .rows
        .iter()
        .filter_map(|row| Some((row, chart(reports, row, curves, 300.0, 180.0)?)))
        .collect();
    html! {
        @if !rows.is_empty() {
            section #scaling {
                h2 { "Throughput against concurrency" }
                p.how { "Operations per second over client connections, median of the rounds." }
                (legend(reports))
                div.multiples {
                    @for (row, chart) in &rows {
                        figure data-group=(row.group) {
                            figcaption { (row.step) }
                            (chart.inline())
                            @for curve in curves.iter().filter(|curve| curve.step == row.step && !curve.says.is_empty()) {
                                p.fine { (curve.system) ": " (curve.says) }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The systems with their colours.
pub(crate) fn legend(reports: &Reports) -> Markup {
    html! {
        ul.legend {
            @for (at, system) in reports.systems.iter().enumerate() {
                li { span class=(format!("swatch {}", colour(at))) {} (system.id) }
            }
        }
    }
}

/// The chart of a test; `None` if fewer than two client counts were measured.
pub(crate) fn chart(
    reports: &Reports,
    row: &Row<Rate>,
    curves: &[ScalingCurve],
    width: f64,
    height: f64,
) -> Option<Chart> {
    let mut lines = Vec::new();
    for (at, system) in reports.systems.iter().enumerate() {
        let of_system = row.cells.iter().filter(|cell| cell.system == system.id);
        let points: Vec<(f64, f64)> = of_system
            .filter_map(|cell| Some((f64::from(cell.clients), cell.value()?.operations_per_second)))
            .collect();
        let curve = curves.iter().find(|curve| curve.step == row.step && curve.system == system.id);
        if let Some(curve) = curve {
            lines.push(Line { series: at, points: curve.points.clone(), has_dots: false, is_dashed: true });
        }
        lines.push(Line { series: at, points, has_dots: true, is_dashed: false });
    }
    let points: Vec<(f64, f64)> = lines.iter().flat_map(|line| line.points.iter().copied()).collect();
    let points = || points.iter().copied();
    let mut clients: Vec<u32> = points().map(|(x, _)| x as u32).collect();
    clients.sort_unstable();
    clients.dedup();
    let counts: Vec<u32> =
        reports.client_counts.iter().copied().filter(|count| clients.contains(count)).collect();
    (counts.len() > 1).then(|| {
        LineChart {
            title: format!("{}: operations per second against clients", row.step),
            width,
            height,
            x: Axis::logarithmic(points().map(|(x, _)| x)),
            y: Axis::from_zero(points().map(|(_, y)| y)),
            units: ["clients", "operations/s"],
            x_ticks: counts.iter().map(|count| (f64::from(*count), count.to_string())).collect(),
            marks: Vec::new(),
            lines,
        }
        .draw()
    })
}
