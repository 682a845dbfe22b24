//! PostgreSQL's csvlog: RFC 4180 with fixed columns (manual, "Using CSV-Format Log Output").

use memchr::{memchr, memchr_iter};

use super::message::{Messages, Record};
use crate::error::TrafficError;
use crate::input::{Line, STATEMENT_BYTES_MAX};
use crate::log::moment::{Moment, iso};
use crate::log::{Event, Reader, See, Trouble};

const USER: usize = 1;
const DATABASE: usize = 2;
const SESSION: usize = 5;
const SEVERITY: usize = 11;
const STATE: usize = 12;
const MESSAGE: usize = 13;
const DETAIL: usize = 14;
const QUERY: usize = 19;

/// Reads a csvlog. It splits records by itself and not with a CSV library, because a record that a crash has cut off
/// must not swallow the following records. A line that looks like the start of a record starts a new record, even
/// inside an open quote.
#[derive(Debug, Default)]
pub(crate) struct Csvlog {
    /// The lines of a record that is not complete yet.
    open: Vec<u8>,
    open_line: u64,
    is_too_long: bool,
    fields: Fields,
    messages: Messages,
    has_told_zone: bool,
}

/// Fields of a record, without their quotes.
#[derive(Debug, Default)]
struct Fields {
    places: Vec<Place>,
    /// The contents of fields that differ from their text in the record.
    text: Vec<u8>,
}

/// Where the contents of a field are.
#[derive(Clone, Copy, Debug)]
enum Place {
    Record { from: usize, until: usize },
    Text { from: usize, until: usize },
}

impl Reader for Csvlog {
    fn line(&mut self, line: Line<'_>, see: See<'_>) -> Result<(), TrafficError> {
        let is_closed = memchr_iter(b'"', line.bytes).count().is_multiple_of(2);
        let is_open = self.open_line > 0;
        if is_open && begin(line.bytes).is_some() {
            self.cut(see)?;
        } else if is_open {
            self.open.push(b'\n');
            self.append(line);
            if is_closed {
                return Ok(());
            }
            let record = std::mem::take(&mut self.open);
            let outcome = if self.is_too_long {
                see(self.open_line, Event::Trouble(Trouble::TooLong))
            } else {
                self.record(&record, self.open_line, see)
            };
            self.open = record;
            self.forget();
            return outcome;
        }
        if is_closed && !line.is_too_long {
            return self.record(line.bytes, line.number, see);
        }
        self.open_line = line.number;
        self.append(line);
        Ok(())
    }

    fn end(&mut self, see: See<'_>) -> Result<(), TrafficError> {
        if self.open_line > 0 { self.cut(see) } else { Ok(()) }
    }
}

impl Csvlog {
    fn append(&mut self, line: Line<'_>) {
        self.is_too_long |= line.is_too_long || self.open.len() + line.bytes.len() > STATEMENT_BYTES_MAX;
        if self.is_too_long {
            self.open.clear();
        } else {
            self.open.extend_from_slice(line.bytes);
        }
    }

    /// Gives up a record that has no end.
    fn cut(&mut self, see: See<'_>) -> Result<(), TrafficError> {
        let trouble = if self.is_too_long { Trouble::TooLong } else { Trouble::Cut };
        let line = self.open_line;
        self.forget();
        see(line, Event::Trouble(trouble))
    }

    fn forget(&mut self) {
        self.open.clear();
        self.open_line = 0;
        self.is_too_long = false;
    }

    fn record(&mut self, record: &[u8], line: u64, see: See<'_>) -> Result<(), TrafficError> {
        if record.trim_ascii().is_empty() {
            return Ok(());
        }
        self.fields.split(record);
        let at = iso(self.fields.get(record, 0)).map(|(moment, _)| moment);
        if at.is_none() || self.fields.places.len() <= MESSAGE {
            return see(line, Event::Trouble(Trouble::NotRecognised));
        }
        if at.is_some_and(|moment| !moment.has_zone) && !self.has_told_zone {
            self.has_told_zone = true;
            see(line, Event::Trouble(Trouble::NoZone))?;
        }
        let field = |number: usize| self.fields.get(record, number);
        let record = Record {
            line,
            at_us: at.map(|moment| moment.at_us),
            session: field(SESSION),
            user: field(USER),
            database: field(DATABASE),
            severity: field(SEVERITY),
            state: field(STATE),
            message: field(MESSAGE),
            detail: field(DETAIL),
            statement: field(QUERY),
        };
        self.messages.see(&record, see)
    }
}

/// The moment of a record, if the line looks like the start of a record. `None` otherwise.
fn begin(line: &[u8]) -> Option<Moment> {
    let (moment, rest) = iso(line)?;
    (rest.first() == Some(&b',')).then_some(moment)
}

impl Fields {
    /// The contents of a field; empty if the field does not exist.
    fn get<'a>(&'a self, record: &'a [u8], number: usize) -> &'a [u8] {
        match self.places.get(number) {
            Some(&Place::Record { from, until }) => &record[from..until],
            Some(&Place::Text { from, until }) => &self.text[from..until],
            None => &[],
        }
    }

    fn split(&mut self, record: &[u8]) {
        self.text.clear();
        self.places.clear();
        let mut at = 0;
        loop {
            // A field is quoted as a whole, or not at all.
            let end = match record.get(at) {
                Some(b'"') => self.quoted(record, at + 1),
                _ => self.plain(record, at),
            };
            if end == record.len() {
                return;
            }
            at = end + 1;
        }
    }

    /// Finds the end of a field that begins without a quote.
    fn plain(&mut self, record: &[u8], from: usize) -> usize {
        let rest = &record[from..];
        // A plain search is fast here, because most fields are short.
        let until = from + rest.iter().position(|byte| *byte == b',').unwrap_or(rest.len());
        self.places.push(Place::Record { from, until });
        until
    }

    /// Finds the end of a quoted field. `from` is the position after its opening quote.
    fn quoted(&mut self, record: &[u8], from: usize) -> usize {
        let close = memchr(b'"', &record[from..]).map_or(record.len(), |length| from + length);
        if matches!(record.get(close + 1), None | Some(b',')) {
            self.places.push(Place::Record { from, until: close });
            return (close + 1).min(record.len());
        }
        let start = self.text.len();
        let end = self.unquote(record, from);
        let length = memchr(b',', &record[end..]).unwrap_or(record.len() - end);
        self.text.extend_from_slice(&record[end..end + length]);
        self.places.push(Place::Text { from: start, until: self.text.len() });
        end + length
    }

    /// Copies the contents of a field up to its closing quote. Returns the position after that quote.
    fn unquote(&mut self, record: &[u8], mut at: usize) -> usize {
        while let Some(length) = memchr(b'"', &record[at..]) {
            self.text.extend_from_slice(&record[at..at + length]);
            at += length + 1;
            if record.get(at) != Some(&b'"') {
                return at;
            }
            self.text.push(b'"');
            at += 1;
        }
        self.text.extend_from_slice(&record[at..]);
        record.len()
    }
}
