//! Writes a statement as text with its values, for example to explain it.

use super::Form;

impl Form {
    /// The statement with its values, as an example of its digest. `None` if the statement is not sent, or is not
    /// UTF-8.
    pub fn example(&self) -> Option<String> {
        match self {
            Self::Text(sql) => String::from_utf8(sql.clone()).ok(),
            Self::Prepared { sql, params } => String::from_utf8(with_values(sql, params)?).ok(),
            Self::Not(_) => None,
        }
    }
}

/// Puts values in place of `$1`, `$2`, …. `None` if a value is missing. PostgreSQL infers the types of quoted
/// values in the same way as the types of parameters.
fn with_values(sql: &[u8], params: &[Option<Vec<u8>>]) -> Option<Vec<u8>> {
    let mut text = Vec::with_capacity(sql.len() + 32);
    let (mut at, mut quote) = (0, None);
    while at < sql.len() {
        let byte = sql[at];
        at += 1;
        match (byte, quote) {
            (b'\'' | b'"', None) => quote = Some(byte),
            (byte, Some(open)) if byte == open => quote = None,
            (b'$', None) => {
                let digits = sql[at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
                if let Some(number) =
                    str::from_utf8(&sql[at..at + digits]).ok().and_then(|it| it.parse::<usize>().ok())
                {
                    at += digits;
                    push_value(params.get(number.checked_sub(1)?)?.as_deref(), &mut text);
                    continue;
                }
            }
            // A question mark of the statement itself is doubled, so one of the two is skipped.
            (b'?', None) if sql.get(at) == Some(&b'?') => at += 1,
            _ => {}
        }
        text.push(byte);
    }
    Some(text)
}

fn push_value(value: Option<&[u8]>, text: &mut Vec<u8>) {
    let Some(value) = value else {
        text.extend_from_slice(b"NULL");
        return;
    };
    text.push(b'\'');
    for byte in value {
        if *byte == b'\'' {
            text.push(b'\'');
        }
        text.push(*byte);
    }
    text.push(b'\'');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::NotSent;

    #[test]
    fn an_example_has_its_values() {
        let params = vec![Some(b"it's".to_vec()), None];
        let sql = b"SELECT '$1', \"a?\" ?? $2 FROM t WHERE b = $1 AND c = $2".to_vec();
        let example = Form::Prepared { sql, params: params.clone() }.example();
        assert_eq!(example.unwrap(), "SELECT '$1', \"a?\" ? NULL FROM t WHERE b = 'it''s' AND c = NULL");
        assert_eq!(Form::Prepared { sql: b"SELECT $3".to_vec(), params }.example(), None);
        assert_eq!(Form::Text(b"SELECT 1".to_vec()).example().unwrap(), "SELECT 1");
        assert_eq!(Form::Not(NotSent::Server).example(), None);
    }
}
