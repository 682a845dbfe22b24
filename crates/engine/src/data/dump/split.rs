//! The statements of a dump, one after the other. A dump of any size is read in bounded memory.
//!
//! The text is parted as the client programs `psql` and `mysql` part it: at a delimiter outside of quotes, comments and
//! bodies of routines.

use std::io::{self, BufRead, Read as _};

use thiserror::Error;

use super::place::{Place, Words};

/// The longest statement or line that is read. It is the largest packet that MySQL takes.
const STATEMENT_BYTES_MAX: u64 = 1 << 30;

/// Whose dump it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Syntax {
    Mysql,
    Postgres,
}

/// A part of a dump.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Item {
    Statement(Statement),
    /// `\connect`: what follows is for this database.
    Connect {
        database: String,
        line: u64,
    },
}

/// A statement, without its delimiter.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Statement {
    pub(super) sql: Vec<u8>,
    /// The line that it begins in, from 1.
    pub(super) line: u64,
    /// Whether rows of `COPY … FROM stdin` follow.
    pub(super) has_rows: bool,
}

/// Why a dump cannot be read on.
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
    /// The current line with its end.
    text: Vec<u8>,
    /// Where in it the rest begins.
    at: usize,
    /// Its number, from 1.
    line: u64,
    delimiter: Vec<u8>,
}

impl<R: BufRead> Splitter<R> {
    pub(super) fn new(input: R, syntax: Syntax) -> Self {
        Self { input, syntax, text: Vec::new(), at: 0, line: 0, delimiter: b";".to_vec() }
    }

    /// The next statement or command; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Item>, SplitError> {
        let mut statement = Open::new(self.syntax);
        loop {
            if self.at == self.text.len() {
                if !self.read_line()? {
                    return statement.at_end();
                }
                if statement.is_blank() {
                    let command = self.command();
                    if command.is_some() {
                        self.at = self.text.len();
                    }
                    match command {
                        Some(Command::Connect(database)) => {
                            return Ok(Some(Item::Connect { database, line: self.line }));
                        }
                        Some(Command::Done) => continue,
                        None => {}
                    }
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

    /// Reads whole rows of the `COPY … FROM stdin` in a line until there are `bytes`, into an empty buffer. Returns
    /// false after the last row.
    pub(super) fn rows(&mut self, line: u64, into: &mut Vec<u8>, bytes: usize) -> Result<bool, SplitError> {
        // The rest of the statement's line.
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

    /// The command that the current line is: one of `psql` or `mysql` rather than a statement.
    fn command(&mut self) -> Option<Command> {
        let line = self.text.trim_ascii();
        match self.syntax {
            Syntax::Postgres => {
                let rest = line.strip_prefix(b"\\")?;
                let text = String::from_utf8_lossy(rest);
                let (name, argument) = text.split_once(char::is_whitespace).unwrap_or((text.as_ref(), ""));
                Some(match name {
                    "connect" | "c" => Command::Connect(database(argument)),
                    // Among others `\restrict`, which keeps psql from other commands.
                    _ => Command::Done,
                })
            }
            Syntax::Mysql => {
                const DELIMITER: &[u8] = b"DELIMITER";
                let (word, rest) = line.split_at_checked(DELIMITER.len())?;
                let delimiter = rest.trim_ascii();
                let is_it = word.eq_ignore_ascii_case(DELIMITER)
                    && rest.first().is_some_and(u8::is_ascii_whitespace)
                    && !delimiter.is_empty();
                is_it.then(|| {
                    self.delimiter = delimiter.to_vec();
                    Command::Done
                })
            }
        }
    }
}

/// A line that is not a statement.
enum Command {
    Connect(String),
    /// There is nothing more to do about it.
    Done,
}

/// The database that `\connect` names: the last word, which may be in quotes, or a connection string with `dbname='…'`.
fn database(argument: &str) -> String {
    let argument = argument.trim();
    if let Some((_, name)) = argument.split_once("dbname=") {
        let name = name.trim_end_matches('"').trim();
        return name.trim_matches('\'').replace("\\'", "'").replace("\\\\", "\\");
    }
    match argument.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(quoted) => quoted.replace("\"\"", "\""),
        None => argument.split_whitespace().next_back().unwrap_or_default().to_owned(),
    }
}

/// A statement that is being read.
struct Open {
    syntax: Syntax,
    sql: Vec<u8>,
    line: u64,
    /// Whether it has anything but comments.
    has_code: bool,
    place: Place,
    words: Words,
    /// Open parentheses. A rule of PostgreSQL has statements in them.
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

    /// Whether a command of the client program may follow.
    fn is_blank(&self) -> bool {
        !self.has_code && self.place == Place::Code
    }

    /// Whether a delimiter would end it.
    fn ends_here(&self) -> bool {
        let is_whole = self.syntax == Syntax::Mysql || (self.parentheses == 0 && !self.words.is_in_body());
        self.place == Place::Code && is_whole
    }

    fn close(self) -> Item {
        let has_rows = self.syntax == Syntax::Postgres && self.words.is_copy_from_stdin();
        Item::Statement(Statement { sql: self.sql, line: self.line, has_rows })
    }

    /// What the end of the dump makes of it.
    fn at_end(self) -> Result<Option<Item>, SplitError> {
        match self.place {
            Place::Code | Place::LineComment if self.parentheses == 0 && !self.words.is_in_body() => {
                Ok(self.has_code.then(|| self.close()))
            }
            _ if !self.has_code => Ok(None),
            _ => Err(SplitError::CutOff { line: self.line }),
        }
    }

    /// Takes the next token of a line, and returns its length, which is never 0.
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

    /// Reads a token outside quotes and comments. Returns its length, and whether it is something other than space.
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
            // A string with escapes: E'…'.
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
