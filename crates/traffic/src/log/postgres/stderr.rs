//! PostgreSQL's log on standard error, with a `log_line_prefix` that begins with `%m` or `%t` and has `%c` or `%p`.
//!
//! An entry has a line with its severity, then lines such as `DETAIL:  …` and `STATEMENT:  …` with the same prefix.
//! Continuation lines of a text begin with a tab.

use super::message::{Messages, Record};
use crate::error::TrafficError;
use crate::input::{Line, STATEMENT_BYTES_MAX};
use crate::log::moment::{Moment, iso};
use crate::log::text::split_once;
use crate::log::{Event, Reader, See, Trouble};

/// Reads a log that PostgreSQL writes to standard error.
#[derive(Debug, Default)]
pub(crate) struct Stderr {
    entry: Entry,
    part: Part,
    messages: Messages,
    has_told_zone: bool,
}

/// The current entry.
#[derive(Debug, Default)]
struct Entry {
    /// The number of the entry's first line. 0 if there is no entry.
    line: u64,
    at: Option<Moment>,
    session: Vec<u8>,
    user: Vec<u8>,
    database: Vec<u8>,
    severity: Vec<u8>,
    message: Vec<u8>,
    detail: Vec<u8>,
    statement: Vec<u8>,
    is_too_long: bool,
}

/// The part of the entry to which continuation lines belong.
#[derive(Clone, Copy, Debug, Default)]
enum Part {
    #[default]
    Message,
    Detail,
    Statement,
    /// A part that is not used.
    Other,
}

impl Reader for Stderr {
    fn line(&mut self, line: Line<'_>, see: See<'_>) -> Result<(), TrafficError> {
        if let Some((moment, rest)) = iso(line.bytes)
            && let Some((prefix, text)) = split_once(rest, b":  ")
        {
            return self.prefixed(line, moment, prefix, text, see);
        }
        if self.entry.line > 0
            && let Some(further) = line.bytes.strip_prefix(b"\t")
        {
            self.append(b"\n", false);
            self.append(further, line.is_too_long);
            return Ok(());
        }
        if line.bytes.trim_ascii().is_empty() {
            return Ok(());
        }
        see(line.number, Event::Trouble(Trouble::NotRecognised))
    }

    fn end(&mut self, see: See<'_>) -> Result<(), TrafficError> {
        self.finish(see)
    }
}

impl Stderr {
    /// Reads a line with a prefix.
    fn prefixed(
        &mut self,
        line: Line<'_>,
        moment: Moment,
        prefix: &[u8],
        text: &[u8],
        see: See<'_>,
    ) -> Result<(), TrafficError> {
        let at = memchr::memrchr(b' ', prefix).map_or(0, |at| at + 1);
        let (prefix, severity) = prefix.split_at(at);
        self.part = match severity {
            b"DETAIL" => Part::Detail,
            b"STATEMENT" => Part::Statement,
            b"HINT" | b"CONTEXT" | b"QUERY" | b"LOCATION" | b"BACKTRACE" => Part::Other,
            _ => {
                self.finish(see)?;
                self.entry.begin(line.number, moment, prefix, severity);
                Part::Message
            }
        };
        self.append(text, line.is_too_long);
        if !moment.has_zone && !self.has_told_zone {
            self.has_told_zone = true;
            see(line.number, Event::Trouble(Trouble::NoZone))?;
        }
        Ok(())
    }

    fn append(&mut self, bytes: &[u8], is_too_long: bool) {
        let part = match self.part {
            Part::Message => &mut self.entry.message,
            Part::Detail => &mut self.entry.detail,
            Part::Statement => &mut self.entry.statement,
            Part::Other => return,
        };
        self.entry.is_too_long |= is_too_long || part.len() + bytes.len() > STATEMENT_BYTES_MAX;
        if !self.entry.is_too_long {
            part.extend_from_slice(bytes);
        }
    }

    /// Ends the current entry.
    fn finish(&mut self, see: See<'_>) -> Result<(), TrafficError> {
        let entry = &self.entry;
        let outcome = match entry.line {
            0 => Ok(()),
            line if entry.is_too_long => see(line, Event::Trouble(Trouble::TooLong)),
            line => {
                let record = Record {
                    line,
                    at_us: entry.at.map(|moment| moment.at_us),
                    session: &entry.session,
                    user: &entry.user,
                    database: &entry.database,
                    severity: &entry.severity,
                    state: &[],
                    message: &entry.message,
                    detail: &entry.detail,
                    statement: &entry.statement,
                };
                self.messages.see(&record, see)
            }
        };
        self.entry.clear();
        outcome
    }
}

impl Entry {
    fn clear(&mut self) {
        (self.line, self.at, self.is_too_long) = (0, None, false);
        let texts = [
            &mut self.session,
            &mut self.user,
            &mut self.database,
            &mut self.severity,
            &mut self.message,
            &mut self.detail,
            &mut self.statement,
        ];
        texts.into_iter().for_each(Vec::clear);
    }

    fn begin(&mut self, line: u64, moment: Moment, prefix: &[u8], severity: &[u8]) {
        (self.line, self.at) = (line, Some(moment));
        self.severity.extend_from_slice(severity);
        let mut process: &[u8] = &[];
        let is_mark = |byte: &u8| matches!(byte, b' ' | b',' | b'[' | b']' | b'(' | b')');
        for word in prefix.split(is_mark).filter(|word| !word.is_empty()) {
            if is_session(word) {
                self.session.extend_from_slice(word);
            } else if let Some(user) = word.strip_prefix(b"user=") {
                self.user.extend_from_slice(user);
            } else if let Some(database) = word.strip_prefix(b"db=") {
                self.database.extend_from_slice(database);
            } else if let Some((user, database)) = split_once(word, b"@") {
                self.user.extend_from_slice(user);
                self.database.extend_from_slice(database);
            } else if process.is_empty() && word.iter().all(u8::is_ascii_digit) {
                process = word;
            }
        }
        if self.session.is_empty() {
            self.session.extend_from_slice(process);
        }
    }
}

/// Whether a word is a session's id (`%c`): two hexadecimal numbers separated by a point.
fn is_session(word: &[u8]) -> bool {
    let is_hex = |part: &[u8]| !part.is_empty() && part.iter().all(u8::is_ascii_hexdigit);
    split_once(word, b".").is_some_and(|(start, process)| is_hex(start) && is_hex(process))
}
