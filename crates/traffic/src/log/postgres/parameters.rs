//! The values of a statement in a log entry's detail: `Parameters: $1 = '42', $2 = NULL`.

use memchr::memchr;

/// Reads the values into a list. The list is empty if the detail is of another kind.
pub(super) fn read(detail: &[u8], values: &mut Vec<Option<Vec<u8>>>) {
    values.clear();
    // PostgreSQL up to 15 writes a small `p`.
    let Some(rest) = detail.strip_prefix(b"Parameters: ").or(detail.strip_prefix(b"parameters: ")) else {
        return;
    };
    let mut rest = rest;
    while let Some((value, behind)) = value(rest) {
        values.push(value);
        let Some(next) = behind.strip_prefix(b", ") else { return };
        rest = next;
    }
}

/// Parses `$1 = 'it''s'`. Also returns the rest of the text.
fn value(text: &[u8]) -> Option<(Option<Vec<u8>>, &[u8])> {
    let text = text.strip_prefix(b"$")?;
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let text = text[digits..].strip_prefix(b" = ")?;
    if let Some(rest) = text.strip_prefix(b"NULL") {
        return Some((None, rest));
    }
    let mut rest = text.strip_prefix(b"'")?;
    let mut value = Vec::new();
    loop {
        let at = memchr(b'\'', rest)?;
        value.extend_from_slice(&rest[..at]);
        rest = &rest[at + 1..];
        let Some(behind) = rest.strip_prefix(b"'") else { return Some((Some(value), rest)) };
        value.push(b'\'');
        rest = behind;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_hold_quotes_commas_and_null() {
        let mut values = Vec::new();
        read(b"Parameters: $1 = 'it''s, $2 = ''x''', $2 = NULL, $3 = ''", &mut values);
        let expected: Vec<Option<Vec<u8>>> = vec![Some(b"it's, $2 = 'x'".to_vec()), None, Some(Vec::new())];
        assert_eq!(values, expected);
        read(b"prepare: PREPARE a AS SELECT 1", &mut values);
        assert!(values.is_empty());
    }
}
