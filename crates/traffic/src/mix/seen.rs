//! The values that the traffic has at a place of a statement.

use serde_json::Value;

use crate::sql::{Dialect, append_literal};

/// Length of the longest literal that is kept, in bytes.
const LITERAL_BYTES_MAX: usize = 200;
/// Lua's `..` writes whole numbers below this one exactly (14 digits, `LUAI_NUMFMT`).
const INTEGER_MAX: i64 = 100_000_000_000_000;

/// A value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Seen {
    Integer(i64),
    /// A value that is not an [`Integer`](Self::Integer), as it is written in a statement.
    Literal(Vec<u8>),
    /// A string of this many bytes, which is too long or was not kept.
    Text(u64),
    /// A number of this many characters, which was not kept.
    Digits(u64),
}

impl Seen {
    pub(super) fn integer(&self) -> Option<i64> {
        if let Self::Integer(number) = self { Some(*number) } else { None }
    }
}

/// Reads the values of a JSON array of a traffic file. `None` if the array is damaged, or does not have `places`
/// values.
pub(super) fn values(
    json: Option<&str>,
    places: usize,
    dialect: Dialect,
    is_bound: bool,
) -> Option<Vec<Seen>> {
    let values: Vec<Value> = json.map_or(Some(Vec::new()), |json| serde_json::from_str(json).ok())?;
    if values.len() != places {
        return None;
    }
    values.iter().map(|value| seen(value, dialect, is_bound)).collect()
}

fn seen(value: &Value, dialect: Dialect, is_bound: bool) -> Option<Seen> {
    if let Some(number) = value.as_i64() {
        let is_exact = number.abs() < INTEGER_MAX;
        return Some(if is_exact { Seen::Integer(number) } else { literal(&number.to_string(), is_bound) });
    }
    let kept = match value {
        Value::Null => Seen::Literal(b"NULL".to_vec()),
        Value::Object(tagged) => {
            let (tag, of) = tagged.iter().next()?;
            match (tag.as_str(), of) {
                ("secret", _) => Seen::Text(8),
                ("string" | "hex" | "bits", Value::Number(length)) => Seen::Text(length.as_u64()?),
                ("digits", Value::Number(length)) => Seen::Digits(length.as_u64()?),
                ("number", Value::String(text)) => literal(text, is_bound),
                _ => appended(value, dialect)?,
            }
        }
        _ => appended(value, dialect)?,
    };
    Some(match kept {
        Seen::Literal(text) if text.len() > LITERAL_BYTES_MAX => Seen::Text(text.len() as u64 - 2),
        kept => kept,
    })
}

/// A number as a literal. The number of a parameter gets quotes, so that the server infers the type from the
/// context.
fn literal(number: &str, is_bound: bool) -> Seen {
    Seen::Literal(if is_bound { format!("'{number}'").into_bytes() } else { number.as_bytes().to_vec() })
}

fn appended(value: &Value, dialect: Dialect) -> Option<Seen> {
    let mut text = Vec::new();
    append_literal(value, dialect, &mut text)?;
    Some(Seen::Literal(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Seen {
        Seen::Literal(text.as_bytes().to_vec())
    }

    #[test]
    fn values_are_numbers_literals_or_lengths() {
        let long = format!(r#"[7, "it's", {{"number":"1.50"}}, {{"hex":"1F"}}, "{}"]"#, "x".repeat(300));
        let kept = values(Some(&long), 5, Dialect::Mysql, false).unwrap();
        let expected = [Seen::Integer(7), text("'it''s'"), text("1.50"), text("X'1F'"), Seen::Text(300)];
        assert_eq!(kept, expected);
        let lost = r#"[{"string":5}, {"digits":3}, {"secret":true}, 123456789012345]"#;
        let kept = values(Some(lost), 4, Dialect::Mysql, false).unwrap();
        assert_eq!(kept, [Seen::Text(5), Seen::Digits(3), Seen::Text(8), text("123456789012345")]);
    }

    #[test]
    fn parameters_are_literals_in_quotes() {
        let bound = r#"[null, "a", {"number":"1.50"}, 7]"#;
        let kept = values(Some(bound), 4, Dialect::Postgresql, true).unwrap();
        assert_eq!(kept, [text("NULL"), text("'a'"), text("'1.50'"), Seen::Integer(7)]);
    }

    #[test]
    fn values_that_are_not_those_of_the_places_are_none() {
        for (json, places) in [(None, 1), (Some("[1]"), 2), (Some("7"), 1), (Some(r#"[{"odd":[]}]"#), 1)] {
            assert_eq!(values(json, places, Dialect::Mysql, false), None, "{json:?}");
        }
        assert_eq!(values(None, 0, Dialect::Mysql, false), Some(Vec::new()));
    }
}
