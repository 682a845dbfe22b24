//! Rows of the results file, in a form that the writer of every format accepts.

use dyno_store::decode_series;
use rusqlite::types::ValueRef;

use crate::error::WriteError;

/// Type of a column. Values of every type may be NULL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Boolean,
    Integer,
    Unsigned,
    Real,
    Text,
    Bytes,
    /// A list of numbers. Any number in the list may be missing.
    Reals,
}

impl Kind {
    /// The name of this type in the documentation.
    #[cfg(test)]
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Boolean => "boolean",
            Self::Integer => "integer",
            Self::Unsigned => "unsigned",
            Self::Real => "real",
            Self::Text => "text",
            Self::Bytes => "bytes",
            Self::Reals => "list of real",
        }
    }
}

/// A column of an exported table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) kind: Kind,
}

/// A value of a row. It borrows from the row of the results file.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value<'a> {
    Null,
    Boolean(bool),
    Integer(i64),
    Unsigned(u64),
    Real(f64),
    Text(&'a str),
    Bytes(&'a [u8]),
    Reals(Vec<Option<f64>>),
}

impl<'a> Value<'a> {
    /// Converts a value of the results file to the type of its column.
    pub(crate) fn new(kind: Kind, value: ValueRef<'a>) -> rusqlite::Result<Self> {
        Ok(match (kind, value) {
            (_, ValueRef::Null) => Self::Null,
            (Kind::Boolean, value) => Self::Boolean(value.as_i64()? != 0),
            (Kind::Integer, value) => Self::Integer(value.as_i64()?),
            (Kind::Unsigned, value) => Self::Unsigned(value.as_i64()?.cast_unsigned()),
            (Kind::Real, value) => Self::Real(value.as_f64()?),
            (Kind::Text, value) => Self::Text(value.as_str()?),
            (Kind::Bytes, value) => Self::Bytes(value.as_blob()?),
            (Kind::Reals, value) => {
                let values = decode_series(value.as_blob()?);
                Self::Reals(values.into_iter().map(|value| value.is_finite().then_some(value)).collect())
            }
        })
    }
}

/// A file in one of the formats, to which rows of a table are written.
pub(crate) trait Sink {
    /// Writes a row. The values have the types of the columns.
    fn row(&mut self, row: &[Value<'_>]) -> Result<(), WriteError>;

    /// Writes the data that is still in memory. The file is complete after this.
    fn finish(self: Box<Self>) -> Result<(), WriteError>;
}
