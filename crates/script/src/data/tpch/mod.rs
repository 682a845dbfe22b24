//! Rows of the TPC-H tables, as values of INSERT statements or as lines. The crate `tpchgen` generates them.

mod table;
mod values;

use std::fmt;

use crate::data::bulk::Bulk;

pub(crate) use values::Form;

/// Writes the next row of a table. Returns false after the last row.
type Writer = Box<dyn FnMut(&mut Vec<u8>) -> bool>;

/// The sources of rows that scripts are inserting. A source is identified by its number.
#[derive(Debug, Default)]
pub(crate) struct Sources {
    sources: Vec<Option<Source>>,
}

impl Sources {
    /// Starts to insert the rows of one part of a table. Returns the number of their source.
    ///
    /// # Errors
    /// There is no such table, scale factor or part. The error says what is valid.
    pub(crate) fn begin(
        &mut self,
        table: &str,
        scale_factor: f64,
        (part, parts): (i64, i64),
        form: Form,
    ) -> Result<usize, String> {
        if !(scale_factor.is_finite() && scale_factor > 0.0) {
            return Err(format!("the scale factor must be above 0, not {scale_factor}"));
        }
        let parts_of = |number: i64| i32::try_from(number).ok().filter(|number| *number > 0);
        let (Some(part), Some(parts)) =
            (parts_of(part), parts_of(parts).filter(|parts| i64::from(*parts) >= part))
        else {
            return Err(format!("there is no part {part} of {parts}"));
        };
        let write = table::writer(table, scale_factor, (part, parts), form)
            .ok_or_else(|| format!("TPC-H has no table '{table}'; it has {}", table::NAMES.join(", ")))?;
        self.sources.push(Some(Source { write, row: Vec::new(), waits: false }));
        Ok(self.sources.len() - 1)
    }

    /// The source with this number; `None` if there is no such source, or it has ended.
    pub(crate) fn at(&mut self, number: usize) -> Option<&mut Source> {
        self.sources.get_mut(number)?.as_mut()
    }

    pub(crate) fn end(&mut self, number: usize) {
        if let Some(source) = self.sources.get_mut(number) {
            *source = None;
        }
    }
}

/// Rows that are being inserted.
pub(crate) struct Source {
    write: Writer,
    /// The row that was generated most recently.
    row: Vec<u8>,
    /// Whether `row` did not fit into the previous statement, so that the next statement begins with it.
    waits: bool,
}

impl Source {
    /// Adds rows to a statement. Returns true if the statement is full, and false after the last row.
    pub(crate) fn fill(&mut self, bulk: &mut Bulk) -> bool {
        loop {
            if !self.waits {
                self.row.clear();
                if !(self.write)(&mut self.row) {
                    return false;
                }
            }
            self.waits = !bulk.add(&self.row);
            if self.waits {
                return true;
            }
        }
    }
}

impl fmt::Debug for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Source").field("waits", &self.waits).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn statements(table: &str, scale_factor: f64, part: i64, parts: i64) -> Vec<String> {
        in_form(Form::Sql, table, scale_factor, (part, parts))
    }

    fn in_form(form: Form, table: &str, scale_factor: f64, part: (i64, i64)) -> Vec<String> {
        let mut sources = Sources::default();
        let number = sources.begin(table, scale_factor, part, form).unwrap();
        let mut bulk = Bulk::default();
        bulk.begin(b"INSERT INTO t VALUES", form == Form::Line);
        let mut statements = Vec::new();
        loop {
            let is_full = sources.at(number).unwrap().fill(&mut bulk);
            statements.push(String::from_utf8(bulk.text.clone()).unwrap());
            bulk.sent = true;
            if !is_full {
                return statements;
            }
        }
    }

    fn rows(statements: &[String]) -> usize {
        statements.iter().map(|sql| sql.matches("),(").count() + 1).sum()
    }

    #[test]
    fn rows_are_those_of_dbgen() {
        // The first rows at scale factor 1, as in the documentation of dbgen, the specification's own generator.
        let lineitem = &statements("lineitem", 0.001, 1, 1)[0];
        assert!(
            lineitem.starts_with(
                "INSERT INTO t VALUES (1,156,4,1,17,17954.55,0.04,0.02,'N','O','1996-03-13','1996-02-12',\
                 '1996-03-22','DELIVER IN PERSON','TRUCK','egular courts above the'),(1,"
            ),
            "{}",
            &lineitem[..200]
        );
        let nation = &statements("nation", 1.0, 1, 1)[0];
        assert!(nation.contains("(24,'UNITED STATES',1,'"), "{nation}");
    }

    #[test]
    fn lines_have_the_same_values() {
        let region = &in_form(Form::Line, "region", 1.0, (1, 1))[0];
        let lines: Vec<&str> = region.lines().collect();
        assert_eq!(lines.len(), 5);
        assert!(lines[0].starts_with("INSERT INTO t VALUES 0|AFRICA|lar deposits."), "{region}");
        assert!(lines[4].starts_with("4|MIDDLE EAST|") && region.ends_with('\n'));
    }

    #[test]
    fn parts_together_have_all_rows_and_statements_are_cut() {
        for (table, count) in
            [("region", 5), ("nation", 25), ("supplier", 100), ("part", 2000), ("orders", 15000)]
        {
            assert_eq!(rows(&statements(table, 0.01, 1, 1)), count, "{table}");
            let parted: usize = (1..=3).map(|part| rows_of_part(table, part)).sum();
            assert_eq!(parted, count, "{table}");
        }
        let orders = statements("orders", 0.01, 1, 1);
        assert!(orders.len() > 1 && orders.iter().all(|sql| sql.len() < 600_000));
    }

    /// Number of rows in one of three parts of a table. A part without rows leaves the statement empty.
    fn rows_of_part(table: &str, part: i64) -> usize {
        let statements = statements(table, 0.01, part, 3);
        if statements[0].ends_with("VALUES ") { 0 } else { rows(&statements) }
    }

    #[test]
    fn what_is_not_there_is_told() {
        let mut sources = Sources::default();
        let mut error =
            |table, scale_factor, part| sources.begin(table, scale_factor, part, Form::Sql).unwrap_err();
        assert_eq!(
            error("line", 1.0, (1, 1)),
            "TPC-H has no table 'line'; it has region, nation, part, supplier, partsupp, customer, orders, lineitem"
        );
        assert_eq!(error("part", 0.0, (1, 1)), "the scale factor must be above 0, not 0");
        assert_eq!(error("part", 1.0, (3, 2)), "there is no part 3 of 2");
    }
}
