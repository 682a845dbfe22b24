//! A report as text and tables, and functions that build its tables.

use crate::model::{Cell, Content, Matrix, Reports};
use crate::phrases;
use crate::table::{Column, Line, Shown, Table};

/// A report: a title, an explanation, remarks, and its tables.
#[derive(Debug, Default)]
pub(crate) struct Section {
    pub(crate) title: &'static str,
    pub(crate) how_to_read: Vec<String>,
    pub(crate) items: Vec<String>,
    pub(crate) tables: Vec<Table>,
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
        lines.extend(rows.iter().map(|row| test_line(&row.step, row.operation.as_str(), &row.cells, &show)));
    }
    let systems = || reports.systems.iter().map(|system| system.id.clone());
    let columns = reports
        .client_counts
        .iter()
        .flat_map(|&clients| systems().map(move |system| Column { system, clients: Some(clients) }))
        .collect();
    Table { title: String::new(), shows_operations: false, columns, lines }
}

/// A line with the cells of a test. `show` formats the measured ones.
pub(crate) fn test_line<T>(
    name: &str,
    operation: &'static str,
    cells: &[Cell<T>],
    show: &impl Fn(&Cell<T>, &T) -> Shown,
) -> Line {
    let cells = cells.iter().map(|cell| {
        let mut shown = match &cell.content {
            Content::Measured(value) => show(cell, value),
            Content::Failed => Shown::plain("failed"),
            Content::Missing => Shown::plain("missing"),
            Content::Incomparable => Shown::plain("no base"),
            Content::Unplanned => Shown::default(),
        };
        shown.note += &cell.footnote.map(phrases::reference).unwrap_or_default();
        shown
    });
    Line::Test { name: name.to_owned(), operation, cells: cells.collect() }
}
