//! Writes values of prepared statements ("Binary Protocol Value" in MySQL's source documentation) as literals.

use crate::capture::bytes::Bytes;
use crate::log::write_string;

/// Type codes (`enum_field_types`).
mod kind {
    pub(super) const DECIMAL: u8 = 0;
    pub(super) const TINY: u8 = 1;
    pub(super) const SHORT: u8 = 2;
    pub(super) const LONG: u8 = 3;
    pub(super) const FLOAT: u8 = 4;
    pub(super) const DOUBLE: u8 = 5;
    pub(super) const NULL: u8 = 6;
    pub(super) const TIMESTAMP: u8 = 7;
    pub(super) const LONGLONG: u8 = 8;
    pub(super) const INT24: u8 = 9;
    pub(super) const DATE: u8 = 10;
    pub(super) const TIME: u8 = 11;
    pub(super) const DATETIME: u8 = 12;
    pub(super) const YEAR: u8 = 13;
    pub(super) const VARCHAR: u8 = 15;
    pub(super) const BIT: u8 = 16;
    pub(super) const VECTOR: u8 = 242;
    pub(super) const JSON: u8 = 245;
    pub(super) const NEWDECIMAL: u8 = 246;
}

/// Type of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kind {
    code: u8,
    is_unsigned: bool,
}

impl Kind {
    /// Reads a type from its two bytes in the protocol.
    pub(super) fn new([code, flags]: [u8; 2]) -> Self {
        Self { code, is_unsigned: flags & 0x80 != 0 }
    }
}

/// Reads a value and appends it as a literal. `None` if the bytes end too early, or the type is unknown.
pub(super) fn write_value(kind: Kind, bytes: &mut Bytes<'_>, text: &mut Vec<u8>) -> Option<()> {
    let mut number = |written: String| text.extend_from_slice(written.as_bytes());
    match (kind.code, kind.is_unsigned) {
        (kind::NULL, _) => number("NULL".to_owned()),
        (kind::TINY, true) => number(bytes.u8()?.to_string()),
        (kind::TINY, false) => number(bytes.u8()?.cast_signed().to_string()),
        (kind::SHORT | kind::YEAR, true) => number(bytes.u16_le()?.to_string()),
        (kind::SHORT | kind::YEAR, false) => number(bytes.u16_le()?.cast_signed().to_string()),
        (kind::LONG | kind::INT24, true) => number(bytes.u32_le()?.to_string()),
        (kind::LONG | kind::INT24, false) => number(bytes.u32_le()?.cast_signed().to_string()),
        (kind::LONGLONG, true) => number(bytes.u64_le()?.to_string()),
        (kind::LONGLONG, false) => number(bytes.u64_le()?.cast_signed().to_string()),
        (kind::FLOAT, _) => number(float(f32::from_bits(bytes.u32_le()?))?),
        (kind::DOUBLE, _) => number(float(f64::from_bits(bytes.u64_le()?))?),
        (kind::DATE | kind::DATETIME | kind::TIMESTAMP, _) => {
            let written = date(length_prefixed(bytes)?)?;
            write_string(written.as_bytes(), text);
        }
        (kind::TIME, _) => {
            let written = time(length_prefixed(bytes)?)?;
            write_string(written.as_bytes(), text);
        }
        (kind::DECIMAL | kind::NEWDECIMAL, _) => write_decimal(bytes.lenenc_bytes()?, text),
        (kind::VARCHAR | kind::BIT | kind::VECTOR | kind::JSON | kind::NEWDECIMAL..=u8::MAX, _) => {
            write_string(bytes.lenenc_bytes()?, text);
        }
        _ => return None,
    }
    Some(())
}

/// Formats a floating-point number as a literal with an exponent. `None` if the number is infinite or not a number,
/// which SQL cannot express.
fn float<F: Into<f64> + std::fmt::LowerExp + Copy>(value: F) -> Option<String> {
    value.into().is_finite().then(|| format!("{value:e}"))
}

fn write_decimal(value: &[u8], text: &mut Vec<u8>) {
    let digits = value.strip_prefix(b"-").unwrap_or(value);
    let is_number = digits.first().is_some_and(u8::is_ascii_digit)
        && digits.iter().all(|byte| byte.is_ascii_digit() || *byte == b'.')
        && memchr::memchr_iter(b'.', digits).count() <= 1;
    if is_number { text.extend_from_slice(value) } else { write_string(value, text) }
}

