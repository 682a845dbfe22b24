//! Where in the text of a dump a reader is: in code, in quotes, in a comment.

use super::split::Syntax;

/// A part of a text whose end is looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Place {
    Code,
    Quoted {
        /// The quote.
        by: u8,
        /// Whether `\` takes the meaning from the next byte.
        has_escapes: bool,
    },
    /// A string of PostgreSQL with its delimiter, as `$body$`.
    Dollar(Vec<u8>),
    /// Until the end of the line.
    LineComment,
    /// A comment, and the number of those around it, which only PostgreSQL counts.
    BlockComment(usize),
}

impl Place {
    /// What begins here, outside of quotes and comments, and the length of its begin.
    pub(super) fn opened(rest: &[u8], syntax: Syntax) -> Option<(Self, usize)> {
        let is_mysql = syntax == Syntax::Mysql;
        match rest {
            [quote @ (b'\'' | b'"'), ..] => Some((Self::Quoted { by: *quote, has_escapes: is_mysql }, 1)),
            [b'`', ..] if is_mysql => Some((Self::Quoted { by: b'`', has_escapes: false }, 1)),
            [b'#', ..] if is_mysql => Some((Self::LineComment, 1)),
            [b'-', b'-', next, ..] if !is_mysql || next.is_ascii_whitespace() => Some((Self::LineComment, 2)),
            [b'-', b'-'] => Some((Self::LineComment, 2)),
            // The server executes these comments.
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

    /// How many bytes of a line belong to it (at least one), and where the text continues.
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

/// What the words of a statement say about its end.
#[derive(Debug, Default)]
pub(super) struct Words {
    /// The first words, in capitals.
    first: Vec<String>,
    /// The last word, in capitals.
    last: String,
    is_copy_from_stdin: bool,
    /// Blocks of the body of a routine that are open.
    blocks: usize,
}

impl Words {
    /// As many words as `CREATE OR REPLACE FUNCTION` has.
    const FIRST_MAX: usize = 4;
    /// A longer word is not a keyword.
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
        // As psql does: a body is between BEGIN and END, and a CASE in it has an END of its own.
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

    /// Whether it is `COPY … FROM stdin`, whose rows follow.
    pub(super) fn is_copy_from_stdin(&self) -> bool {
        self.is_copy_from_stdin
    }

    /// Whether a body written in SQL is open (`BEGIN ATOMIC`).
    pub(super) fn is_in_body(&self) -> bool {
        self.blocks > 0
    }
}
