//! The digest of a statement: its shape without the differences between statements that do the same work. Keywords
//! are in capitals, white space is normalised, and lists of values of any length look the same.

use super::Dialect;
use super::class::{is_of_word, is_space, run};

/// How a digest writes a list of literals of any length.
const LIST: &str = "(?+)";

/// The text of the digest of a shape.
pub fn digest_text(shape: &str, dialect: Dialect) -> String {
    let tokens = tokens(shape, dialect);
    let mut digest = String::with_capacity(shape.len());
    let mut last: Option<&str> = None;
    let mut at = 0;
    while let Some(token) = tokens.get(at).map(String::as_str) {
        let opens_list = token == "(" && last.is_some_and(takes_list);
        match list(&tokens[at..]).filter(|_| opens_list) {
            Some(length) => {
                write(&mut digest, last, LIST);
                at += length + repeated(&tokens, at, length);
                last = Some(")");
            }
            None if opens_list && last == Some("VALUES") => {
                let length = group(&tokens[at..]);
                for token in &tokens[at..at + length] {
                    write(&mut digest, last, token);
                    last = Some(token);
                }
                at += length + repeated(&tokens, at, length);
            }
            None => {
                write(&mut digest, last, token);
                last = Some(token);
                at += 1;
            }
        }
    }
    digest
}

/// Whether a list of values may follow a word.
fn takes_list(word: &str) -> bool {
    matches!(word, "IN" | "VALUES" | "VALUE" | "ROW" | "ARRAY")
}

/// Number of tokens of the list with which `tokens` begins. `None` if the list contains anything but literals.
fn list(tokens: &[String]) -> Option<usize> {
    let mut is_value_due = true;
    for (at, token) in tokens.iter().enumerate().skip(1) {
        match token.as_str() {
            "?" | "NULL" | "DEFAULT" | "TRUE" | "FALSE" if is_value_due => is_value_due = false,
            "," if !is_value_due => is_value_due = true,
            ")" if !is_value_due => return Some(at + 1),
            _ => return None,
        }
    }
    None
}

/// Number of tokens up to the bracket that closes the first token's bracket.
fn group(tokens: &[String]) -> usize {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate() {
        match token.as_str() {
            "(" => depth += 1,
            ")" if depth <= 1 => return at + 1,
            ")" => depth -= 1,
            _ => {}
        }
    }
    tokens.len()
}

/// Number of tokens in further rows that look like the row at `at`, which has `length` tokens.
fn repeated(tokens: &[String], at: usize, length: usize) -> usize {
    let row = &tokens[at..at + length];
    let is_list = list(row).is_some();
    let mut next = at + length;
    while tokens.get(next).is_some_and(|token| token == ",") {
        let rest = &tokens[next + 1..];
        let further = if is_list { list(rest) } else { rest.starts_with(row).then_some(length) };
        let Some(further) = further.filter(|_| rest.first().is_some_and(|token| token == "(")) else { break };
        next += 1 + further;
    }
    next - at - length
}

/// Appends a token, with a space before it if needed.
fn write(digest: &mut String, last: Option<&str>, token: &str) {
    let is_tight = match (last, token) {
        (None | Some("(" | "." | "@" | "[" | "::"), _) | (_, "," | ")" | "." | ";" | "]" | "[" | "::") => {
            true
        }
        (Some(last), "(") => {
            !is_keyword(last) && last.bytes().last().is_some_and(|byte| is_of_word(byte) || byte == b'`')
        }
        _ => false,
    };
    if !is_tight {
        digest.push(' ');
    }
    digest.push_str(token);
}

