//! Puts the values of a prepared statement in place of its question marks.

use super::proxysql::Parameter;

/// Types whose values are numbers, by their names in MySQL's protocol (`enum_field_types`). Logs write these names
/// with or without a prefix.
const NUMBERS: [&str; 11] = [
    "DECIMAL",
    "DOUBLE",
    "FLOAT",
    "INT24",
    "LONG",
    "LONGLONG",
    "NEWDECIMAL",
    "SHORT",
    "TINY",
    "YEAR",
    "BOOL",
];

/// Returns the statement with a literal for each parameter. `None` if the number of question marks differs from the
/// number of parameters.
pub(super) fn with_values(query: &[u8], parameters: &[Parameter<'_>]) -> Option<Vec<u8>> {
    let mut parameters = parameters.iter();
    let text = with_literals(query, &mut |text| parameters.next().map(|parameter| append(parameter, text)))?;
    parameters.next().is_none().then_some(text)
}

/// The statement with a literal for each question mark. `write` appends the next literal, or returns `None` if
/// there are no more.
pub(crate) fn with_literals(
    query: &[u8],
    write: &mut dyn FnMut(&mut Vec<u8>) -> Option<()>,
) -> Option<Vec<u8>> {
    let mut text = Vec::with_capacity(query.len() + 64);
    let mut at = 0;
    while let Some(byte) = query.get(at) {
        let end = match byte {
            b'?' => {
                write(&mut text)?;
                at += 1;
                continue;
            }
            b'\'' | b'"' | b'`' => quoted(query, at),
            b'#' => line(query, at),
            b'-' if query[at..].starts_with(b"-- ") => line(query, at),
            b'/' if query[at..].starts_with(b"/*") => {
                let length = memchr::memmem::find(&query[at + 2..], b"*/");
                length.map_or(query.len(), |length| at + length + 4)
            }
            _ => at + 1,
        };
        text.extend_from_slice(&query[at..end]);
        at = end;
    }
    Some(text)
}

/// The end of a string or name that begins at `begin`. A doubled quote is read as the end of one string and the
/// beginning of another.
fn quoted(query: &[u8], begin: usize) -> usize {
    let quote = query[begin];
    let mut at = begin + 1;
    while let Some(byte) = query.get(at) {
        match byte {
            b'\\' if quote != b'`' => at += 2,
            byte if *byte == quote => return at + 1,
            _ => at += 1,
        }
    }
    query.len()
}

fn line(query: &[u8], begin: usize) -> usize {
    memchr::memchr(b'\n', &query[begin..]).map_or(query.len(), |length| begin + length)
}

fn append(parameter: &Parameter<'_>, text: &mut Vec<u8>) {
    let Some(value) = &parameter.value else { return text.extend_from_slice(b"NULL") };
    let kind = parameter.kind.strip_prefix("MYSQL_TYPE_").unwrap_or(&parameter.kind);
    let is_number = NUMBERS.contains(&kind) && value.parse::<f64>().is_ok_and(f64::is_finite);
    if is_number {
        return text.extend_from_slice(value.as_bytes());
    }
    write_string(value.as_bytes(), text);
}

/// Appends a string literal. If the string is not UTF-8, the literal is hexadecimal.
pub(crate) fn write_string(value: &[u8], text: &mut Vec<u8>) {
    if str::from_utf8(value).is_err() {
        text.extend_from_slice(b"X'");
        let digit =
            |half: u8| char::from_digit(u32::from(half), 16).unwrap_or('0').to_ascii_uppercase() as u8;
        text.extend(value.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 0xF)]));
        text.push(b'\'');
        return;
    }
    text.push(b'\'');
    for byte in value {
        match byte {
            b'\'' => text.extend_from_slice(b"''"),
            b'\\' => text.extend_from_slice(b"\\\\"),
            0 => text.extend_from_slice(b"\\0"),
            byte => text.push(*byte),
        }
    }
    text.push(b'\'');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameter(kind: &str, value: Option<&str>) -> Parameter<'static> {
        Parameter { kind: kind.to_owned().into(), value: value.map(|value| value.to_owned().into()) }
    }

    #[test]
    fn values_stand_where_the_statement_has_question_marks() {
        let query = "SELECT '?\\'?', `a?` /* ? */ FROM t -- ?\nWHERE b = ? AND c = ? AND d = ? # ?";
        let values = [
            parameter("LONGLONG", Some("42")),
            parameter("VAR_STRING", Some("it's \\ 7")),
            parameter("NULL", None),
        ];
        let text = with_values(query.as_bytes(), &values).unwrap();
        let expected =
            "SELECT '?\\'?', `a?` /* ? */ FROM t -- ?\nWHERE b = 42 AND c = 'it''s \\\\ 7' AND d = NULL # ?";
        assert_eq!(String::from_utf8(text).unwrap(), expected);
    }

    #[test]
    fn a_number_that_is_none_is_a_string() {
        let text = with_values(b"SELECT ?", &[parameter("LONG", Some("1 OR 1"))]).unwrap();
        assert_eq!(text, b"SELECT '1 OR 1'");
    }

    #[test]
    fn another_number_of_values_is_none() {
        assert_eq!(with_values(b"SELECT ?", &[]), None);
        assert_eq!(with_values(b"SELECT 1", &[parameter("LONG", Some("1"))]), None);
        assert_eq!(with_values(b"SELECT '", &[]).unwrap(), b"SELECT '");
        assert_eq!(with_values(b"SELECT '\\", &[]).unwrap(), b"SELECT '\\");
    }
}
