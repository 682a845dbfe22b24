//! A table of text, independent of the format.

use dyno_printable::printable;
use unicode_width::UnicodeWidthStr;

use crate::wording::number::counted;

/// A table of text, such as a matrix.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Table {
    /// The quantity that the table shows; empty if the section's title names it.
    pub(crate) title: String,
    /// The head of the column of names; empty if this column needs no head.
    pub(crate) head: String,
    /// Whether each test shows its kind of operation.
    pub(crate) shows_operations: bool,
    pub(crate) columns: Vec<Column>,
    pub(crate) lines: Vec<Line>,
}

impl Table {
    /// A table without a head for the column of names, and without kinds of operations.
    pub(crate) fn of(title: impl Into<String>, columns: Vec<Column>, lines: Vec<Line>) -> Self {
        Self { title: title.into(), columns, lines, ..Self::default() }
    }

    /// A table whose columns do not stand for systems.
    pub(crate) fn plain(title: impl Into<String>, heads: &[&str], lines: Vec<Line>) -> Self {
        Self::of(title, heads.iter().copied().map(Column::of).collect(), lines)
    }

    /// The same table with all text escaped. Escapes change widths, so widths must be computed from the escaped table.
    pub(crate) fn printable(&self) -> Self {
        let text = |text: &str| printable(text).into_owned();
        let shown = |cell: &Shown| Shown { text: text(&cell.text), note: text(&cell.note), tint: cell.tint };
        let cells = |cells: &[Shown]| cells.iter().map(shown).collect();
        let line = |line: &Line| match line {
            Line::Group { name, cells: of_group } => Line::Group { name: text(name), cells: cells(of_group) },
            Line::Test { name, operation, cells: of_test } => {
                Line::Test { name: text(name), operation: text(operation), cells: cells(of_test) }
            }
        };
        let column = |column: &Column| Column { system: text(&column.system), ..*column };
        Self {
            title: text(&self.title),
            head: text(&self.head),
            shows_operations: self.shows_operations,
            columns: self.columns.iter().map(column).collect(),
            lines: self.lines.iter().map(line).collect(),
        }
    }
}

/// A column's head.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Column {
    pub(crate) system: String,
    /// `None` if the column belongs to no client count.
    pub(crate) clients: Option<u32>,
    /// Whether the cells are words. Words are aligned to the left and may exceed the table's width.
    pub(crate) is_words: bool,
}

impl Column {
    /// A column that belongs to no client count.
    pub(crate) fn of(head: impl Into<String>) -> Self {
        Self { system: head.into(), clients: None, is_words: false }
    }

    /// A column of a system at a client count.
    pub(crate) fn at(system: impl Into<String>, clients: u32) -> Self {
        Self { clients: Some(clients), ..Self::of(system) }
    }

    pub(crate) fn of_words(head: impl Into<String>) -> Self {
        Self { is_words: true, ..Self::of(head) }
    }

    /// The head above the columns of a client count: ` 4 clients `; empty if there is none.
    pub(crate) fn clients_head(&self) -> String {
        self.clients.map(|clients| format!(" {} ", counted(u64::from(clients), "client"))).unwrap_or_default()
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Line {
    /// The head of a group of lines. If there are figures for the whole group, `cells` has one cell for each column.
    /// Otherwise `cells` is empty.
    Group { name: String, cells: Vec<Shown> },
    /// A test with its kind of operation and a cell for each column.
    Test { name: String, operation: String, cells: Vec<Shown> },
}

impl Line {
    /// A group without figures for the whole group.
    pub(crate) fn group(name: impl Into<String>) -> Self {
        Self::Group { name: name.into(), cells: Vec::new() }
    }

    /// A line without a kind of operation.
    pub(crate) fn of(name: impl Into<String>, cells: Vec<Shown>) -> Self {
        Self::Test { name: name.into(), operation: String::new(), cells }
    }

    /// A line whose cells have no notes and no tints.
    pub(crate) fn plain<const N: usize>(name: impl Into<String>, cells: [String; N]) -> Self {
        Self::of(name, cells.map(Shown::plain).to_vec())
    }
}

/// A cell as text.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Shown {
    pub(crate) text: String,
    /// A verdict's sign and the reference to a footnote: ` + (1)`. The note is separate from the text, so that numbers
    /// are aligned.
    pub(crate) note: String,
    /// The direction of the verdict; `None` for a cell without a verdict of better or worse.
    pub(crate) tint: Option<Tint>,
}

impl Shown {
    /// A cell without a note and without a tint.
    pub(crate) fn plain(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }
}

/// The direction of a verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tint {
    Better,
    Worse,
}

