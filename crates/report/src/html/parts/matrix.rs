//! A matrix as a table. The table is complete even without the script. The script replaces the numbers when the
//! reader chooses another base.

use maud::{Markup, html};

use crate::chart::colour;
use crate::html::parts::contents::Page;
use crate::html::parts::views::View;
use crate::model::{Cell, Content, Matrix, Row};
use crate::wording::number::counted;
use crate::wording::phrases;

/// The table of a matrix. The script identifies it by `name`.
pub(crate) fn table<T>(
    page: &Page<'_>,
    name: &str,
    caption: &str,
    matrix: &Matrix<T>,
    views: &[Vec<View>],
) -> Markup {
    let rows: Vec<(&Row<T>, &Vec<View>)> = matrix.rows.iter().zip(views).collect();
    html! {
        div.scroll tabindex="-1" {
            table.matrix data-matrix=(name) {
                caption.hidden-text { (caption) }
                (head(page))
                @for group in rows.chunk_by(|a, b| a.0.group == b.0.group) {
                    tbody data-group=(group[0].0.group) {
                        tr.group {
                            th scope="rowgroup" colspan=(page.columns() + 1) { (group[0].0.group) }
                        }
                        @for (row, views) in group { (line(page, row, views)) }
                    }
                }
            }
        }
    }
}

fn head(page: &Page<'_>) -> Markup {
    let systems = &page.reports.systems;
    html! {
        thead {
            @if page.reports.client_counts.len() > 1 {
                tr {
                    td {}
                    @for clients in &page.reports.client_counts {
                        th.clients scope="colgroup" colspan=(systems.len()) data-clients=(clients) {
                            (counted(u64::from(*clients), "client"))
                        }
                    }
                }
            }
            tr {
                th.test scope="col" { "test" }
                @for clients in &page.reports.client_counts {
                    @for (at, system) in systems.iter().enumerate() {
                        th scope="col" data-clients=(clients) data-system=(system.id) data-base[system.is_base] {
                            span class=(format!("swatch {}", colour(at))) {}
                            span.id { (system.id) }
                        }
                    }
                }
            }
        }
    }
}

fn line<T>(page: &Page<'_>, row: &Row<T>, views: &[View]) -> Markup {
    html! {
        tr {
            th.test scope="row" {
                (row.step)
                " " span.unit { (row.unit()) }
            }
            @for (cell, view) in row.cells.iter().zip(views) { (datum(page, row, cell, view)) }
        }
    }
}

fn datum<T>(page: &Page<'_>, row: &Row<T>, cell: &Cell<T>, view: &View) -> Markup {
    let is_open = !matches!(cell.content, Content::Unplanned | Content::Missing);
    let is_unsustained = page.is_unsustained(&row.step, cell.clients, &cell.system);
    html! {
        td data-tint=[(view.tint != 0).then_some(view.tint)] data-unsustained[is_unsustained] {
            @if is_open {
                a {
                    b { (view.main) }
                    @let beside = view.beside();
                    @if !beside.is_empty() { i { (beside) } }
                    @if let Some(number) = cell.footnote { sup { (phrases::reference(number).trim()) } }
                }
            } @else {
                span.none { (view.main) }
            }
        }
    }
}
