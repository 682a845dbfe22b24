//! The general log of MySQL and MariaDB. It shows when a statement arrived, but not how long it took.
//!
//! A line has a moment, the number of the thread, the command and its argument. MySQL up to 5.6 and MariaDB write
//! the moment only when the second changes. An argument may continue on further lines, which do not begin like an
//! entry.

use crate::error::TrafficError;
use crate::input::{Line, STATEMENT_BYTES_MAX};
use crate::log::moment::{Moment, iso, short};
use crate::log::text::{split_once, whole};
use crate::log::{Event, Reader, See, Statement, Trouble};

use super::{is_of_opening, is_opening};

/// Names of commands (`command_name` in the `sql/sql_parse.cc` of MySQL and of MariaDB).
const COMMANDS: [&str; 39] = [
    "Binlog Dump",
    "Binlog Dump GTID",
    "Bulk_execute",
    "Change user",
    "Clone",
    "Close stmt",
    "Connect",
    "Connect Out",
    "Create DB",
    "Daemon",
    "Debug",
    "Delayed insert",
    "Drop DB",
    "Error",
    "Execute",
    "Fetch",
    "Field List",
    "Group Replication Data Stream subscription",
    "Init DB",
    "Kill",
    "Long Data",
    "Ping",
    "Prepare",
    "Processlist",
    "Query",
    "Query Attributes",
    "Quit",
    "Refresh",
    "Register Replica",
    "Register Slave",
    "Reset Connection",
    "Reset connection",
    "Reset stmt",
    "Set option",
    "Shutdown",
    "Sleep",
    "Statistics",
    "Subscribe Group Replication Stream",
    "Table Dump",
];

/// Reads a general log.
#[derive(Debug, Default)]
pub(crate) struct General {
    entry: Option<Entry>,
    argument: Vec<u8>,
    is_too_long: bool,
    at: Option<Moment>,
    has_told_zone: bool,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    line: u64,
    thread: u64,
    command: &'static str,
    at_us: Option<i64>,
}

/// The start of an entry.
struct Head<'a> {
    at: Option<Moment>,
    thread: u64,
    command: &'static str,
    argument: &'a [u8],
}

/// Whether a line begins an entry of a general log.
pub(crate) fn is_general(line: &[u8]) -> bool {
    head(line).is_some()
}

fn head(line: &[u8]) -> Option<Head<'_>> {
    let (at, rest) = match line.first()? {
        b'\t' => (None, line),
        b'0'..=b'9' => iso(line).or_else(|| short(line)).map(|(moment, rest)| (Some(moment), rest))?,
        _ => return None,
    };
    let rest = rest.strip_prefix(b"\t")?.trim_ascii_start();
    let (thread, rest) = whole(rest)?;
    let rest = rest.strip_prefix(b" ")?;
    let (name, argument) = split_once(rest, b"\t").unwrap_or((rest.trim_ascii_end(), b""));
    let command = COMMANDS.into_iter().find(|command| command.as_bytes() == name)?;
    Some(Head { at, thread, command, argument })
}

impl Reader for General {
    fn line(&mut self, line: Line<'_>, see: See<'_>) -> Result<(), TrafficError> {
        if let Some(Head { at, thread, command, argument }) = head(line.bytes) {
            self.finish(see)?;
            self.at = at.or(self.at);
            let at_us = self.at.map(|moment| moment.at_us);
            self.entry = Some(Entry { line: line.number, thread, command, at_us });
            self.append(argument, line.is_too_long);
            if self.at.is_some_and(|moment| !moment.has_zone) && !self.has_told_zone {
                self.has_told_zone = true;
                see(line.number, Event::Trouble(Trouble::NoZone))?;
            }
            return Ok(());
        }
        if is_opening(line.bytes) {
            self.finish(see)?;
            return see(line.number, Event::Server { description: line.bytes.trim_ascii() });
        }
        if self.entry.is_some() {
            self.append(b"\n", false);
            self.append(line.bytes, line.is_too_long);
            return Ok(());
        }
        if is_of_opening(line.bytes) || line.bytes.trim_ascii().is_empty() {
            return Ok(());
        }
        see(line.number, Event::Trouble(Trouble::NotRecognised))
    }

    fn end(&mut self, see: See<'_>) -> Result<(), TrafficError> {
        self.finish(see)
    }
}

impl General {
    fn append(&mut self, bytes: &[u8], is_too_long: bool) {
        self.is_too_long |= is_too_long || self.argument.len() + bytes.len() > STATEMENT_BYTES_MAX;
        if !self.is_too_long {
            self.argument.extend_from_slice(bytes);
        }
    }

    /// Ends the current entry.
    fn finish(&mut self, see: See<'_>) -> Result<(), TrafficError> {
        let outcome = self.entry.take().map_or(Ok(()), |entry| self.entry(entry, see));
        self.argument.clear();
        self.is_too_long = false;
        outcome
    }

    fn entry(&self, entry: Entry, see: See<'_>) -> Result<(), TrafficError> {
        let Entry { line, thread, command, at_us } = entry;
        let mut digits = [0; 20];
        let session = decimal_digits(thread, &mut digits);
        if self.is_too_long {
            return see(line, Event::Trouble(Trouble::TooLong));
        }
        let Some(at_us) = at_us else { return see(line, Event::Trouble(Trouble::NoTime)) };
        let argument = self.argument.as_slice();
        match command {
            "Query" | "Execute" => {
                let statement = Statement { session, at_us, text: argument, ..Statement::default() };
                return see(line, Event::Statement(statement));
            }
            "Connect" if !argument.starts_with(b"Access denied") => {
                see(line, connected(session, at_us, argument))?;
            }
            "Change user" => {
                see(line, Event::Closed { session, at_us })?;
                see(line, connected(session, at_us, argument))?;
            }
            "Init DB" => see(line, Event::Database { session, name: argument })?,
            "Quit" => see(line, Event::Closed { session, at_us })?,
            _ => {}
        }
        see(line, Event::Command(command))
    }
}

/// Parses `root@localhost on test using Socket`. Older versions write only the part before `using`.
fn connected<'a>(session: &'a [u8], at_us: i64, argument: &'a [u8]) -> Event<'a> {
    let user = split_once(argument, b"@").map(|(user, _)| user);
    let database = split_once(argument, b" on ").map(|(_, rest)| rest);
    let database =
        database.map(|rest| split_once(rest, b" using ").map_or(rest, |(name, _)| name).trim_ascii());
    Event::Connected { session, at_us, user, database: database.filter(|name| !name.is_empty()) }
}

/// Formats a number into the caller's buffer, and returns the digits.
fn decimal_digits(mut number: u64, room: &mut [u8; 20]) -> &[u8] {
    let mut at = room.len();
    loop {
        at -= 1;
        room[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            return &room[at..];
        }
    }
}
