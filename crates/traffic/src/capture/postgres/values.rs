//! Values of `Bind` messages, as text. The binary forms are those of the types' functions `…send` in PostgreSQL's
//! source.

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
    pub(super) const UUID: u32 = 2950;
    pub(super) const JSONB: u32 = 3802;
}

/// A value in binary form as text. The bytes themselves if the type is a text or is not known here.
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

/// A number as PostgreSQL reads it.
fn float<F: Into<f64> + std::fmt::Debug + Copy>(value: F) -> String {
    let wide: f64 = value.into();
    match wide {
        wide if wide.is_nan() => "NaN".to_owned(),
        wide if wide.is_infinite() => if wide > 0.0 { "Infinity" } else { "-Infinity" }.to_owned(),
        _ => format!("{value:?}"),
    }
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
        let cases: [(u32, &[u8], &[u8]); 13] = [
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
            (1114, &[0, 0, 0, 0, 0, 0, 0, 1], &[0, 0, 0, 0, 0, 0, 0, 1]),
            // Another length than that of its type.
            (oid::INT4, &[1, 2], &[1, 2]),
        ];
        for (kind, value, expected) in cases {
            assert_eq!(text_of_binary(kind, value), expected, "type {kind}");
        }
    }
}
