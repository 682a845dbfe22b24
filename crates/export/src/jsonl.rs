//! JSON Lines: one object per row, with keys in the order of the columns.

use std::fs::File;
use std::io::{BufWriter, Write as _};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::ser::{Serialize, SerializeMap as _, Serializer};

use crate::error::WriteError;
use crate::row::{Column, Sink, Value};

pub(crate) struct Jsonl {
    file: BufWriter<File>,
    columns: Vec<Column>,
}

impl Jsonl {
    pub(crate) fn new(file: File, columns: &[Column]) -> Self {
        Self { file: BufWriter::new(file), columns: columns.to_vec() }
    }
}

impl Sink for Jsonl {
    fn row(&mut self, row: &[Value<'_>]) -> Result<(), WriteError> {
        let mut serializer = serde_json::Serializer::new(&mut self.file);
        let mut object = serializer.serialize_map(Some(row.len()))?;
        for (column, value) in self.columns.iter().zip(row) {
            object.serialize_entry(&column.name, value)?;
        }
        object.end()?;
        Ok(self.file.write_all(b"\n")?)
    }

    fn finish(mut self: Box<Self>) -> Result<(), WriteError> {
        Ok(self.file.flush()?)
    }
}

impl Serialize for Value<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Null => serializer.serialize_unit(),
            Self::Boolean(value) => serializer.serialize_bool(*value),
            Self::Integer(value) => serializer.serialize_i64(*value),
            Self::Unsigned(value) => serializer.serialize_u64(*value),
            Self::Real(value) => serializer.serialize_f64(*value),
            Self::Text(text) => serializer.serialize_str(text),
            Self::Bytes(bytes) => serializer.serialize_str(&STANDARD.encode(bytes)),
            Self::Reals(values) => values.serialize(serializer),
        }
    }
}
