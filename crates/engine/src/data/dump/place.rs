//! Tracks where a reader is in the text of a dump: in code, in quotes, or in a comment.

use super::split::Syntax;

/// The context of a position in the text: code, quotes, or a comment.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Code,
    Quoted {
        /// The quote character.
        by: u8,
        /// Whether `\` escapes the next byte.
        has_escapes: bool,
    },
    /// A dollar-quoted string of PostgreSQL, with its delimiter, such as `$body$`.
    Dollar(Vec<u8>),
    /// A comment that ends with the line.
    LineComment,
    /// A block comment. The number says how many open comments surround it. Only PostgreSQL nests comments.
    BlockComment(usize),
}

impl Place {
    /// Returns the quotes or the comment with which `rest` begins, and the length of the opening mark. `rest` begins
    /// outside of quotes and comments. Returns `None` if it begins with code.
    pub(super) fn opened(rest: &[u8], syntax: Syntax) -> Option<(Self, usize)> {
        let is_mysql = syntax == Syntax::Mysql;
        match rest {
            [quote @ (b'\'' | b'"'), ..] => Some((Self::Quoted { by: *quote, has_escapes: is_mysql }, 1)),
            [b'`', ..] if is_mysql => Some((Self::Quoted { by: b'`', has_escapes: false }, 1)),
            [b'#', ..] if is_mysql => Some((Self::LineComment, 1)),
            [b'-', b'-', next, ..] if !is_mysql || next.is_ascii_whitespace() => Some((Self::LineComment, 2)),
            [b'-', b'-'] => Some((Self::LineComment, 2)),
            // These comments count as code, because the server executes their content.
            [b'/', b'*', b'!', ..] | [b'/', b'*', b'M', b'!', ..] if is_mysql => None,
            [b'/', b'*', ..] => Some((Self::BlockComment(0), 2)),
            [b'$', ..] if !is_mysql => {
                let tag = dollar(rest)?;
                Some((Self::Dollar(tag.to_vec()), tag.len()))
            }
            _ => None,
        }
    }

    pub(super) fn is_comment(&self) -> bool {
        matches!(self, Self::LineComment | Self::BlockComment(_))
    }

    /// Returns how many bytes at the start of `rest` belong to this context (at least one), and the context of the byte
    /// that follows. `rest` is the unread part of a line.
    pub(super) fn passed(&self, rest: &[u8], syntax: Syntax) -> (usize, Self) {
        let whole = || (rest.len(), self.clone());
        match self {
            Self::Code => whole(),
            Self::LineComment => (rest.len(), Self::Code),
            Self::Quoted { by, has_escapes } => {
                let mut at = 0;
                while at < rest.len() {
                    match rest[at] {
                        byte if byte == *by => return (at + 1, Self::Code),
                        b'\\' if *has_escapes => at += 2,
                        _ => at += 1,
                    }
                }
                whole()
            }
            Self::Dollar(tag) => find(rest, tag).map_or_else(whole, |at| (at + tag.len(), Self::Code)),
            Self::BlockComment(outer) => {
                let begin = find(rest, b"/*").filter(|_| syntax == Syntax::Postgres);
                match (find(rest, b"*/"), begin) {
                    (end, Some(begin)) if end.is_none_or(|end| begin < end) => {
                        (begin + 2, Self::BlockComment(outer + 1))
                    }
                    (Some(end), _) => (end + 2, outer.checked_sub(1).map_or(Self::Code, Self::BlockComment)),
                    (None, _) => whole(),
                }
            }
        }
    }
}

/// The delimiter of a dollar-quoted string that begins here.
fn dollar(rest: &[u8]) -> Option<&[u8]> {
    let name = rest[1..]
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_' || !byte.is_ascii());
    let end = 1 + name.count();
    let is_parameter = rest.get(1).is_some_and(u8::is_ascii_digit);
    (rest.get(end) == Some(&b'$') && !is_parameter).then(|| &rest[..=end])
}

fn find(text: &[u8], wanted: &[u8]) -> Option<usize> {
    text.windows(wanted.len()).position(|window| window == wanted)
}

/// The words of a statement that decide where the statement ends.
#[derive(Debug, Default)]
pub(super) struct Words {
    /// The first words of the statement, in capitals.
    first: Vec<String>,
    /// The latest word of the statement, in capitals.
    last: String,
    is_copy_from_stdin: bool,
    /// Number of open blocks in the body of a routine.
    blocks: usize,
}

impl Words {
    /// Number of words that are kept from the beginning of a statement. They suffice to recognise
    /// `CREATE OR REPLACE FUNCTION`.
    const FIRST_MAX: usize = 4;
    /// Limit of a word's length in bytes. A longer word is not a keyword.
    const BYTES_MAX: usize = 32;

    pub(super) fn note(&mut self, word: &[u8]) {
        if word.len() > Self::BYTES_MAX {
            self.last.clear();
            return;
        }
        let word = String::from_utf8_lossy(word).to_ascii_uppercase();
        self.is_copy_from_stdin |=
            word == "STDIN" && self.last == "FROM" && self.first.first().is_some_and(|first| first == "COPY");
        if self.first.len() < Self::FIRST_MAX {
            self.first.push(word.clone());
        }
        // As in psql, a body is between BEGIN and END, and a CASE in it has an END of its own.
        if self.makes_routine() {
            match word.as_str() {
                "BEGIN" => self.blocks += 1,
                "CASE" if self.blocks > 0 => self.blocks += 1,
                "END" => self.blocks = self.blocks.saturating_sub(1),
                _ => {}
            }
        }
        self.last = word;
    }

    fn makes_routine(&self) -> bool {
        let words: Vec<&str> = self.first.iter().map(String::as_str).collect();
        matches!(
            words[..],
            ["CREATE", "FUNCTION" | "PROCEDURE", ..] | ["CREATE", "OR", "REPLACE", "FUNCTION" | "PROCEDURE"]
        )
    }

    /// Whether the statement is `COPY … FROM stdin`. If so, its rows follow.
    pub(super) fn is_copy_from_stdin(&self) -> bool {
        self.is_copy_from_stdin
    }

    /// Whether a body written in SQL is open (`BEGIN ATOMIC`).
    pub(super) fn is_in_body(&self) -> bool {
        self.blocks > 0
    }
}
