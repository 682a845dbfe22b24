//! A result set, read in place from the receive buffer.

use super::framing::packets::{Packets, split_packet};
use super::framing::reader::{Reader, malformed};
use super::response::text;
use super::statement::Statements;
use super::values::binary::read_binary_row;
use super::values::column::{Column, Fields, Format};
use crate::client::StatementId;
use crate::error::ProtocolError;

/// First byte of a NULL in a text row.
const TEXT_NULL: u8 = 0xFB;

/// Position of the current result in the packets, and the position of its next row.
#[derive(Default)]
pub(super) struct ResultSet {
    /// The prepared statement that returned the result, if any. The rows of its results are in binary format.
    pub(super) statement: Option<StatementId>,
    pub(super) columns: u32,
    /// Whether the result contains definitions of its columns. If not, the statement's definitions apply.
    pub(super) is_described: bool,
    pub(super) columns_at: usize,
    pub(super) rows_at: usize,
    pub(super) rows: u64,
    rows_read: u64,
    read_at: usize,
    /// Formats of the columns of a binary result. They are set when the first row is read.
    formats: Vec<Format>,
}

impl ResultSet {
    /// Drops the current result, but keeps the allocated memory.
    pub(super) fn clear(&mut self, statement: Option<StatementId>) {
        let mut formats = std::mem::take(&mut self.formats);
        formats.clear();
        *self = Self { statement, formats, ..Self::default() };
    }

    /// Reads the next row. Returns false after the last row.
    pub(super) fn next_row(
        &mut self,
        packets: &Packets,
        statements: &Statements,
        fields: &mut Fields,
    ) -> Result<bool, ProtocolError> {
        fields.clear();
        if self.rows_read == self.rows {
            return Ok(false);
        }
        if self.rows_read == 0 {
            self.read_at = self.rows_at;
            self.read_formats(packets, statements)?;
        }
        let (packet, next_at) = packets.read_at(self.read_at).ok_or_else(bad_row)?;
        let read = if self.statement.is_some() {
            read_binary_row(&packet, &self.formats, fields)
        } else {
            read_text_row(&packet, self.columns, fields)
        };
        read.ok_or_else(bad_row)?;
        self.rows_read += 1;
        self.read_at = next_at;
        Ok(true)
    }

    /// Names of the columns. The name of a column is empty if its definition is unreadable or missing.
    pub(super) fn names(&self, packets: &Packets, statements: &Statements) -> Vec<String> {
        let mut definitions = self.definitions(packets, statements);
        (0..self.columns)
            .map(|_| next_column(&mut definitions).map_or_else(String::new, |column| text(column.name)))
            .collect()
    }

    fn read_formats(&mut self, packets: &Packets, statements: &Statements) -> Result<(), ProtocolError> {
        if self.statement.is_none() {
            return Ok(());
        }
        let mut definitions = self.definitions(packets, statements);
        if definitions.is_empty() {
            return Err(malformed("result", "it has no types of its columns (metadata = \"spared\")"));
        }
        let mut formats = std::mem::take(&mut self.formats);
        for _ in 0..self.columns {
            let column = next_column(&mut definitions)
                .ok_or_else(|| malformed("column definition", "it ends too early"))?;
            formats.push(column.format);
        }
        self.formats = formats;
        Ok(())
    }

    /// The packets that define the columns. They come from this result or, if it has none, from its statement.
    /// Definitions above 16 MB are unreadable.
    fn definitions<'a>(&self, packets: &'a Packets, statements: &'a Statements) -> &'a [u8] {
        match self.statement {
            Some(id) if !self.is_described => statements.definitions(id),
            _ if !self.is_described => &[],
            _ => packets.between(self.columns_at, self.rows_at),
        }
    }
}

/// Parses the first packet of `definitions`, and removes it from `definitions`.
fn next_column<'a>(definitions: &mut &'a [u8]) -> Option<Column<'a>> {
    let (packet, rest) = split_packet(definitions)?;
    *definitions = rest;
    Column::parse(packet)
}

fn bad_row() -> ProtocolError {
    malformed("row", "its fields do not match the length of the packet")
}

fn read_text_row(packet: &[u8], columns: u32, fields: &mut Fields) -> Option<()> {
    let mut reader = Reader::new(packet);
    for _ in 0..columns {
        fields.push(if reader.rest().first() == Some(&TEXT_NULL) {
            reader.u8()?;
            None
        } else {
            Some(reader.lenenc_bytes()?.to_vec())
        });
    }
    reader.rest().is_empty().then_some(())
}
