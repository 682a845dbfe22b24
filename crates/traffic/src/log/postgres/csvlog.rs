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

/// Reads a csvlog. It has its own splitter, because a record that a crash has cut off must not swallow the following
/// records: a line that looks like the start of a record starts one, even inside an open quote.
#[derive(Debug, Default)]
pub(crate) struct Csvlog {
    /// Lines of a record that has not ended.
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
    text: Vec<u8>,
    ends: Vec<usize>,
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

    /// Gives up a record without an end.
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
        let at = iso(self.fields.get(0)).map(|(moment, _)| moment);
        if at.is_none() || self.fields.ends.len() <= MESSAGE {
            return see(line, Event::Trouble(Trouble::NotRecognised));
        }
        if at.is_some_and(|moment| !moment.has_zone) && !self.has_told_zone {
            self.has_told_zone = true;
            see(line, Event::Trouble(Trouble::NoZone))?;
        }
        let fields = &self.fields;
        let record = Record {
            line,
            at_us: at.map(|moment| moment.at_us),
            session: fields.get(SESSION),
            user: fields.get(USER),
            database: fields.get(DATABASE),
            severity: fields.get(SEVERITY),
            state: fields.get(STATE),
            message: fields.get(MESSAGE),
            detail: fields.get(DETAIL),
            statement: fields.get(QUERY),
        };
        self.messages.see(&record, see)
    }
}

/// The moment of a record, if a line looks like the start of one.
fn begin(line: &[u8]) -> Option<Moment> {
    let (moment, rest) = iso(line)?;
    (rest.first() == Some(&b',')).then_some(moment)
}

impl Fields {
    /// The field; empty if it does not exist.
    fn get(&self, number: usize) -> &[u8] {
        let Some(&end) = self.ends.get(number) else { return &[] };
        let start = number.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.text[start..end]
    }

    fn split(&mut self, record: &[u8]) {
        self.text.clear();
        self.ends.clear();
        let mut at = 0;
        loop {
            // A field is quoted as a whole, or not at all.
            if record.get(at) == Some(&b'"') {
                at = self.quoted(record, at + 1);
            }
            let length = memchr(b',', &record[at..]);
            let end = length.map_or(record.len(), |length| at + length);
            self.text.extend_from_slice(&record[at..end]);
            self.ends.push(self.text.len());
            if length.is_none() {
                return;
            }
            at = end + 1;
        }
    }

    /// Copies a field that begins after its quote, and returns its end.
    fn quoted(&mut self, record: &[u8], mut at: usize) -> usize {
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