/// Reads a length of one byte, then as many bytes.
fn length_prefixed<'a>(bytes: &mut Bytes<'a>) -> Option<Bytes<'a>> {
    let length = bytes.u8()?;
    bytes.take(usize::from(length)).map(Bytes)
}

/// Formats a date as `2026-11-21`, or with a time as `2026-11-21 08:30:00.250000`. Parts at the end that are zero
/// are not sent.
fn date(mut parts: Bytes<'_>) -> Option<String> {
    let length = parts.0.len();
    if !matches!(length, 0 | 4 | 7 | 11) {
        return None;
    }
    let (year, month, day) = (parts.u16_le().unwrap_or(0), parts.u8().unwrap_or(0), parts.u8().unwrap_or(0));
    let date = format!("{year:04}-{month:02}-{day:02}");
    Some(if length <= 4 { date } else { format!("{date} {}", clock(&mut parts, 0)) })
}

/// Formats a time as `-838:59:59`, or with a fraction.
fn time(mut parts: Bytes<'_>) -> Option<String> {
    if !matches!(parts.0.len(), 0 | 8 | 12) {
        return None;
    }
    let sign = if parts.u8().unwrap_or(0) == 0 { "" } else { "-" };
    let days = parts.u32_le().unwrap_or(0);
    Some(format!("{sign}{}", clock(&mut parts, days)))
}

fn clock(parts: &mut Bytes<'_>, days: u32) -> String {
    let [hours, minutes, seconds] = parts.array().unwrap_or([0; 3]);
    let hours = u64::from(days) * 24 + u64::from(hours);
    let time = format!("{hours:02}:{minutes:02}:{seconds:02}");
    match parts.u32_le() {
        Some(microseconds) => format!("{time}.{microseconds:06}"),
        None => time,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn literal(code: u8, flags: u8, bytes: &[u8]) -> Option<String> {
        let mut text = Vec::new();
        write_value(Kind::new([code, flags]), &mut Bytes(bytes), &mut text)?;
        Some(String::from_utf8(text).unwrap())
    }

    #[test]
    fn each_type_has_its_literal() {
        let cases: [(u8, u8, &[u8], &str); 18] = [
            (kind::NULL, 0, b"", "NULL"),
            (kind::TINY, 0, &[0xFF], "-1"),
            (kind::TINY, 0x80, &[0xFF], "255"),
            (kind::SHORT, 0, &[0xFE, 0xFF], "-2"),
            (kind::YEAR, 0x80, &[0xEA, 0x07], "2026"),
            (kind::LONG, 0, &[42, 0, 0, 0], "42"),
            (kind::INT24, 0x80, &[255, 255, 255, 255], "4294967295"),
            (kind::LONGLONG, 0, &[255; 8], "-1"),
            (kind::LONGLONG, 0x80, &[255; 8], "18446744073709551615"),
            (kind::FLOAT, 0, &1.5_f32.to_le_bytes(), "1.5e0"),
            (kind::DOUBLE, 0, &(-1e300_f64).to_le_bytes(), "-1e300"),
            (kind::DATE, 0, &[4, 0xEA, 0x07, 11, 21], "'2026-11-21'"),
            (kind::DATETIME, 0, &[7, 0xEA, 0x07, 1, 2, 3, 4, 5], "'2026-01-02 03:04:05'"),
            (kind::TIME, 0, &[12, 1, 1, 0, 0, 0, 2, 3, 4, 64, 226, 1, 0], "'-26:03:04.123456'"),
            (kind::NEWDECIMAL, 0, b"\x05-1.50", "-1.50"),
            (kind::NEWDECIMAL, 0, b"\x061 OR 1", "'1 OR 1'"),
            (253, 0, b"\x06it's\\\0", "'it''s\\\\\\0'"),
            (252, 0, b"\x02\xFF\x00", "X'FF00'"),
        ];
        for (code, flags, bytes, expected) in cases {
            assert_eq!(literal(code, flags, bytes).as_deref(), Some(expected), "type {code}");
        }
    }

    #[test]
    fn what_is_malformed_is_none() {
        assert_eq!(literal(kind::LONG, 0, &[1, 2]), None);
        assert_eq!(literal(kind::DATE, 0, &[3, 1, 2, 3]), None);
        assert_eq!(literal(kind::TIME, 0, &[9; 10]), None);
        assert_eq!(literal(kind::DOUBLE, 0, &f64::NAN.to_le_bytes()), None);
        assert_eq!(literal(99, 0, &[1]), None);
    }
}
