//! Tables with a cell for each test and system.

use dyno_store::{Configuration, FactorLevel};

use crate::document::{Column, Line, Shown, Table};
use crate::model::{Cell, Content, Matrix, Relative, Reports, Row, System};
use crate::wording::number::counted;
use crate::wording::phrases;
use crate::wording::words;

/// A table with a line for each group and a column for each system.
pub(crate) fn group_table(reports: &Reports, title: &str, lines: Vec<Line>) -> Table {
    let columns = reports.systems.iter().map(|system| Column::of(&system.id)).collect();
    Table::of(title, columns, lines)
}

/// A matrix as text. `show` formats the measured cells.
pub(crate) fn table<T>(reports: &Reports, matrix: &Matrix<T>, show: impl Fn(&Cell<T>, &T) -> Shown) -> Table {
    let mut lines = Vec::new();
    for rows in matrix.rows.chunk_by(|a, b| a.group == b.group) {
        lines.extend(rows.first().map(|row| Line::group(&row.group)));
        lines.extend(rows.iter().map(|row| test_line(&row.step, row.unit(), &row.cells, &show)));
    }
    let systems = || reports.systems.iter().map(|system| system.id.clone());
    let columns = reports
        .client_counts
        .iter()
        .flat_map(|&clients| systems().map(move |system| Column::at(system, clients)))
        .collect();
    Table::of("", columns, lines)
}

/// A table of a step: a row for each system, a column for each client count. In a run with sweeps, each sweep is a
/// group of rows. `cell` shows a system at a client count.
pub(crate) fn by_clients<T>(reports: &Reports, row: &Row<T>, cell: impl Fn(&System, u32) -> Shown) -> Table {
    let is_planned = |clients: &u32| {
        row.cells.iter().any(|cell| cell.clients == *clients && !matches!(cell.content, Content::Unplanned))
    };
    let clients: Vec<u32> = reports.client_counts.iter().copied().filter(is_planned).collect();
    let has_sweep = reports.systems.iter().any(|system| sweep(system).is_some());
    let mut lines = Vec::new();
    for systems in reports.systems.chunk_by(|a, b| sweep(a) == sweep(b)) {
        if has_sweep {
            lines.push(Line::group(sweep(&systems[0]).unwrap_or("others")));
        }
        lines.extend(systems.iter().map(|system| {
            let cells = clients.iter().map(|clients| cell(system, *clients)).collect();
            Line::of(configuration_name(system), cells)
        }));
    }
    Table::of(&row.step, client_columns(&clients), lines)
}

/// A column for each client count.
pub(crate) fn client_columns(clients: &[u32]) -> Vec<Column> {
    clients.iter().map(|clients| Column::of(counted(u64::from(*clients), "client"))).collect()
}

fn sweep(system: &System) -> Option<&str> {
    Some(&configuration(system)?.sweep)
}

/// The levels of a system in a sweep. A control is not part of its base's sweep.
fn configuration(system: &System) -> Option<&Configuration> {
    system.configuration.as_ref().filter(|_| system.control_of.is_none())
}

/// The name of a system: `instances 8, depth 4000` in a sweep, otherwise the system's id.
fn configuration_name(system: &System) -> String {
    match configuration(system) {
        None => system.id.clone(),
        Some(configuration) => {
            let level = |it: &FactorLevel| format!("{} {}", it.factor, it.level);
            configuration.levels.iter().map(level).collect::<Vec<_>>().join(", ")
        }
    }
}

/// A line with the cells of a test. `show` formats the cells with a measurement.
pub(crate) fn test_line<T>(
    name: &str,
    operation: String,
    cells: &[Cell<T>],
    show: &impl Fn(&Cell<T>, &T) -> Shown,
) -> Line {
    let cells = cells.iter().map(|cell| {
        let mut shown = cell_shown(cell, show);
        shown.note += &cell.footnote.map(phrases::reference).unwrap_or_default();
        shown
    });
    Line::Test { name: name.to_owned(), operation, cells: cells.collect() }
}

/// A cell without the reference to its footnote. `show` formats the cell if it has a measurement.
pub(crate) fn cell_shown<T>(cell: &Cell<T>, show: impl Fn(&Cell<T>, &T) -> Shown) -> Shown {
    match &cell.content {
        Content::Measured(value) => show(cell, value),
        other => Shown::plain(phrases::content(other)),
    }
}

/// A ratio with its interval and its verdict's sign: `1.13 [1.10, 1.15] +`.
pub(crate) fn relative_shown(relative: &Relative) -> Shown {
    Shown {
        tint: relative.finding.and_then(words::tint),
        note: relative.finding.map(|finding| format!(" {}", words::mark(finding))).unwrap_or_default(),
        ..Shown::plain(words::ratio_in(relative.ratio, relative.interval))
    }
}
