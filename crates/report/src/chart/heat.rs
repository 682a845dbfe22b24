//! A matrix as a strip of coloured cells.

use maud::html;

use super::{Chart, px};
use crate::html::View;
use crate::model::Reports;
use crate::wording::number::counted;

const LABEL: f64 = 190.0;
const CELL: f64 = 74.0;
const ROW: f64 = 22.0;
/// Height of a line of column heads, in pixels. One line has the systems. If there are several client counts, a line
/// above it has the client counts.
const HEAD: f64 = 20.0;

/// Draws the cells of the reports' matrices, with the content of `views`.
pub(crate) fn heat(title: String, reports: &Reports, views: &[Vec<View>]) -> Chart {
    let systems = reports.systems.len();
    let columns = systems * reports.client_counts.len();
    let across = |column: usize| LABEL + column as f64 * CELL + (column / systems.max(1)) as f64 * 8.0;
    let rows: Vec<_> = reports.relative.rows.iter().zip(views).enumerate().collect();
    let has_levels = reports.client_counts.len() > 1;
    let head = if has_levels { 2.0 * HEAD } else { HEAD };
    let down = |row: usize| head + row as f64 * ROW;
    let body = html! {
        @for (level, clients) in reports.client_counts.iter().enumerate() {
            @if has_levels {
                text x=(px(across(level * systems) + CELL * systems as f64 / 2.0)) y="12" text-anchor="middle" { (counted(u64::from(*clients), "client")) }
            }
            @for (at, system) in reports.systems.iter().enumerate() {
                text.name x=(px(across(level * systems + at) + CELL / 2.0)) y=(px(head - 8.0)) text-anchor="middle" { (cut(&system.id, 12)) }
            }
        }
        @for (at, (row, views)) in &rows {
            text.name x="0" y=(px(down(*at) + 15.0)) { (cut(&row.step, 30)) }
            @for (column, view) in views.iter().enumerate().filter(|(_, view)| !view.main.is_empty()) {
                rect class=(format!("tint{}", view.tint)) x=(px(across(column))) y=(px(down(*at))) width=(CELL - 2.0) height=(ROW - 2.0) rx="2" {}
                text.name x=(px(across(column) + CELL / 2.0 - 1.0)) y=(px(down(*at) + 14.5)) text-anchor="middle" { (view.main) @if !view.mark.is_empty() { " " (view.mark) } }
            }
        }
    };
    Chart { title, width: across(columns.saturating_sub(1)) + CELL, height: down(rows.len()), body }
}

/// Shortens a name to `letters` letters, with an ellipsis if it was longer.
pub(crate) fn cut(name: &str, letters: usize) -> String {
    if name.chars().count() <= letters {
        return name.to_owned();
    }
    name.chars().take(letters - 1).chain(['…']).collect()
}
