//! Builds a row to insert.

use rusqlite::types::Value;
use rusqlite::{Transaction, params_from_iter};

/// A row to insert, column by column.
#[derive(Default)]
pub(crate) struct Row {
    columns: Vec<&'static str>,
    values: Vec<Value>,
}

impl Row {
    pub(crate) fn set(&mut self, column: &'static str, value: impl Into<Value>) {
        self.columns.push(column);
        self.values.push(value.into());
    }

    pub(crate) fn set_all(&mut self, columns: &[&'static str], values: impl IntoIterator<Item = Value>) {
        self.columns.extend(columns);
        self.values.extend(values);
    }

    pub(crate) fn insert(self, transaction: &Transaction<'_>, table: &str) -> rusqlite::Result<()> {
        let places = vec!["?"; self.columns.len()].join(", ");
        let sql = format!("INSERT INTO {table} ({}) VALUES ({places})", self.columns.join(", "));
        transaction.prepare_cached(&sql)?.execute(params_from_iter(self.values))?;
        Ok(())
    }
}
