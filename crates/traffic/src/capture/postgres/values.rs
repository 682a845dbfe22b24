//! Converts values of `Bind` messages to text. The binary form of a type is defined by the type's `…send` function in
//! PostgreSQL's source.

use std::fmt::Write as _;
use std::ops::Range;

use crate::capture::bytes::Bytes;

/// Numbers of types (`pg_type.dat`).
mod oid {
    pub(super) const BOOL: u32 = 16;
    pub(super) const BYTEA: u32 = 17;
    pub(super) const INT8: u32 = 20;
    pub(super) const INT2: u32 = 21;
    pub(super) const INT4: u32 = 23;
    pub(super) const OID: u32 = 26;
    pub(super) const FLOAT4: u32 = 700;
    pub(super) const FLOAT8: u32 = 701;
    pub(super) const DATE: u32 = 1082;
    pub(super) const TIMESTAMP: u32 = 1114;
    pub(super) const TIMESTAMPTZ: u32 = 1184;
    pub(super) const NUMERIC: u32 = 1700;
    pub(super) const UUID: u32 = 2950;
    pub(super) const JSONB: u32 = 3802;
}

/// Converts a value from its binary form to text. Values of text types are returned unchanged, and also values of types
/// that this module does not know.
pub(super) fn text_of_binary(kind: u32, value: &[u8]) -> Vec<u8> {
    known(kind, value).map_or_else(|| value.to_vec(), String::into_bytes)
}

fn known(kind: u32, value: &[u8]) -> Option<String> {
    let mut bytes = Bytes(value);
    let text = match kind {
        oid::BOOL => (if bytes.u8()? == 0 { "f" } else { "t" }).to_owned(),
        oid::INT2 => bytes.u16_be()?.cast_signed().to_string(),
        oid::INT4 => bytes.u32_be()?.cast_signed().to_string(),
        oid::OID => bytes.u32_be()?.to_string(),
        oid::INT8 => i64::from_be_bytes(bytes.array()?).to_string(),
        oid::FLOAT4 => float(f32::from_be_bytes(bytes.array()?)),
        oid::FLOAT8 => float(f64::from_be_bytes(bytes.array()?)),
        oid::DATE => date(i64::from(bytes.u32_be()?.cast_signed()))?,
        oid::TIMESTAMP => timestamp(i64::from_be_bytes(bytes.array()?))?,
        oid::TIMESTAMPTZ => timestamp(i64::from_be_bytes(bytes.array()?))? + "+00",
        oid::NUMERIC => numeric(&mut bytes)?,
        oid::BYTEA => return Some(format!("\\x{}", hexadecimal(value))),
        oid::UUID => {
            let digits = hexadecimal(&bytes.array::<16>()?);
            let parts = [0..8, 8..12, 12..16, 16..20, 20..32].map(|part| digits[part].to_owned());
            parts.join("-")
        }
        oid::JSONB => {
            let is_version_1 = bytes.u8()? == 1;
            return is_version_1.then(|| String::from_utf8(bytes.0.to_vec()).ok())?;
        }
        _ => return None,
    };
    bytes.0.is_empty().then_some(text)
}

/// Formats a number as PostgreSQL reads it.
fn float<F: Into<f64> + std::fmt::Debug + Copy>(value: F) -> String {
    let wide: f64 = value.into();
    match wide {
        wide if wide.is_nan() => "NaN".to_owned(),
        wide if wide.is_infinite() => if wide > 0.0 { "Infinity" } else { "-Infinity" }.to_owned(),
        _ => format!("{value:?}"),
    }
}

/// Formats a day, from the number of days since 2000-01-01. `None` if the day is infinite or outside of the years 1 to
/// 9999.
fn date(days: i64) -> Option<String> {
    let (year, month, day) = day_of(days + DAYS_TO_2000);
    (1..=9999).contains(&year).then(|| format!("{year:04}-{month:02}-{day:02}"))
}

/// Formats a moment, from the number of µs since 2000-01-01.
fn timestamp(since_us: i64) -> Option<String> {
    let (seconds, fraction_us) = (since_us.div_euclid(1_000_000), since_us.rem_euclid(1_000_000));
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    Some(format!("{} {hour:02}:{minute:02}:{second:02}.{fraction_us:06}", date(days)?))
}

/// Number of days from 1970-01-01 to 2000-01-01.
const DAYS_TO_2000: i64 = 10_957;

/// Year, month and day, from the number of days since 1970-01-01 (Howard Hinnant, "chrono-Compatible Low-Level Date
/// Algorithms", `civil_from_days`).
fn day_of(days: i64) -> (i64, i64, i64) {
    let days = days + 719_468;
    let (era, day_of_era) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    (era * 400 + year_of_era + i64::from(month <= 2), month, day)
}

