//! The values of `$1`, `$2`, … as the traffic file keeps them.

use serde_json::Value;

use crate::sql::bytes;

/// Reads the values of a JSON array as text. `None` if the JSON is no array, or if a value was not kept.
pub(super) fn values(json: &str) -> Option<Vec<Option<Vec<u8>>>> {
    let values: Vec<Value> = serde_json::from_str(json).ok()?;
    let value = |value: &Value| match value {
        Value::Null => Some(None),
        value => text(value).map(Some),
    };
    values.iter().map(value).collect()
}

/// A value other than NULL as text. `None` if it was not kept.
fn text(value: &Value) -> Option<Vec<u8>> {
    match value {
        Value::String(text) => Some(text.clone().into_bytes()),
        Value::Number(number) => Some(number.to_string().into_bytes()),
        Value::Object(tagged) => {
            let (tag, text) = tagged.iter().next()?;
            match (tag.as_str(), text.as_str()?) {
                ("number", text) => Some(text.as_bytes().to_vec()),
                ("bytes", digits) => bytes(digits),
                _ => None,
            }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_text_and_what_was_not_kept_is_none() {
        let kept = values(r#"["a", 42, null, {"number":"1.50"}, {"bytes":"ff00"}]"#).unwrap();
        let text = |text: &[u8]| Some(text.to_vec());
        assert_eq!(kept, [text(b"a"), text(b"42"), None, text(b"1.50"), text(b"\xff\0")]);
        for lost in [r#"[{"secret":true}]"#, r#"[{"string":5}]"#, r#"["a", {"digits":1}]"#, "7"] {
            assert_eq!(values(lost), None, "{lost}");
        }
    }
}
