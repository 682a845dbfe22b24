//! A table of text, before it is laid out for a format.

use unicode_width::UnicodeWidthStr;

/// A matrix, or one cost of it, as text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Table {
    /// What its numbers are; empty if the section's title says so.
    pub(crate) title: String,
    pub(crate) columns: Vec<Column>,
    pub(crate) lines: Vec<Line>,
}

/// What stands above a column.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Column {
    pub(crate) system: String,
    /// None if the column is not of a client count.
    pub(crate) clients: Option<u32>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Line {
    /// The name of the group that the lines below belong to.
    Group(String),
    /// A test's name, what an operation is in it, and a cell for each column.
    Test { name: String, operation: &'static str, cells: Vec<Shown> },
}

/// A cell as text.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Shown {
    pub(crate) text: String,
    /// Set only where the interval excludes "no change".
    pub(crate) tint: Option<Tint>,
}

impl Shown {
    /// A cell without a tint.
    pub(crate) fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), tint: None }
    }
}

/// Which way a sure difference goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tint {
    Better,
    Worse,
}

/// Blanks between two columns of one client count.
pub(crate) const COLUMN_GAP: usize = 2;
/// Blanks between two client counts.
pub(crate) const GROUP_GAP: usize = 4;

impl Table {
    /// Widths of the test's name, the operation, and each column.
    pub(crate) fn widths(&self) -> (usize, usize, Vec<usize>) {
        let (mut name_width, mut operation_width) = (0, 0);
        let mut widths: Vec<usize> = self.columns.iter().map(|column| column.system.width()).collect();
        for line in &self.lines {
            match line {
                Line::Group(name) => name_width = name_width.max(name.width()),
                Line::Test { name, operation, cells } => {
                    name_width = name_width.max(name.width() + 2);
                    operation_width = operation_width.max(operation.width());
                    for (width, cell) in widths.iter_mut().zip(cells) {
                        *width = (*width).max(cell.text.width());
                    }
                }
            }
        }
        (name_width, operation_width, widths)
    }

    /// Runs of columns with the same client count.
    pub(crate) fn column_groups(&self) -> impl Iterator<Item = &[Column]> {
        self.columns.chunk_by(|a, b| a.clients == b.clients)
    }

    /// Cuts the table into tables of whole client counts, as many side by side as fit the width. One client
    /// count is never cut, however wide. Tests that have nothing in a part are left out of it.
    pub(crate) fn split(&self, width_max: usize) -> Vec<Self> {
        let (name_width, operation_width, widths) = self.widths();
        let label_width = name_width + if operation_width > 0 { COLUMN_GAP + operation_width } else { 0 };
        let mut parts = Vec::new();
        let (mut start, mut end, mut part_width) = (0, 0, label_width);
        for group in self.column_groups() {
            let columns = end..end + group.len();
            let group_width: usize = columns.clone().map(|column| COLUMN_GAP + widths[column]).sum();
            if end > start && part_width + GROUP_GAP + group_width > width_max {
                parts.push(self.part(start..end));
                (start, part_width) = (end, label_width);
            }
            part_width += GROUP_GAP - COLUMN_GAP + group_width;
            end = columns.end;
        }
        parts.push(self.part(start..end));
        parts
    }

    fn part(&self, columns: std::ops::Range<usize>) -> Self {
        let mut lines: Vec<Line> = Vec::new();
        for line in &self.lines {
            if let Line::Test { name, operation, cells } = line {
                let cells = cells[columns.clone()].to_vec();
                if cells.iter().all(|cell| cell.text.is_empty()) {
                    continue;
                }
                lines.push(Line::Test { name: name.clone(), operation, cells });
            } else {
                // A group that turned out to have no test here gives way to the next.
                lines.pop_if(|last| matches!(last, Line::Group(_)));
                lines.push(line.clone());
            }
        }
        lines.pop_if(|last| matches!(last, Line::Group(_)));
        Self { title: self.title.clone(), columns: self.columns[columns].to_vec(), lines }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let column = |system: &str, clients| Column { system: system.to_owned(), clients: Some(clients) };
        let test = |name: &str, cells: [&str; 4]| Line::Test {
            name: name.to_owned(),
            operation: "query",
            cells: cells.map(Shown::plain).to_vec(),
        };
        Table {
            title: String::new(),
            columns: vec![column("a", 1), column("b", 1), column("a", 4), column("b", 4)],
            lines: vec![
                Line::Group("load".to_owned()),
                test("load", ["", "", "1,000", "1,100"]),
                Line::Group("read".to_owned()),
                test("scan", ["10.0", "11.0", "20.0", "21.0"]),
            ],
        }
    }

    #[test]
    fn a_table_that_fits_stays_whole() {
        // "  load  query" + 4 columns of 4 to 5 characters, with their gaps.
        let width = 13 + (4 + 4 + 2 + 4) + (4 + 5 + 2 + 5);
        assert_eq!(table().split(width), vec![table()]);
        assert_eq!(table().split(width - 1).len(), 2);
    }

    #[test]
    fn parts_leave_out_tests_and_groups_that_have_nothing_there() {
        let parts = table().split(0);
        assert_eq!(parts.len(), 2);
        assert_eq!(parts[0].lines.len(), 2);
        assert_eq!(parts[0].lines[0], Line::Group("read".to_owned()));
        assert_eq!(parts[1].lines.len(), 4);
        assert!(parts[1].columns.iter().all(|column| column.clients == Some(4)));
    }
}
