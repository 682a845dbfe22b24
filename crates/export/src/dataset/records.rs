//! Rows of a Parquet file. Values are found by the names of their columns.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use parquet::errors::ParquetError;
use parquet::file::reader::{FileReader as _, SerializedFileReader};
use parquet::record::Field;
use parquet::schema::types::Type;

use crate::error::ExportError;

/// A row with the values of the requested columns.
pub(super) struct Record(Vec<(String, Field)>);

/// Reads some columns of every row of a file.
///
/// # Errors
/// The file cannot be read, or lacks one of the columns.
pub(super) fn records(path: &Path, file: File, columns: &[&str]) -> Result<Vec<Record>, ExportError> {
    let unreadable =
        |error: ParquetError| ExportError::Unreadable { path: path.to_owned(), reason: error.to_string() };
    let reader = SerializedFileReader::new(file).map_err(unreadable)?;
    let schema = reader.metadata().file_metadata().schema_descr().root_schema_ptr();
    let field = |name: &&str| {
        let found = schema.get_fields().iter().find(|field| field.name() == *name);
        let missing = || ExportError::NoColumn { path: path.to_owned(), column: (*name).to_owned() };
        found.map(Arc::clone).ok_or_else(missing)
    };
    let fields = columns.iter().map(field).collect::<Result<_, _>>()?;
    let projection =
        Type::group_type_builder(schema.name()).with_fields(fields).build().map_err(unreadable)?;
    let rows = reader.get_row_iter(Some(projection)).map_err(unreadable)?;
    rows.map(|row| Ok(Record(row.map_err(unreadable)?.into_columns()))).collect()
}

impl Record {
    fn field(&self, name: &str) -> &Field {
        self.0.iter().find(|(column, _)| column == name).map_or(&Field::Null, |(_, field)| field)
    }

    pub(super) fn optional_text(&self, name: &str) -> Option<String> {
        match self.field(name) {
            Field::Str(text) => Some(text.clone()),
            _ => None,
        }
    }

    /// The text in a column. Empty if it is NULL.
    pub(super) fn text(&self, name: &str) -> String {
        self.optional_text(name).unwrap_or_default()
    }

    /// The integer in a column. 0 if it is NULL.
    pub(super) fn integer(&self, name: &str) -> i64 {
        match self.field(name) {
            Field::Long(integer) => *integer,
            _ => 0,
        }
    }

    pub(super) fn real(&self, name: &str) -> Option<f64> {
        match self.field(name) {
            Field::Double(real) => Some(*real),
            _ => None,
        }
    }

    /// The boolean in a column. False if it is NULL.
    pub(super) fn boolean(&self, name: &str) -> bool {
        matches!(self.field(name), Field::Bool(true))
    }
}
