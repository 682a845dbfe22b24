//! Column definitions, which precede the rows of a result set.

use crate::mysql::framing::reader::Reader;

/// The types of columns and parameters that have a binary format of their own.
pub(in crate::mysql) mod types {
    pub(in crate::mysql) const TINY: u8 = 1;
    pub(in crate::mysql) const SHORT: u8 = 2;
    pub(in crate::mysql) const LONG: u8 = 3;
    pub(in crate::mysql) const FLOAT: u8 = 4;
    pub(in crate::mysql) const DOUBLE: u8 = 5;
    pub(in crate::mysql) const NULL: u8 = 6;
    pub(in crate::mysql) const TIMESTAMP: u8 = 7;
    pub(in crate::mysql) const LONGLONG: u8 = 8;
    pub(in crate::mysql) const INT24: u8 = 9;
    pub(in crate::mysql) const DATE: u8 = 10;
    pub(in crate::mysql) const TIME: u8 = 11;
    pub(in crate::mysql) const DATETIME: u8 = 12;
    pub(in crate::mysql) const YEAR: u8 = 13;
    pub(in crate::mysql) const VAR_STRING: u8 = 253;
}

const UNSIGNED: u16 = 1 << 5;
const ZEROFILL: u16 = 1 << 6;

/// The fields of a row, as text.
pub(in crate::mysql) type Fields = Vec<Option<Vec<u8>>>;

/// One column of a result set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::mysql) struct Column<'a> {
    pub(in crate::mysql) name: &'a [u8],
    pub(in crate::mysql) format: Format,
}

/// Properties of a column that determine the text of a binary value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::mysql) struct Format {
    pub(in crate::mysql) kind: u8,
    pub(in crate::mysql) unsigned: bool,
    /// Numbers are padded with zeros to this width; 0 for no padding.
    pub(in crate::mysql) zerofill_width: u32,
    /// Digits after the decimal point; 31 if their number is not fixed.
    pub(in crate::mysql) decimals: u8,
}

impl<'a> Column<'a> {
    pub(in crate::mysql) fn parse(packet: &'a [u8]) -> Option<Self> {
        let mut reader = Reader::new(packet);
        for _catalog_schema_table_and_original_table in 0..4 {
            reader.lenenc_bytes()?;
        }
        let name = reader.lenenc_bytes()?;
        let _original_name = reader.lenenc_bytes()?;
        let _fixed_length = reader.lenenc()?;
        let _charset = reader.u16()?;
        let width = reader.u32()?;
        let kind = reader.u8()?;
        let flags = reader.u16()?;
        let decimals = reader.u8()?;
        let zerofill_width = if flags & ZEROFILL == 0 { 0 } else { width };
        Some(Self {
            name,
            format: Format { kind, unsigned: flags & UNSIGNED != 0, zerofill_width, decimals },
        })
    }
}