/// Number of spaces between two columns of one client count.
pub(crate) const COLUMN_GAP: usize = 2;
/// Number of spaces between the columns of two client counts.
pub(crate) const GROUP_GAP: usize = 4;
/// Number of spaces before the name of a test below its group.
pub(crate) const TEST_INDENT: usize = 2;

/// Widths of the parts of a table's lines, in characters.
pub(crate) struct Widths {
    pub(crate) name: usize,
    pub(crate) operation: usize,
    pub(crate) columns: Vec<ColumnWidth>,
}

/// Widths of the two parts of a column's cells: the text, aligned to the right, and the note.
#[derive(Clone, Copy)]
pub(crate) struct ColumnWidth {
    pub(crate) text: usize,
    pub(crate) note: usize,
}

impl Widths {
    /// The width of a test's name with its operation.
    pub(crate) fn label(&self) -> usize {
        self.name + if self.operation > 0 { COLUMN_GAP + self.operation } else { 0 }
    }

    /// Total width of some columns.
    pub(crate) fn of_columns(&self, columns: std::ops::Range<usize>) -> usize {
        let gaps = COLUMN_GAP * (columns.len() - 1);
        self.columns[columns].iter().map(|column| column.text + column.note).sum::<usize>() + gaps
    }
}

impl Table {
    /// Widths of the name, the operation (0 if not shown), and each column.
    pub(crate) fn widths(&self) -> Widths {
        let columns = self.columns.iter().map(|column| ColumnWidth { text: column.system.width(), note: 0 });
        let mut widths = Widths { name: self.head.width(), operation: 0, columns: columns.collect() };
        for line in &self.lines {
            let (name, cells) = match line {
                Line::Group { name, cells } => (name.width(), cells),
                Line::Test { name, operation, cells } => {
                    if self.shows_operations {
                        widths.operation = widths.operation.max(operation.width());
                    }
                    (TEST_INDENT + name.width(), cells)
                }
            };
            widths.name = widths.name.max(name);
            for (width, cell) in widths.columns.iter_mut().zip(cells) {
                width.text = width.text.max(cell.text.width());
                width.note = width.note.max(cell.note.width());
            }
        }
        self.widen_for_clients(&mut widths);
        widths
    }

    /// If the columns of a client count are narrower than the head above them, widens the first of these columns.
    fn widen_for_clients(&self, widths: &mut Widths) {
        let mut start = 0;
        for group in self.column_groups() {
            let head = group[0].clients_head().width();
            let missing = head.saturating_sub(widths.of_columns(start..start + group.len()));
            widths.columns[start].text += missing;
            start += group.len();
        }
    }

    /// Groups of neighbouring columns with the same client count.
    pub(crate) fn column_groups(&self) -> impl Iterator<Item = &[Column]> {
        self.columns.chunk_by(|a, b| a.clients == b.clients)
    }

    /// Splits the table into one table for each client count. If there are several client counts, the title of each
    /// table names its client count.
    pub(crate) fn by_client_count(&self) -> Vec<Self> {
        let groups: Vec<&[Column]> = self.column_groups().collect();
        let mut start = 0;
        let mut tables = Vec::new();
        for group in &groups {
            let mut table = self.part(start..start + group.len());
            table.columns.iter_mut().for_each(|column| column.clients = None);
            if groups.len() > 1 {
                group[0].clients_head().trim().clone_into(&mut table.title);
            }
            tables.push(table);
            start += group.len();
        }
        tables
    }

    /// Splits the table into tables that fit the width. The columns of a client count stay in one table if they fit. If
    /// they are too wide, they are split by system, with at least one system per table. Each table leaves out the tests
    /// that have no content in the table's columns.
    pub(crate) fn split(&self, width_max: usize) -> Vec<Self> {
        let mut widths = self.widths();
        for (width, column) in widths.columns.iter_mut().zip(&self.columns).filter(|(_, it)| it.is_words) {
            *width = ColumnWidth { text: column.system.width(), note: 0 };
        }
        let room = width_max.saturating_sub(widths.label() + COLUMN_GAP);
        let mut parts = Vec::new();
        let (mut start, mut end, mut part_width) = (0, 0, 0);
        for piece in self.pieces(&widths, room) {
            let piece_width = widths.of_columns(piece.clone());
            if end > start && part_width + GROUP_GAP + piece_width > room {
                parts.push(self.part(start..end));
                start = end;
            }
            part_width = if end == start { piece_width } else { part_width + GROUP_GAP + piece_width };
            end = piece.end;
        }
        parts.push(self.part(start..end));
        parts
    }

