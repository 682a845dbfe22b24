//! The slow log, as MySQL 5.6 to 9, MariaDB and Percona Server write it.
//!
//! An entry begins with some lines that start with `# `. If the database has changed since the previous entry, `use
//! …;` follows. Then comes `SET timestamp=…;`, and then the statement, which ends with `;`. Sources: `sql/log.cc`
//! of MySQL (`File_query_log::write_slow`), and MySQL's manual, "The Slow Query Log".

use super::headers::Headers;
use super::{is_of_opening, is_opening};
use crate::error::TrafficError;
use crate::input::{Line, STATEMENT_BYTES_MAX};
use crate::log::text::split_once;
use crate::log::{Event, Reader, See, Statement, Trouble};

/// The text that the log has instead of a statement if a command was executed. The command's name follows.
const COMMAND: &[u8] = b"# administrator command: ";

/// The part of an entry to which the next line may belong.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    /// Outside of entries.
    #[default]
    Outside,
    /// Among the lines that begin with `# `.
    Headers,
    /// Among the other lines before the statement.
    Prelude,
    Text,
}

/// Reads a slow log.
#[derive(Debug, Default)]
pub(crate) struct Slow {
    place: Place,
    headers: Headers,
    text: Vec<u8>,
    is_too_long: bool,
    /// The database of the last `use`, of any session. The log has `use` only when the database changes.
    database: Vec<u8>,
    has_told_zone: bool,
}

impl Reader for Slow {
    fn line(&mut self, line: Line<'_>, see: See<'_>) -> Result<(), TrafficError> {
        let bytes = line.bytes;
        let is_comment = bytes.first() == Some(&b'#');
        if is_comment && (bytes.starts_with(b"# User@Host: ") || bytes.starts_with(b"# Time: ")) {
            if self.place != Place::Headers {
                self.finish(see)?;
            }
            return self.header(line, see);
        }
        if self.place == Place::Headers && is_comment && !bytes.starts_with(COMMAND) {
            return self.header(line, see);
        }
        if is_opening(bytes) && (self.place == Place::Outside || self.text.ends_with(b";\n")) {
            self.finish(see)?;
            return see(line.number, Event::Server { description: bytes.trim_ascii() });
        }
        let place = self.place;
        match place {
            Place::Outside if is_of_opening(bytes) || bytes.trim_ascii().is_empty() => Ok(()),
            Place::Outside => see(line.number, Event::Trouble(Trouble::NotRecognised)),
            Place::Headers | Place::Prelude if self.is_prelude(bytes) => {
                self.place = Place::Prelude;
                Ok(())
            }
            _ => {
                self.append(line);
                Ok(())
            }
        }
    }

    fn end(&mut self, see: See<'_>) -> Result<(), TrafficError> {
        self.finish(see)
    }
}

impl Slow {
    fn header(&mut self, line: Line<'_>, see: See<'_>) -> Result<(), TrafficError> {
        if self.place != Place::Headers {
            self.place = Place::Headers;
            self.headers.clear();
            self.headers.line = line.number;
        }
        self.headers.read(line.bytes);
        if !self.headers.has_zone && !self.has_told_zone {
            self.has_told_zone = true;
            see(line.number, Event::Trouble(Trouble::NoZone))?;
        }
        Ok(())
    }

    /// Parses a line that a server writes between the lines with `# ` and the statement. Returns whether the line
    /// is of this kind.
    fn is_prelude(&mut self, line: &[u8]) -> bool {
        if self.headers.timestamp_us.is_some() {
            return false;
        }
        let name = line.strip_prefix(b"use ").and_then(|rest| rest.trim_ascii_end().strip_suffix(b";"));
        if let Some(name) = name.filter(|_| self.place == Place::Headers) {
            self.database.clear();
            self.database.extend_from_slice(unquoted(name));
            return true;
        }
        self.headers.read_set(line)
    }

    fn append(&mut self, line: Line<'_>) {
        self.place = Place::Text;
        self.is_too_long |= line.is_too_long || self.text.len() + line.bytes.len() > STATEMENT_BYTES_MAX;
        if self.is_too_long {
            // Of a line that is too long, only the last byte is kept. It shows whether the statement ends here.
            self.text.clear();
            self.text.extend_from_slice(&line.bytes[line.bytes.len().saturating_sub(1)..]);
        } else {
            self.text.extend_from_slice(line.bytes);
        }
        if line.is_ended {
            self.text.push(b'\n');
        }
    }

    /// Ends the current entry.
    fn finish(&mut self, see: See<'_>) -> Result<(), TrafficError> {
        let outcome = match self.place {
            Place::Outside => Ok(()),
            Place::Headers | Place::Prelude => see(self.headers.line, Event::Trouble(Trouble::Cut)),
            Place::Text => self.entry(see),
        };
        self.place = Place::Outside;
        self.text.clear();
        self.is_too_long = false;
        outcome
    }

    fn entry(&self, see: See<'_>) -> Result<(), TrafficError> {
        let line = self.headers.line;
        let mut tell = |trouble| see(line, Event::Trouble(trouble));
        if self.is_too_long {
            return tell(Trouble::TooLong);
        }
        let Some(text) = self.text.trim_ascii_end().strip_suffix(b";") else { return tell(Trouble::Cut) };
        let Some(at_us) = self.headers.begin_us() else { return tell(Trouble::NoTime) };
        let headers = &self.headers;
        if headers.session.is_empty() {
            return tell(Trouble::NoSession);
        }
        if let Some(command) = text.strip_prefix(COMMAND) {
            return see_command(headers, at_us, &self.database, command, see);
        }
        let database = if headers.schema.is_empty() { &self.database } else { &headers.schema };
        let statement = Statement {
            session: &headers.session,
            at_us,
            text,
            bound: &[],
            user: Some(&headers.user),
            database: Some(database).filter(|name| !name.is_empty()).map(Vec::as_slice),
            latency_us: headers.latency_us,
            rows_sent: headers.rows_sent,
            rows_examined: headers.rows_examined,
            rows_affected: headers.rows_affected,
            error: Some(headers.error.as_slice()).filter(|error| !error.is_empty()),
        };
        see(line, Event::Statement(statement))
    }
}

fn see_command(
    headers: &Headers,
    at_us: i64,
    database: &[u8],
    command: &[u8],
    see: See<'_>,
) -> Result<(), TrafficError> {
    let session = &headers.session;
    match command {
        b"Quit" => see(headers.line, Event::Closed { session, at_us })?,
        b"Init DB" => see(headers.line, Event::Database { session, name: database })?,
        _ => {}
    }
    // The name is kept only if it looks like a command of the server. So a log that was made by hand cannot bring
    // other text into the file.
    let is_word = |byte: &u8| byte.is_ascii_alphabetic() || matches!(byte, b' ' | b'_');
    let name = str::from_utf8(command)
        .ok()
        .filter(|name| name.len() < 40 && name.bytes().all(|byte| is_word(&byte)));
    see(headers.line, Event::Command(name.unwrap_or("other")))
}

/// A name without backticks.
fn unquoted(name: &[u8]) -> &[u8] {
    match split_once(name, b"`") {
        Some((b"", rest)) => rest.strip_suffix(b"`").unwrap_or(rest),
        _ => name,
    }
}
