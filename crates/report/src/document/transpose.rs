//! Transposes tables with many systems, so that each system has a line.

use crate::document::{Column, Line, Shown, Table};

impl Table {
    /// Splits the table into parts that fit a width. If the systems of one client count do not fit side by side, and
    /// the transposed table needs fewer lines, splits the transposed table instead.
    pub(crate) fn fitting(&self, width_max: usize) -> Vec<Self> {
        let parts = self.split(width_max);
        if self.has_tests_as_groups() || parts.len() <= self.column_groups().count() {
            return parts;
        }
        let turned = self.turned().split(width_max);
        if height(&turned) < height(&parts) { turned } else { parts }
    }

    /// Whether groups of lines stand for tests, as in ladders. Such a table is not transposed: a transposed table has
    /// no groups, so it would not show the names of the tests.
    fn has_tests_as_groups(&self) -> bool {
        self.columns.iter().all(|column| column.clients.is_none())
            && self.lines.iter().any(|line| matches!(line, Line::Group { .. }))
    }

    /// The transposed table: a line for each system, a column for each test and client count. It has no groups.
    fn turned(&self) -> Self {
        let mut systems: Vec<&str> = Vec::new();
        for column in &self.columns {
            if !systems.contains(&column.system.as_str()) {
                systems.push(&column.system);
            }
        }
        let mut columns = Vec::new();
        let mut lines: Vec<Vec<Shown>> = vec![Vec::new(); systems.len()];
        for group in self.column_groups() {
            let clients = group[0].clients;
            for (name, operation, cells) in self.lines.iter().filter_map(test) {
                let of = |system: &str| {
                    let at = self.columns.iter().position(|it| it.system == system && it.clients == clients);
                    at.and_then(|at| cells.get(at)).cloned().unwrap_or_default()
                };
                let found: Vec<Shown> = systems.iter().map(|system| of(system)).collect();
                if found.iter().any(|cell| !cell.text.is_empty()) {
                    columns.push(Column { clients, ..Column::of(self.test_head(name, operation)) });
                    lines.iter_mut().zip(found).for_each(|(line, cell)| line.push(cell));
                }
            }
        }
        let lines = systems.into_iter().zip(lines).map(|(system, cells)| Line::of(system, cells));
        Self::of(&self.title, columns, lines.collect())
    }

    /// The head of a test's column: `update-one, query`.
    fn test_head(&self, name: &str, operation: &str) -> String {
        if self.shows_operations && !operation.is_empty() {
            format!("{name}, {operation}")
        } else {
            name.to_owned()
        }
    }
}

fn test(line: &Line) -> Option<(&str, &str, &[Shown])> {
    match line {
        Line::Group { .. } => None,
        Line::Test { name, operation, cells } => Some((name, operation, cells)),
    }
}

/// Number of lines of some tables, with heads and a blank line before each.
fn height(tables: &[Table]) -> usize {
    tables.iter().map(|table| table.lines.len() + 3).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(systems: usize) -> Table {
        let column = |clients: u32, at: usize| Column::at(format!("system-{at}"), clients);
        let columns =
            [8, 256].iter().flat_map(|clients| (0..systems).map(|at| column(*clients, at))).collect();
        let cells =
            |first: usize| (first..first + 2 * systems).map(|at| Shown::plain(at.to_string())).collect();
        let test =
            |name: &str, cells| Line::Test { name: name.to_owned(), operation: "query".to_owned(), cells };
        let mut load: Vec<Shown> = vec![Shown::default(); 2 * systems];
        load[0] = Shown::plain("9");
        let lines = vec![Line::group("updates"), test("update", cells(0)), test("load", load)];
        Table { shows_operations: true, ..Table::of("", columns, lines) }
    }

    #[test]
    fn few_systems_stay_side_by_side() {
        let parts = table(3).fitting(80);
        assert_eq!(parts, table(3).split(80));
    }

    #[test]
    fn many_systems_have_a_line_each_with_a_column_for_each_test_at_each_client_count() {
        let parts = table(13).fitting(80);
        assert_eq!(parts.len(), 1);
        let heads: Vec<_> =
            parts[0].columns.iter().map(|column| (column.system.as_str(), column.clients)).collect();
        assert_eq!(
            heads,
            [("update, query", Some(8)), ("load, query", Some(8)), ("update, query", Some(256))]
        );
        let Line::Test { name, cells, .. } = &parts[0].lines[1] else { panic!("{:?}", parts[0]) };
        let texts: Vec<&str> = cells.iter().map(|cell| cell.text.as_str()).collect();
        assert_eq!((name.as_str(), texts), ("system-1", vec!["1", "", "14"]));
        assert_eq!(parts[0].lines.len(), 13);
    }

    #[test]
    fn lines_that_need_their_group_keep_it() {
        let mut ladder = table(13);
        for column in &mut ladder.columns {
            column.clients = None;
        }
        let parts = ladder.fitting(80);
        assert!(parts.len() > 1);
        assert!(parts.iter().all(|part| part.lines[0] == Line::group("updates")), "{parts:?}");
    }
}
