//! The statements of a dump, one after the other. A dump of any size is read in bounded memory.
//!
//! The text is split as the client programs `psql` and `mysql` split it: at a delimiter outside of quotes, comments
//! and bodies of routines.

use std::io::{self, BufRead, Read as _};

use thiserror::Error;

use super::place::{Place, Words};
use crate::catalogue::entry::Family;

/// Limit of the length of a statement or a line in bytes. It is the largest packet that MySQL accepts.
const STATEMENT_BYTES_MAX: u64 = 1 << 30;

/// The product in whose SQL the text is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Syntax {
    Mysql,
    Postgres,
}

impl Syntax {
    pub(super) fn of(family: Family) -> Self {
        match family {
            Family::Postgres => Self::Postgres,
            Family::Mysql | Family::Mariadb | Family::Sqlite => Self::Mysql,
        }
    }
}

/// A part of a dump: a statement or a command.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Item {
    Statement(Statement),
    /// A command of `psql`, without its backslash, such as `connect shop`.
    Command {
        text: String,
        line: u64,
    },
}

/// A statement, without its delimiter.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Statement {
    pub(super) sql: Vec<u8>,
    /// The line in which the statement begins, counted from 1.
    pub(super) line: u64,
    /// Whether rows of `COPY … FROM stdin` follow.
    pub(super) has_rows: bool,
}

/// Why the rest of a dump cannot be read.
#[derive(Debug, Error)]
pub(super) enum SplitError {
    #[error("cannot be read: {0}")]
    Read(#[from] io::Error),
    #[error("line {line} belongs to a statement of more than 1 GiB, which no server takes")]
    TooLong { line: u64 },
    #[error("it ends within what begins in line {line}; it was cut off, or is not a dump")]
    CutOff { line: u64 },
}

/// Reads a dump.
pub(super) struct Splitter<R> {
    input: R,
    syntax: Syntax,
    /// The current line with its line break.
    text: Vec<u8>,
    /// Where the unread rest of the current line begins.
    at: usize,
    /// The number of the current line, counted from 1.
    line: u64,
    delimiter: Vec<u8>,
}

impl<R: BufRead> Splitter<R> {
    pub(super) fn new(input: R, syntax: Syntax) -> Self {
        Self { input, syntax, text: Vec::new(), at: 0, line: 0, delimiter: b";".to_vec() }
    }

    /// The next statement or command. `None` at the end of the dump.
    pub(super) fn next(&mut self) -> Result<Option<Item>, SplitError> {
        let mut statement = Open::new(self.syntax);
        loop {
            if self.at == self.text.len() {
                if !self.read_line()? {
                    return statement.at_end();
                }
                if let Some(command) = self.command().filter(|_| statement.is_blank()) {
                    self.at = self.text.len();
                    match command {
                        Command::Psql(text) => return Ok(Some(Item::Command { text, line: self.line })),
                        Command::Delimiter(delimiter) => self.delimiter = delimiter,
                    }
                    continue;
                }
            }
            let rest = &self.text[self.at..];
            if statement.ends_here() && rest.starts_with(&self.delimiter) {
                self.at += self.delimiter.len();
                if statement.has_code {
                    return Ok(Some(statement.close()));
                }
                statement = Open::new(self.syntax);
                continue;
            }
            self.at += statement.take(rest, self.line);
            if statement.sql.len() as u64 > STATEMENT_BYTES_MAX {
                return Err(SplitError::TooLong { line: statement.line });
            }
        }
    }

    /// Reads whole rows of a `COPY … FROM stdin` into an empty buffer, until the buffer has at least `bytes` bytes.
    /// `line` is the line of the statement. Returns false after the last row.
    pub(super) fn rows(&mut self, line: u64, into: &mut Vec<u8>, bytes: usize) -> Result<bool, SplitError> {
        // Skips the rest of the statement's line.
        self.at = self.text.len();
        while into.len() < bytes {
            if !self.read_line()? {
                return Err(SplitError::CutOff { line });
            }
            self.at = self.text.len();
            if matches!(self.text.as_slice(), b"\\.\n" | b"\\.\r\n" | b"\\.") {
                return Ok(false);
            }
            into.extend_from_slice(&self.text);
        }
        Ok(true)
    }

    fn read_line(&mut self) -> Result<bool, SplitError> {
        self.text.clear();
        self.at = 0;
        let bytes = (&mut self.input).take(STATEMENT_BYTES_MAX).read_until(b'\n', &mut self.text)?;
        self.line += u64::from(bytes > 0);
        if bytes as u64 == STATEMENT_BYTES_MAX && !self.text.ends_with(b"\n") {
            return Err(SplitError::TooLong { line: self.line });
        }
        Ok(bytes > 0)
    }

