//! A report as text and tables, and functions that build its tables.

use crate::model::{Cell, Content, Matrix, Relative, Reports, Row, System};
use crate::sections::table::{Column, Line, Shown, Table};
use crate::wording::number::counted;
use crate::wording::phrases;
use crate::wording::words;

/// A report: a title, an explanation, remarks, its tables and texts.
#[derive(Debug, Default)]
pub(crate) struct Section {
    pub(crate) title: &'static str,
    pub(crate) how_to_read: Vec<String>,
    pub(crate) items: Vec<String>,
    /// Items beyond those that everybody should read. Text counts them, and a page shows them when it is asked.
    pub(crate) more_items: Vec<String>,
    pub(crate) tables: Vec<Table>,
    pub(crate) listings: Vec<Listing>,
}

/// Texts of several lines, side by side.
#[derive(Debug)]
pub(crate) struct Listing {
    pub(crate) title: String,
    /// Each with whose it is.
    pub(crate) texts: Vec<(String, String)>,
}

/// A table with a line for each group and a column for each system.
pub(crate) fn group_table(reports: &Reports, title: &str, lines: Vec<Line>) -> Table {
    let column = |system: &crate::System| Column { system: system.id.clone(), clients: None };
    let columns = reports.systems.iter().map(column).collect();
    Table { title: title.to_owned(), shows_operations: false, columns, lines }
}

/// A matrix as text. `show` formats the measured cells.
pub(crate) fn table<T>(reports: &Reports, matrix: &Matrix<T>, show: impl Fn(&Cell<T>, &T) -> Shown) -> Table {
    let mut lines = Vec::new();
    for rows in matrix.rows.chunk_by(|a, b| a.group == b.group) {
        lines.extend(rows.first().map(|row| Line::Group(row.group.clone())));
        lines.extend(rows.iter().map(|row| test_line(&row.step, row.unit(), &row.cells, &show)));
    }
    let systems = || reports.systems.iter().map(|system| system.id.clone());
    let columns = reports
        .client_counts
        .iter()
        .flat_map(|&clients| systems().map(move |system| Column { system, clients: Some(clients) }))
        .collect();
    Table { title: String::new(), shows_operations: false, columns, lines }
}

/// A table of a step with a row for each system and a column for each client count. In a run
/// with sweeps, each is a group of rows. `cell` shows a system at a client count.
pub(crate) fn by_clients<T>(reports: &Reports, row: &Row<T>, cell: impl Fn(&System, u32) -> Shown) -> Table {
    let is_planned = |clients: &u32| {
        row.cells.iter().any(|cell| cell.clients == *clients && !matches!(cell.content, Content::Unplanned))
    };
    let clients: Vec<u32> = reports.client_counts.iter().copied().filter(is_planned).collect();
    let has_sweep = reports.systems.iter().any(|system| sweep(system).is_some());
    let mut lines = Vec::new();
    for systems in reports.systems.chunk_by(|a, b| sweep(a) == sweep(b)) {
        if has_sweep {
            lines.push(Line::Group(sweep(&systems[0]).unwrap_or("others").to_owned()));
        }
        lines.extend(systems.iter().map(|system| Line::Test {
            name: configuration_name(system),
            operation: String::new(),
            cells: clients.iter().map(|clients| cell(system, *clients)).collect(),
        }));
    }
    let columns = client_columns(&clients);
    Table { title: row.step.clone(), shows_operations: false, columns, lines }
}

/// A column for each client count.
pub(crate) fn client_columns(clients: &[u32]) -> Vec<Column> {
    let column = |clients: &u32| Column { system: counted(u64::from(*clients), "client"), clients: None };
    clients.iter().map(column).collect()
}

fn sweep(system: &System) -> Option<&str> {
    Some(&system.configuration.as_ref()?.sweep)
}

/// `instances 8, depth 4000`; of a system of no sweep, its id.
fn configuration_name(system: &System) -> String {
    match &system.configuration {
        None => system.id.clone(),
        Some(configuration) => {
            let level = |it: &dyno_store::FactorLevel| format!("{} {}", it.factor, it.level);
            configuration.levels.iter().map(level).collect::<Vec<_>>().join(", ")
        }
    }
}

/// A line with the cells of a test. `show` formats the measured ones.
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

/// A cell, without the reference to its footnote. `show` formats a measured one.
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
