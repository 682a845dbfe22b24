//! Puts values back into a shape.

use serde_json::Value;

use crate::sql::Dialect;

/// Rebuilds a statement from its shape and its literals. `None` if the literals do not fit the shape, or were not
/// kept.
pub fn rebuilt(shape: &str, literals: Option<&str>, dialect: Dialect) -> Option<Vec<u8>> {
    rebuilt_with(shape, literals, dialect, b"?")
}

/// Same as [`rebuilt`], but for a statement that will be prepared. A question mark of the statement itself stays
/// doubled, as JDBC and `dyno-wire` write it.
pub fn rebuilt_to_prepare(shape: &str, literals: Option<&str>, dialect: Dialect) -> Option<Vec<u8>> {
    rebuilt_with(shape, literals, dialect, b"??")
}

fn rebuilt_with(shape: &str, literals: Option<&str>, dialect: Dialect, question: &[u8]) -> Option<Vec<u8>> {
    let literals: Vec<Value> = literals.map_or(Some(Vec::new()), |text| serde_json::from_str(text).ok())?;
    let mut literals = literals.iter();
    let mut statement = Vec::with_capacity(shape.len() + 64);
    let mut bytes = shape.bytes().peekable();
    while let Some(byte) = bytes.next() {
        if byte != b'?' {
            statement.push(byte);
        } else if bytes.next_if_eq(&b'?').is_some() {
            statement.extend_from_slice(question);
        } else {
            append_literal(literals.next()?, dialect, &mut statement)?;
        }
    }
    literals.next().is_none().then_some(statement)
}

/// Appends a value of a traffic file as a literal. `None` if the value was not kept.
pub(crate) fn append_literal(value: &Value, dialect: Dialect, into: &mut Vec<u8>) -> Option<()> {
    match value {
        Value::Number(number) => into.extend_from_slice(number.to_string().as_bytes()),
        Value::String(text) => quote(text.as_bytes(), dialect, into),
        Value::Object(tagged) => {
            let (tag, text) = tagged.iter().next()?;
            let text = text.as_str()?;
            match tag.as_str() {
                "number" => into.extend_from_slice(text.as_bytes()),
                "hex" => into.extend_from_slice(format!("X'{text}'").as_bytes()),
                "bits" => into.extend_from_slice(format!("B'{text}'").as_bytes()),
                "bytes" => quote(&bytes(text)?, dialect, into),
                _ => return None,
            }
        }
        _ => return None,
    }
    Some(())
}

fn quote(text: &[u8], dialect: Dialect, into: &mut Vec<u8>) {
    into.push(b'\'');
    for byte in text {
        match (byte, dialect) {
            (b'\'', _) => into.extend_from_slice(b"''"),
            (b'\\', Dialect::Mysql) => into.extend_from_slice(b"\\\\"),
            (0, Dialect::Mysql) => into.extend_from_slice(b"\\0"),
            (byte, _) => into.push(*byte),
        }
    }
    into.push(b'\'');
}

/// The bytes that hexadecimal digits encode.
pub(crate) fn bytes(digits: &str) -> Option<Vec<u8>> {
    let byte = |pair: &[u8]| u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok();
    digits.as_bytes().chunks(2).map(byte).collect()
}
