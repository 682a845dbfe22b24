//! The columns of an exported table. A column has either the values of one of the query's columns, or the same constant
//! in each row.

use crate::row::{Column, Kind, Value};

/// The columns of an exported table and where their values come from.
#[derive(Default)]
pub(crate) struct Layout<'a> {
    columns: Vec<Column>,
    cells: Vec<Cell<'a>>,
}

enum Cell<'a> {
    /// The value of the query's column with this index.
    Source(usize, Kind),
    Constant(Value<'a>),
}

impl<'a> Layout<'a> {
    /// Returns a layout with all columns of a query, unchanged.
    pub(crate) fn of_query(columns: Vec<Column>) -> Self {
        let cells =
            columns.iter().enumerate().map(|(index, column)| Cell::Source(index, column.kind)).collect();
        Self { columns, cells }
    }

    /// Adds a column with the values of the query's column `index`.
    pub(crate) fn source(&mut self, index: usize, column: Column) {
        self.cells.push(Cell::Source(index, column.kind));
        self.columns.push(column);
    }

    /// Adds a column with the same value in every row.
    pub(crate) fn constant(&mut self, column: Column, value: Value<'a>) {
        self.columns.push(column);
        self.cells.push(Cell::Constant(value));
    }

    pub(crate) fn columns(&self) -> &[Column] {
        &self.columns
    }

    /// Returns the values of the layout's columns for a row of the query.
    pub(crate) fn read<'r>(&'r self, row: &'r rusqlite::Row<'_>) -> rusqlite::Result<Vec<Value<'r>>> {
        let value = |cell: &'r Cell<'a>| match cell {
            Cell::Source(index, kind) => Value::new(*kind, row.get_ref(*index)?),
            Cell::Constant(value) => Ok(value.clone()),
        };
        self.cells.iter().map(value).collect()
    }
}