/// Largest number of groups of zeros that are added to a number. The server does not send groups of zeros at the
/// start or the end of a number.
const ZERO_GROUPS_MAX: i32 = 32;

/// Formats a decimal number, from groups of four digits (`numeric_send`).
fn numeric(bytes: &mut Bytes<'_>) -> Option<String> {
    let groups = bytes.u16_be()?;
    let weight = bytes.u16_be()?.cast_signed();
    let sign = bytes.u16_be()?;
    let places = usize::from(bytes.u16_be()?);
    match sign {
        0xC000 => return Some("NaN".to_owned()),
        0xD000 => return Some("Infinity".to_owned()),
        0xF000 => return Some("-Infinity".to_owned()),
        _ => {}
    }
    let groups: Vec<u16> = (0..groups).map(|_| bytes.u16_be()).collect::<Option<_>>()?;
    let behind = places.div_ceil(4) as i32;
    let most = groups.len() as i32 + ZERO_GROUPS_MAX;
    if i32::from(weight) >= most || behind > most {
        return None;
    }
    let digits = |powers: Range<i32>| {
        powers.rev().fold(String::new(), |mut digits, power| {
            let place = usize::try_from(i32::from(weight) - power).ok();
            let group = place.and_then(|place| groups.get(place)).copied().unwrap_or(0);
            let _ = write!(digits, "{group:04}");
            digits
        })
    };
    let (whole, fraction) = (digits(0..i32::from(weight).max(0) + 1), digits(-behind..0));
    let whole = whole.trim_start_matches('0');
    let whole = if whole.is_empty() { "0" } else { whole };
    let sign = if sign == 0x4000 { "-" } else { "" };
    let point = if places > 0 { "." } else { "" };
    Some(format!("{sign}{whole}{point}{}", fraction.get(..places)?))
}

fn hexadecimal(bytes: &[u8]) -> String {
    let mut digits = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        for half in [byte >> 4, byte & 0xF] {
            digits.extend(char::from_digit(u32::from(half), 16));
        }
    }
    digits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_type_has_its_text() {
        let uuid = [0, 17, 34, 51, 68, 85, 102, 119, 136, 153, 170, 187, 204, 221, 238, 255];
        let cases: [(u32, &[u8], &[u8]); 20] = [
            (oid::BOOL, &[1], b"t"),
            (oid::INT2, &[0xFF, 0xFE], b"-2"),
            (oid::INT4, &[0, 0, 0, 42], b"42"),
            (oid::INT8, &[255; 8], b"-1"),
            (oid::OID, &[255; 4], b"4294967295"),
            (oid::FLOAT4, &1.5_f32.to_be_bytes(), b"1.5"),
            (oid::FLOAT8, &f64::NEG_INFINITY.to_be_bytes(), b"-Infinity"),
            (oid::BYTEA, &[0, 255], b"\\x00ff"),
            (oid::UUID, &uuid, b"00112233-4455-6677-8899-aabbccddeeff"),
            (oid::JSONB, b"\x01{}", b"{}"),
            (25, b"text", b"text"),
            (oid::DATE, &(-1_i32).to_be_bytes(), b"1999-12-31"),
            (oid::TIMESTAMP, &86_400_000_001_i64.to_be_bytes(), b"2000-01-02 00:00:00.000001"),
            (oid::TIMESTAMPTZ, &820_540_800_000_000_i64.to_be_bytes(), b"2026-01-01 00:00:00.000000+00"),
            (oid::NUMERIC, &[0, 2, 0, 0, 0, 0, 0, 2, 0, 1, 0x13, 0x88], b"1.50"),
            (oid::NUMERIC, &[0, 1, 0, 1, 0x40, 0, 0, 0, 0, 12], b"-120000"),
            (oid::NUMERIC, &[0, 1, 0xFF, 0xFE, 0, 0, 0, 6, 0, 100], b"0.000001"),
            (oid::NUMERIC, &[0, 1, 0x7F, 0xFF, 0, 0, 0, 0, 0, 1], &[0, 1, 0x7F, 0xFF, 0, 0, 0, 0, 0, 1]),
            (600, &[0, 0, 0, 0, 0, 0, 0, 1], &[0, 0, 0, 0, 0, 0, 0, 1]),
            // The length does not match the type.
            (oid::INT4, &[1, 2], &[1, 2]),
        ];
        for (kind, value, expected) in cases {
            assert_eq!(text_of_binary(kind, value), expected, "type {kind}");
        }
    }
}