    /// Ranges of columns that must stay together: one range for each client count, or several ranges if the columns of
    /// the client count are together wider than `room`.
    fn pieces(&self, widths: &Widths, room: usize) -> Vec<std::ops::Range<usize>> {
        let mut pieces = Vec::new();
        let mut end = 0;
        for group in self.column_groups() {
            let (mut start, group_end) = (end, end + group.len());
            for column in start + 1..group_end {
                if widths.of_columns(start..group_end) > room && widths.of_columns(start..column + 1) > room {
                    pieces.push(start..column);
                    start = column;
                }
            }
            pieces.push(start..group_end);
            end = group_end;
        }
        pieces
    }

    fn part(&self, columns: std::ops::Range<usize>) -> Self {
        let mut lines: Vec<Line> = Vec::new();
        for line in &self.lines {
            match line {
                Line::Test { name, operation, cells } => {
                    let cells = cells[columns.clone()].to_vec();
                    if cells.iter().all(|cell| cell.text.is_empty()) {
                        continue;
                    }
                    lines.push(Line::Test { name: name.clone(), operation: operation.clone(), cells });
                }
                Line::Group { name, cells } => {
                    // Removes the previous group's head if this part has no test of that group.
                    lines.pop_if(|last| matches!(last, Line::Group { .. }));
                    let cells = cells.get(columns.clone()).unwrap_or_default().to_vec();
                    lines.push(Line::Group { name: name.clone(), cells });
                }
            }
        }
        lines.pop_if(|last| matches!(last, Line::Group { .. }));
        Self {
            title: self.title.clone(),
            head: self.head.clone(),
            shows_operations: self.shows_operations,
            columns: self.columns[columns].to_vec(),
            lines,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let test = |name: &str, cells: [&str; 4]| Line::Test {
            name: name.to_owned(),
            operation: "query".to_owned(),
            cells: cells.map(Shown::plain).to_vec(),
        };
        let columns = vec![Column::at("a", 1), Column::at("b", 1), Column::at("a", 4), Column::at("b", 4)];
        let lines = vec![
            Line::group("load"),
            test("load", ["", "", "1,000", "1,100"]),
            Line::group("read"),
            test("scan", ["10.0", "11.0", "20.0", "21.0"]),
        ];
        Table { shows_operations: true, ..Table::of("", columns, lines) }
    }

    #[test]
    fn a_table_that_fits_stays_whole() {
        // " load query" + 4 columns of 4 to 5 characters, with their gaps.
        let width = 13 + (2 + 4 + 2 + 4) + (4 + 5 + 2 + 5);
        assert_eq!(table().split(width), vec![table()]);
        assert_eq!(table().split(width - 1).len(), 2);
    }

    #[test]
    fn a_client_count_that_is_too_wide_is_cut_between_systems() {
        let parts = table().split(0);
        assert_eq!(parts.len(), 4);
        assert!(parts.iter().all(|part| part.columns.len() == 1));
    }

    #[test]
    fn parts_leave_out_tests_and_groups_that_have_nothing_there() {
        let parts = table().split(30);
        assert_eq!(parts.len(), 2);
        assert_eq!(parts[0].lines.len(), 2);
        assert_eq!(parts[0].lines[0], Line::group("read"));
        assert_eq!(parts[1].lines.len(), 4);
        assert!(parts[1].columns.iter().all(|column| column.clients == Some(4)));
    }

    #[test]
    fn each_client_count_has_a_table_of_its_tests() {
        let tables = table().by_client_count();
        let titles: Vec<&str> = tables.iter().map(|table| table.title.as_str()).collect();
        assert_eq!(titles, ["1 client", "4 clients"]);
        assert!(tables.iter().flat_map(|table| &table.columns).all(|column| column.clients.is_none()));
        assert_eq!(tables[0].lines.len(), 2, "load has 4 clients only");
        let one = &tables[1];
        assert_eq!(one.by_client_count(), std::slice::from_ref(one), "its title stays");
    }

    #[test]
    fn words_may_go_on_beyond_the_width_beside_their_figures() {
        let columns = vec![Column::of("rate"), Column::of_words("verdict")];
        let table = Table::of("", columns, vec![Line::plain("scan", ["1".to_owned(), "x".repeat(200)])]);
        assert_eq!(table.split(60), vec![table]);
    }
}
