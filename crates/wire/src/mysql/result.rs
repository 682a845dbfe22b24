//! A result set, read in place from the receive buffer.

use std::borrow::Cow;

use super::framing::packets::Packets;
use super::framing::reader::{Reader, malformed};
use super::response::text;
use super::values::binary::read_binary_row;
use super::values::column::{Column, Fields, Format};
use crate::error::ProtocolError;

/// First byte of a NULL in a text row.
const TEXT_NULL: u8 = 0xFB;

/// Position of the last result in the packets, and the position of its next row.
#[derive(Default)]
pub(super) struct ResultSet {
    /// Whether rows are in the binary format of prepared statements.
    pub(super) binary: bool,
    pub(super) columns: u32,
    pub(super) columns_at: usize,
    pub(super) rows_at: usize,
    pub(super) rows: u64,
    rows_read: u64,
    read_at: usize,
    /// Formats of the columns of a binary result. They are set when the first row is read.
    formats: Vec<Format>,
}

impl ResultSet {
    /// Drops the last result and keeps the allocations.
    pub(super) fn clear(&mut self, binary: bool) {
        let mut formats = std::mem::take(&mut self.formats);
        formats.clear();
        *self = Self { binary, formats, ..Self::default() };
    }

    /// Reads the next row. Returns false after the last row.
    pub(super) fn next_row(&mut self, packets: &Packets, fields: &mut Fields) -> Result<bool, ProtocolError> {
        fields.clear();
        if self.rows_read == self.rows {
            return Ok(false);
        }
        if self.rows_read == 0 {
            self.read_at = self.rows_at;
            self.read_formats(packets)?;
        }
        let (packet, next_at) = packets.read_at(self.read_at).ok_or_else(bad_row)?;
        let read = if self.binary {
            read_binary_row(&packet, &self.formats, fields)
        } else {
            read_text_row(&packet, self.columns, fields)
        };
        read.ok_or_else(bad_row)?;
        self.rows_read += 1;
        self.read_at = next_at;
        Ok(true)
    }

    /// Names of the columns; empty for an unreadable one.
    pub(super) fn names(&self, packets: &Packets) -> Vec<String> {
        let name = |packet: Cow<'_, [u8]>| Column::parse(&packet).map(|column| text(column.name));
        self.definitions(packets).map(|packet| name(packet).unwrap_or_default()).collect()
    }

    fn read_formats(&mut self, packets: &Packets) -> Result<(), ProtocolError> {
        if self.binary {
            let mut formats = std::mem::take(&mut self.formats);
            for packet in self.definitions(packets) {
                let column = Column::parse(&packet)
                    .ok_or_else(|| malformed("column definition", "it ends too early"))?;
                formats.push(column.format);
            }
            self.formats = formats;
        }
        Ok(())
    }

    fn definitions<'p>(&self, packets: &'p Packets) -> impl Iterator<Item = Cow<'p, [u8]>> + use<'p> {
        let mut at = self.columns_at;
        (0..self.columns).map_while(move |_| {
            let (packet, next_at) = packets.read_at(at)?;
            at = next_at;
            Some(packet)
        })
    }
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