/// Splits a shape into tokens. Keywords are in capitals.
fn tokens(shape: &str, dialect: Dialect) -> Vec<String> {
    let bytes = shape.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let end = match bytes[at] {
            byte if is_space(byte) => {
                at += 1;
                continue;
            }
            byte if is_of_word(byte) => run(bytes, at, is_of_word),
            quote @ (b'"' | b'`') => quoted(bytes, at, quote),
            b'/' if bytes[at..].starts_with(b"/*+") => {
                memchr::memmem::find(&bytes[at..], b"*/").map_or(bytes.len(), |length| at + length + 2)
            }
            b'?' => at + 1 + usize::from(bytes.get(at + 1) == Some(&b'?')),
            _ => operator(bytes, at),
        };
        tokens.push(token(&shape[at..end], dialect));
        at = end;
    }
    tokens
}

fn quoted(bytes: &[u8], at: usize, quote: u8) -> usize {
    memchr::memchr(quote, &bytes[at + 1..]).map_or(bytes.len(), |length| at + length + 2)
}

/// Length of the operator at `at`. An operator of several characters, such as `<=`, is one token.
fn operator(bytes: &[u8], at: usize) -> usize {
    const OF_OPERATORS: &[u8] = b"<>=!~|&^:#";
    if OF_OPERATORS.contains(&bytes[at]) {
        return run(bytes, at, |byte| OF_OPERATORS.contains(&byte));
    }
    at + 1
}

fn token(text: &str, dialect: Dialect) -> String {
    let upper = text.to_ascii_uppercase();
    if is_keyword(&upper) {
        return upper;
    }
    match dialect {
        // PostgreSQL ignores the case of names that are not in quotes.
        Dialect::Postgresql if !text.starts_with('"') => text.to_ascii_lowercase(),
        // In MySQL, the names of two tables may differ only by case.
        _ => text.to_owned(),
    }
}

fn is_keyword(word: &str) -> bool {
    KEYWORDS.binary_search(&word).is_ok()
}

/// Keywords, which mean the same in upper and lower case. The list is sorted.
static KEYWORDS: [&str; 112] = [
    "ADD",
    "ALL",
    "ALTER",
    "ANALYZE",
    "AND",
    "ANY",
    "ARRAY",
    "AS",
    "ASC",
    "BEGIN",
    "BETWEEN",
    "BY",
    "CALL",
    "CASE",
    "CAST",
    "CHECK",
    "COLUMN",
    "COMMIT",
    "CONFLICT",
    "CONSTRAINT",
    "COPY",
    "CREATE",
    "CROSS",
    "DATABASE",
    "DEFAULT",
    "DELETE",
    "DESC",
    "DISTINCT",
    "DO",
    "DROP",
    "DUPLICATE",
    "ELSE",
    "END",
    "ENGINE",
    "EXCEPT",
    "EXECUTE",
    "EXISTS",
    "EXPLAIN",
    "FALSE",
    "FETCH",
    "FOR",
    "FORCE",
    "FOREIGN",
    "FROM",
    "FULL",
    "GRANT",
    "GROUP",
    "HAVING",
    "IF",
    "IGNORE",
    "IN",
    "INDEX",
    "INNER",
    "INSERT",
    "INTERSECT",
    "INTERVAL",
    "INTO",
    "IS",
    "JOIN",
    "KEY",
    "LEFT",
    "LIKE",
    "LIMIT",
    "LOCK",
    "NATURAL",
    "NOT",
    "NOTHING",
    "NULL",
    "OFFSET",
    "ON",
    "OR",
    "ORDER",
    "OUTER",
    "OVER",
    "PARTITION",
    "PRIMARY",
    "PROCEDURE",
    "REFERENCES",
    "RELEASE",
    "REPLACE",
    "RETURNING",
    "RIGHT",
    "ROLLBACK",
    "ROW",
    "SAVEPOINT",
    "SELECT",
    "SESSION",
    "SET",
    "SHARE",
    "SHOW",
    "SKIP",
    "START",
    "TABLE",
    "TEMPORARY",
    "THEN",
    "TO",
    "TRANSACTION",
    "TRUE",
    "TRUNCATE",
    "UNION",
    "UNIQUE",
    "UPDATE",
    "USE",
    "USING",
    "VALUE",
    "VALUES",
    "VIEW",
    "WHEN",
    "WHERE",
    "WINDOW",
    "WITH",
    "XA",
];