    /// The current line as a command of the client program; `None` if it is SQL.
    fn command(&self) -> Option<Command> {
        let line = self.text.trim_ascii();
        match self.syntax {
            Syntax::Postgres => {
                let text = line.strip_prefix(b"\\")?;
                Some(Command::Psql(String::from_utf8_lossy(text).into_owned()))
            }
            Syntax::Mysql => {
                const DELIMITER: &[u8] = b"DELIMITER";
                let (word, rest) = line.split_at_checked(DELIMITER.len())?;
                let delimiter = rest.trim_ascii();
                let is_it = word.eq_ignore_ascii_case(DELIMITER)
                    && rest.first().is_some_and(u8::is_ascii_whitespace)
                    && !delimiter.is_empty();
                is_it.then(|| Command::Delimiter(delimiter.to_vec()))
            }
        }
    }
}

/// A line that is not SQL.
enum Command {
    /// A command of `psql`, without its backslash.
    Psql(String),
    /// `DELIMITER` of `mysql`.
    Delimiter(Vec<u8>),
}

/// A statement that is being read.
struct Open {
    syntax: Syntax,
    sql: Vec<u8>,
    line: u64,
    /// Whether the statement contains more than white space and comments.
    has_code: bool,
    place: Place,
    words: Words,
    /// Number of open parentheses. In a rule of PostgreSQL, statements may be in parentheses.
    parentheses: usize,
}

impl Open {
    fn new(syntax: Syntax) -> Self {
        Self {
            syntax,
            sql: Vec::new(),
            line: 0,
            has_code: false,
            place: Place::Code,
            words: Words::default(),
            parentheses: 0,
        }
    }

    /// Whether the statement is still empty, so that a command of the client program may follow.
    fn is_blank(&self) -> bool {
        !self.has_code && self.place == Place::Code
    }

    /// Whether a delimiter at this position would end the statement.
    fn ends_here(&self) -> bool {
        self.place == Place::Code && self.is_whole()
    }

    /// Whether no parenthesis and no body of a routine is open. Only PostgreSQL allows delimiters in them.
    fn is_whole(&self) -> bool {
        self.syntax == Syntax::Mysql || (self.parentheses == 0 && !self.words.is_in_body())
    }

    fn close(self) -> Item {
        let has_rows = self.syntax == Syntax::Postgres && self.words.is_copy_from_stdin();
        Item::Statement(Statement { sql: self.sql, line: self.line, has_rows })
    }

    /// Ends the statement at the end of the dump. Fails if the statement has begun, and quotes, a comment, a
    /// parenthesis or the body of a routine are still open.
    fn at_end(self) -> Result<Option<Item>, SplitError> {
        match self.place {
            Place::Code | Place::LineComment if self.is_whole() => Ok(self.has_code.then(|| self.close())),
            _ if !self.has_code => Ok(None),
            _ => Err(SplitError::CutOff { line: self.line }),
        }
    }

    /// Reads the next token of a line into the statement. Returns the token's length, which is never 0.
    fn take(&mut self, rest: &[u8], line: u64) -> usize {
        let (length, is_code) = if self.place == Place::Code {
            self.take_code(rest)
        } else {
            let is_code = !self.place.is_comment();
            let (length, next) = self.place.passed(rest, self.syntax);
            self.place = next;
            (length, is_code)
        };
        if is_code && !self.has_code {
            (self.has_code, self.line) = (true, line);
        }
        if self.has_code {
            self.sql.extend_from_slice(&rest[..length]);
        }
        length
    }

    /// Reads a token outside quotes and comments. Returns its length, and whether the token is code rather than white
    /// space or a comment.
    fn take_code(&mut self, rest: &[u8]) -> (usize, bool) {
        if let Some((place, length)) = Place::opened(rest, self.syntax) {
            let is_code = !place.is_comment();
            self.place = place;
            return (length, is_code);
        }
        let is_inside = |(at, byte): &(usize, &u8)| is_of_word(**byte) || (*at > 0 && **byte == b'$');
        let word = rest.iter().enumerate().take_while(is_inside).count();
        if word > 0 {
            if self.syntax == Syntax::Mysql {
                return (word, true);
            }
            self.words.note(&rest[..word]);
            // The next token is a string with escapes: E'…'.
            if rest[..word].eq_ignore_ascii_case(b"e") && rest.get(word) == Some(&b'\'') {
                self.place = Place::Quoted { by: b'\'', has_escapes: true };
                return (word + 1, true);
            }
            return (word, true);
        }
        match rest[0] {
            b'(' => self.parentheses += 1,
            b')' => self.parentheses = self.parentheses.saturating_sub(1),
            _ => {}
        }
        (1, !rest[0].is_ascii_whitespace())
    }
}

fn is_of_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || !byte.is_ascii()
}
