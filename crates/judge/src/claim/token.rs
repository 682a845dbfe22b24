//! Splits a claim's text into tokens.

use super::error::{ClaimError, Problem};

/// A token and the column of its first character, from 1.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Token {
    pub(super) kind: Kind,
    pub(super) column: usize,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Kind {
    Number(f64),
    /// A bare name, or a text in quotation marks.
    Name(String),
    /// An operator or punctuation.
    Mark(&'static str),
    End,
}

impl Kind {
    pub(super) fn describe(&self) -> String {
        match self {
            Self::Number(number) => format!("{number}"),
            Self::Name(name) => format!("'{name}'"),
            Self::Mark(mark) => format!("'{mark}'"),
            Self::End => "the end".to_owned(),
        }
    }
}

/// A longer mark precedes the marks that are its prefixes, because the first match wins.
const MARKS: [&str; 11] = ["<=", ">=", "<", ">", "+", "-", "*", "/", "(", ")", ","];

/// Splits a text into tokens. The last token marks the end. A name may contain letters, digits, `_`, `.`, `@` and,
/// after its first character, `-`. A minus sign must therefore be separated from a name before it.
pub(super) fn tokens(text: &str) -> Result<Vec<Token>, ClaimError> {
    let mut tokens = Vec::new();
    let mut rest = text.char_indices().peekable();
    let column_of = |at: usize| text[..at].chars().count() + 1;
    while let Some(&(at, first)) = rest.peek() {
        let column = column_of(at);
        let tail = &text[at..];
        let (kind, length) = if first.is_whitespace() {
            rest.next();
            continue;
        } else if first.is_ascii_digit() {
            number(tail)
        } else if first == '"' {
            let inside = &tail[1..];
            let end = inside.find('"').ok_or_else(|| Problem::OpenText.at(column))?;
            (Kind::Name(inside[..end].to_owned()), end + 2)
        } else if is_name(first) {
            let end = tail.find(|next: char| !is_name(next) && next != '-').unwrap_or(tail.len());
            (Kind::Name(tail[..end].to_owned()), end)
        } else if let Some(mark) = MARKS.into_iter().find(|mark| tail.starts_with(mark)) {
            (Kind::Mark(mark), mark.len())
        } else {
            return Err(Problem::Character { found: first }.at(column));
        };
        tokens.push(Token { kind, column });
        while rest.next_if(|(next, _)| *next < at + length).is_some() {}
    }
    tokens.push(Token { kind: Kind::End, column: text.chars().count() + 1 });
    Ok(tokens)
}

/// A number, or a name that begins with a digit (`8clients`).
fn number(tail: &str) -> (Kind, usize) {
    let end = tail.find(|next: char| !is_name(next)).unwrap_or(tail.len());
    match tail[..end].parse() {
        Ok(number) => (Kind::Number(number), end),
        Err(_) => (Kind::Name(tail[..end].to_owned()), end),
    }
}

fn is_name(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '.' | '@')
}
