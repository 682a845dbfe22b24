//! CSV as in RFC 4180, with a header. NULL is an empty field and an empty text is `""`, as in PostgreSQL's COPY. No CSV
//! library is used, because a library that leaves out optional quotes writes NULL and an empty text in the same way.

use std::fs::File;
use std::io::{BufWriter, Write as _};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::error::WriteError;
use crate::row::{Column, Sink, Value};

pub(crate) struct Csv {
    file: BufWriter<File>,
}

impl Csv {
    pub(crate) fn new(file: File, columns: &[Column]) -> Result<Self, WriteError> {
        let mut file = BufWriter::new(file);
        let names: Vec<_> = columns.iter().map(|column| column.name.as_str()).collect();
        writeln!(file, "{}", names.join(","))?;
        Ok(Self { file })
    }

    fn field(&mut self, value: &Value<'_>) -> Result<(), WriteError> {
        let file = &mut self.file;
        match value {
            Value::Null => {}
            Value::Boolean(value) => write!(file, "{value}")?,
            Value::Integer(value) => write!(file, "{value}")?,
            Value::Unsigned(value) => write!(file, "{value}")?,
            // Writes the fewest digits that parse to the same number. Very large and very small numbers have an
            // exponent.
            Value::Real(value) => write!(file, "{value:?}")?,
            Value::Text(text) => write!(file, "\"{}\"", text.replace('"', "\"\""))?,
            Value::Bytes(bytes) => write!(file, "\"{}\"", STANDARD.encode(bytes))?,
            Value::Reals(values) => write!(file, "\"{}\"", serde_json::to_string(values)?)?,
        }
        Ok(())
    }
}

impl Sink for Csv {
    fn row(&mut self, row: &[Value<'_>]) -> Result<(), WriteError> {
        for (index, value) in row.iter().enumerate() {
            if index > 0 {
                self.file.write_all(b",")?;
            }
            self.field(value)?;
        }
        Ok(self.file.write_all(b"\n")?)
    }

    fn finish(mut self: Box<Self>) -> Result<(), WriteError> {
        Ok(self.file.flush()?)
    }
}
