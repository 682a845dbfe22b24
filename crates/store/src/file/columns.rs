//! Reads columns that are stored as JSON, and makes the error for a text that does not fit its column.

use rusqlite::Row;
use rusqlite::types::Type;

pub(crate) fn json<T: serde::de::DeserializeOwned>(row: &Row<'_>, column: &str) -> rusqlite::Result<T> {
    let text: String = row.get(column)?;
    parse(row, column, &text)
}

pub(crate) fn optional_json<T: serde::de::DeserializeOwned>(
    row: &Row<'_>,
    column: &str,
) -> rusqlite::Result<Option<T>> {
    let text: Option<String> = row.get(column)?;
    text.map(|text| parse(row, column, &text)).transpose()
}

fn parse<T: serde::de::DeserializeOwned>(row: &Row<'_>, column: &str, text: &str) -> rusqlite::Result<T> {
    serde_json::from_str(text).map_err(|error| unfit(row, column, error))
}

/// The error for a text that does not fit its column.
pub(crate) fn unfit(
    row: &Row<'_>,
    column: &str,
    problem: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> rusqlite::Error {
    let at = row.as_ref().column_index(column).unwrap_or(0);
    rusqlite::Error::FromSqlConversionFailure(at, Type::Text, problem.into())
}
