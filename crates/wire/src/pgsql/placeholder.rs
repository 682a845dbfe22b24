//! Rewrites `?` placeholders, which scripts use for every engine, as PostgreSQL's `$1`, `$2`, ….
//!
//! A `?` is a placeholder outside of string literals, quoted identifiers, comments and dollar quotes ("Lexical
//! Structure" in the PostgreSQL manual). `standard_conforming_strings` is assumed to be on, which is the default.
//! PostgreSQL also has operators with a `?` (`jsonb ? 'key'`, `?|`, `?&`). They are written `??`, `??|`, `??&`, as
//! in JDBC. Text without `?` is not changed, so `$1` may be written directly.

use std::io::Write as _;

/// Appends `sql` with its placeholders numbered.
pub(super) fn write_numbered(sql: &[u8], out: &mut Vec<u8>) {
    let mut number = 0;
    let mut at = 0;
    while at < sql.len() {
        let step = match &sql[at..] {
            [b'?', b'?', ..] => {
                out.push(b'?');
                2
            }
            [b'?', ..] => {
                number += 1;
                write!(out, "${number}").expect("a Vec takes all that is written to it");
                1
            }
            rest => {
                let length = token_bytes(sql, at);
                out.extend_from_slice(&rest[..length]);
                length
            }
        };
        at += step;
    }
}

/// Length of the token at `at`: a quoted text, a comment, or one byte.
fn token_bytes(sql: &[u8], at: usize) -> usize {
    let rest = &sql[at..];
    match rest {
        [b'\'', ..] => quoted_bytes(rest, is_escape_string(&sql[..at])),
        [b'"', ..] => quoted_bytes(rest, false),
        [b'-', b'-', ..] => rest.iter().position(|byte| b"\n\r".contains(byte)).unwrap_or(rest.len()),
        [b'/', b'*', ..] => comment_bytes(rest),
        [b'$', ..] if !ends_in_word(&sql[..at]) => dollar_quoted_bytes(rest),
        _ => 1,
    }
}

/// Length of a quoted text. A doubled quote is read as the end of one text and the start of the next, which gives
/// the same total length.
fn quoted_bytes(sql: &[u8], backslash_escapes: bool) -> usize {
    let mut at = 1;
    while at < sql.len() {
        match sql[at] {
            b'\\' if backslash_escapes => at += 2,
            byte if byte == sql[0] => return at + 1,
            _ => at += 1,
        }
    }
    sql.len()
}

/// Length of a comment, with the comments nested in it.
fn comment_bytes(sql: &[u8]) -> usize {
    let mut depth = 0;
    let mut at = 0;
    while at < sql.len() {
        match &sql[at..] {
            [b'/', b'*', ..] => (depth, at) = (depth + 1, at + 2),
            [b'*', b'/', ..] => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

/// Length of a dollar-quoted text (`$tag$ … $tag$`); 1 if the `$` does not start such a text.
fn dollar_quoted_bytes(sql: &[u8]) -> usize {
    let tag_bytes = sql[1..].iter().take_while(|&&byte| byte != b'$' && is_word(byte)).count();
    let is_quote = sql.get(1 + tag_bytes) == Some(&b'$') && !sql[1].is_ascii_digit();
    if !is_quote {
        return 1;
    }
    let (delimiter, text) = sql.split_at(tag_bytes + 2);
    match text.windows(delimiter.len()).position(|window| window == delimiter) {
        Some(end) => end + 2 * delimiter.len(),
        None => sql.len(),
    }
}

/// Whether a quote after `before` starts a string of the form `E'…'`, in which backslashes escape characters.
fn is_escape_string(before: &[u8]) -> bool {
    matches!(before, [word @ .., b'e' | b'E'] if !ends_in_word(word))
}

fn ends_in_word(sql: &[u8]) -> bool {
    sql.last().is_some_and(|&byte| is_word(byte))
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | 0x80..)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn numbered(sql: &str) -> String {
        let mut out = Vec::new();
        write_numbered(sql.as_bytes(), &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn placeholders_are_numbered_in_order() {
        assert_eq!(numbered("SELECT c FROM t WHERE id=? AND k>?"), "SELECT c FROM t WHERE id=$1 AND k>$2");
        assert_eq!(numbered("SELECT ?||?"), "SELECT $1||$2");
        assert_eq!(numbered(&"?".repeat(3).replace('?', "? ")), "$1 $2 $3 ");
    }

    #[test]
    fn a_doubled_question_mark_is_the_operator() {
        assert_eq!(numbered("SELECT doc ?? ?, doc ??| ?"), "SELECT doc ? $1, doc ?| $2");
    }

    #[test]
    fn texts_and_comments_pass_as_they_are() {
        for opaque in [
            "'why?'",
            "'it''s ?'",
            r"'\'",
            r"E'\'?'",
            r"e'\\'",
            r#""odd?""name?""#,
            "-- what?\n",
            "/* a? /* b? */ c? */",
            "$$ ? $$",
            "$tag$ ? $$ ? $tag$",
            "$été$ ? $été$",
        ] {
            let sql = format!("SELECT ? , {opaque} , ?");
            assert_eq!(numbered(&sql), format!("SELECT $1 , {opaque} , $2"), "{opaque}");
        }
    }

    #[test]
    fn dollars_and_letters_that_quote_nothing_hide_nothing() {
        assert_eq!(numbered("SELECT $1, ?, a$b, ?, a$"), "SELECT $1, $1, a$b, $2, a$");
        assert_eq!(numbered(r"SELECT type'\', ?"), r"SELECT type'\', $1");
        assert_eq!(numbered("SELECT 4 / 2 * ? - 1"), "SELECT 4 / 2 * $1 - 1");
    }

    #[test]
    fn what_is_never_closed_runs_to_the_end() {
        for sql in ["'?", "\"?", r"E'?\", "--?", "/*?", "/*? /* */", "$$?", "$a$? $b$"] {
            assert_eq!(numbered(sql), sql);
        }
    }

    proptest! {
        #[test]
        fn text_without_question_marks_is_unchanged(sql in "[^?]*") {
            prop_assert_eq!(numbered(&sql), sql);
        }

        #[test]
        fn no_text_panics(sql in r#"[?'"$/*\-eE\\a\n]*"#) {
            numbered(&sql);
        }
    }
}
