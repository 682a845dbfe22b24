//! Rows in the binary format of prepared statements. Their values are formatted as the server prints them in text.

use crate::mysql::framing::reader::Reader;
use crate::mysql::values::column::{Fields, Format, types};
use crate::mysql::values::number::{print_double, print_float};
use crate::mysql::values::temporal::{print_date, print_datetime, print_time};

/// Unused bits at the start of the NULL bitmap.
const NULL_BITS_RESERVED: usize = 2;

/// Largest width to which numbers are padded. A column cannot declare a larger display width.
const MAX_ZEROFILL_WIDTH: usize = 255;

/// Reads a row; `None` if the fields do not match the packet's length.
pub(in crate::mysql) fn read_binary_row(
    packet: &[u8],
    formats: &[Format],
    fields: &mut Fields,
) -> Option<()> {
    let mut reader = Reader::new(packet);
    if reader.u8()? != 0 {
        return None;
    }
    let nulls = reader.bytes((formats.len() + NULL_BITS_RESERVED).div_ceil(8))?;
    for (column, format) in formats.iter().enumerate() {
        let bit = column + NULL_BITS_RESERVED;
        let is_null = nulls.get(bit / 8)? >> (bit % 8) & 1 == 1;
        fields.push(if is_null { None } else { Some(read_value(&mut reader, *format)?) });
    }
    reader.rest().is_empty().then_some(())
}

fn read_value(reader: &mut Reader<'_>, format: Format) -> Option<Vec<u8>> {
    let text = match format.kind {
        types::TINY | types::SHORT | types::YEAR | types::LONG | types::INT24 | types::LONGLONG => {
            read_integer(reader, format)?.to_string()
        }
        types::FLOAT => print_float(f32::from_le_bytes(reader.array()?), format.decimals),
        types::DOUBLE => print_double(f64::from_le_bytes(reader.array()?), format.decimals),
        types::DATE => print_date(read_temporal(reader)?)?,
        types::DATETIME | types::TIMESTAMP => print_datetime(read_temporal(reader)?, format.decimals)?,
        types::TIME => print_time(read_temporal(reader)?, format.decimals)?,
        types::NULL => return None,
        // The server sends values of all other types as text or bytes: strings, blobs, decimals, bits, sets, JSON,
        // geometry.
        _ => return reader.lenenc_bytes().map(<[u8]>::to_vec),
    };
    let zeros = (format.zerofill_width as usize).min(MAX_ZEROFILL_WIDTH).saturating_sub(text.len());
    Some([vec![b'0'; zeros], text.into_bytes()].concat())
}

fn read_integer(reader: &mut Reader<'_>, format: Format) -> Option<i128> {
    Some(match (format.kind, format.unsigned) {
        (types::TINY, true) => reader.u8()?.into(),
        (types::TINY, false) => i8::from_le_bytes(reader.array()?).into(),
        (types::SHORT | types::YEAR, true) => reader.u16()?.into(),
        (types::SHORT | types::YEAR, false) => i16::from_le_bytes(reader.array()?).into(),
        (types::LONG | types::INT24, true) => reader.u32()?.into(),
        (types::LONG | types::INT24, false) => i32::from_le_bytes(reader.array()?).into(),
        (_, true) => reader.u64()?.into(),
        (_, false) => i64::from_le_bytes(reader.array()?).into(),
    })
}

/// Reads a date or time: a length byte, then its parts. The server omits trailing parts that are zero.
fn read_temporal<'a>(reader: &mut Reader<'a>) -> Option<&'a [u8]> {
    let length = reader.u8()?;
    reader.bytes(usize::from(length))
}
