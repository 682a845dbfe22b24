//! Reduces a statement to its text without values, which is the same in all its executions.

/// The first words of the statements that servers can explain.
const EXPLAINABLE: [&str; 8] = ["SELECT", "UPDATE", "DELETE", "INSERT", "REPLACE", "WITH", "VALUES", "TABLE"];

/// Returns a statement without its trailing semicolon, if servers can explain it. Texts that may contain several
/// statements are left out, because `EXPLAIN` would apply only to the first one, and the others would be executed.
pub(crate) fn explainable(sql: &str) -> Option<&str> {
    let sql = sql.trim().trim_end_matches(';').trim_end();
    let first = sql.trim_start_matches(|letter: char| letter == '(' || letter.is_whitespace());
    let length = first.find(|letter: char| !letter.is_ascii_alphabetic()).unwrap_or(first.len());
    let word = &first[..length];
    let is_known = EXPLAINABLE.iter().any(|known| known.eq_ignore_ascii_case(word));
    (is_known && !sql.contains(';')).then_some(sql)
}

/// Returns a statement with `?` for each string and number, `?…` for each list of values, and single spaces.
pub(crate) fn without_values(sql: &str) -> String {
    let mut kept = String::with_capacity(sql.len());
    let mut rest = sql.trim();
    while let Some(letter) = rest.chars().next() {
        let length = match letter {
            '\'' => {
                push_value(&mut kept);
                string_length(rest)
            }
            '?' => {
                push_value(&mut kept);
                1
            }
            '0'..='9' => {
                push_value(&mut kept);
                word_length(rest)
            }
            '`' | '"' => push(&mut kept, rest, quoted_length(rest, letter)),
            _ if letter.is_whitespace() => {
                kept.push(' ');
                rest.find(|letter: char| !letter.is_whitespace()).unwrap_or(rest.len())
            }
            // A name may contain digits, so the whole word is kept.
            _ if is_of_word(letter) => push(&mut kept, rest, word_length(rest)),
            _ => push(&mut kept, rest, letter.len_utf8()),
        };
        rest = &rest[length..];
    }
    kept
}

fn push(kept: &mut String, rest: &str, length: usize) -> usize {
    kept.push_str(&rest[..length]);
    length
}

/// Adds `?` for a value. If the text ends with another value and a comma, replaces both by `?…`, which stands for a
/// list.
fn push_value(kept: &mut String) {
    let list = kept.trim_end().strip_suffix(',').map_or("", str::trim_end);
    let (length, is_value, is_list) = (list.len(), list.ends_with('?'), list.ends_with("?…"));
    if is_value || is_list {
        kept.truncate(length);
        kept.push_str(if is_value { "…" } else { "" });
    } else {
        kept.push('?');
    }
}

fn is_of_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_' || letter == '$'
}

/// Length of a name or a number, in bytes. A number includes its decimal point.
fn word_length(rest: &str) -> usize {
    let is_number = rest.starts_with(|letter: char| letter.is_ascii_digit());
    rest.find(|letter: char| !(is_of_word(letter) || is_number && letter == '.')).unwrap_or(rest.len())
}

/// Length of a string with its quotes, in bytes. A quote inside the string is doubled, or preceded by a backslash.
fn string_length(rest: &str) -> usize {
    let bytes = rest.as_bytes();
    let mut at = 1;
    while at < bytes.len() {
        match bytes[at] {
            b'\\' => at += 1,
            b'\'' if bytes.get(at + 1) == Some(&b'\'') => at += 1,
            b'\'' => return at + 1,
            _ => {}
        }
        at += 1;
    }
    bytes.len()
}

/// Length of a quoted name with its quotes, in bytes.
fn quoted_length(rest: &str, quote: char) -> usize {
    rest[1..].find(quote).map_or(rest.len(), |at| at + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_left_out_and_names_keep_their_digits() {
        for (sql, text) in [
            ("SELECT c FROM sbtest1 WHERE id=503", "SELECT c FROM sbtest1 WHERE id=?"),
            (
                "SELECT c\n  FROM t1  WHERE a = 'it''s' AND b=\"x 1\"",
                "SELECT c FROM t1 WHERE a = ? AND b=\"x 1\"",
            ),
            ("SELECT 1.5e3, `a 1`, 'back\\'slash'", "SELECT ?, `a 1`, ?"),
            ("DELETE FROM t WHERE id IN (1, 2,3 , 4)", "DELETE FROM t WHERE id IN (?…)"),
            ("DELETE FROM t WHERE id IN (?, ?)", "DELETE FROM t WHERE id IN (?…)"),
            ("INSERT INTO t (a, b) VALUES (1, 'ü')", "INSERT INTO t (a, b) VALUES (?…)"),
            ("SELECT 'no end", "SELECT ?"),
            ("SELECT `no end", "SELECT `no end"),
            ("", ""),
        ] {
            assert_eq!(without_values(sql), text, "{sql}");
        }
    }

    #[test]
    fn one_statement_of_a_kind_that_has_a_plan_can_be_explained() {
        assert_eq!(explainable(" select 1 ; "), Some("select 1"));
        assert_eq!(explainable("(SELECT 1) UNION (SELECT 2)"), Some("(SELECT 1) UNION (SELECT 2)"));
        for sql in [
            "BEGIN",
            "SET a = 1",
            "CALL p()",
            "SELECT 1; DELETE FROM t",
            "SELECT ';'",
            "SELECTED",
            "",
            "COMMIT",
        ] {
            assert_eq!(explainable(sql), None, "{sql}");
        }
    }
}
