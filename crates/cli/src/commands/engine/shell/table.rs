//! Formats a result as text.

use comfy_table::Table;
use comfy_table::presets::ASCII_MARKDOWN;
use dyno_engine::ResultSet;

/// Formats a result as a table if `for_people`, and otherwise as lines whose fields are separated by tabs.
pub(super) fn text(result: &ResultSet, for_people: bool) -> String {
    match (result.columns.is_empty(), for_people) {
        (true, true) => format!("{} rows changed\n", result.affected_rows),
        (true, false) => String::new(),
        (false, true) => table(result),
        (false, false) => lines(result),
    }
}

fn table(result: &ResultSet) -> String {
    let mut table = Table::new();
    table.load_style(ASCII_MARKDOWN).set_header(&result.columns);
    table.add_rows(result.rows.iter().map(|row| fields(row)));
    format!("{table}\n{} rows\n", result.rows.len())
}

fn lines(result: &ResultSet) -> String {
    let header = result.columns.join("\t");
    let rows = result.rows.iter().map(|row| fields(row).collect::<Vec<_>>().join("\t"));
    std::iter::once(header).chain(rows).map(|line| line + "\n").collect()
}

/// The fields of a row. SQL's NULL becomes the text NULL, as in the servers' own clients.
fn fields(row: &[Option<String>]) -> impl Iterator<Item = &str> {
    row.iter().map(|field| field.as_deref().unwrap_or("NULL"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result() -> ResultSet {
        ResultSet {
            columns: vec!["id".to_owned(), "c".to_owned()],
            rows: vec![vec![Some("1".to_owned()), None], vec![Some("2".to_owned()), Some("x".to_owned())]],
            affected_rows: 0,
        }
    }

    #[test]
    fn programs_get_fields_with_tabs_between() {
        assert_eq!(text(&result(), false), "id\tc\n1\tNULL\n2\tx\n");
        let changed = ResultSet { affected_rows: 3, ..ResultSet::default() };
        assert_eq!(text(&changed, false), "");
    }

    #[test]
    fn people_get_a_table() {
        assert_eq!(
            text(&result(), true),
            "| id | c    |\n|----|------|\n| 1  | NULL |\n| 2  | x    |\n2 rows\n"
        );
        let changed = ResultSet { affected_rows: 3, ..ResultSet::default() };
        assert_eq!(text(&changed, true), "3 rows changed\n");
    }
}
