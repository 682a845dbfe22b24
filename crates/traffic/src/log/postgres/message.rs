//! Interprets an entry of PostgreSQL's log, in any format.
//!
//! Source: `src/backend/tcop/postgres.c` (`exec_simple_query`, `exec_execute_message`, `check_log_duration`).

use super::parameters;
use crate::error::TrafficError;
use crate::log::text::{decimal, split_once};
use crate::log::{Event, See, Statement, Trouble};

/// An entry of the log.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Record<'a> {
    pub(super) line: u64,
    pub(super) at_us: Option<i64>,
    pub(super) session: &'a [u8],
    pub(super) user: &'a [u8],
    pub(super) database: &'a [u8],
    pub(super) severity: &'a [u8],
    /// The SQLSTATE. Empty if the log has none.
    pub(super) state: &'a [u8],
    pub(super) message: &'a [u8],
    pub(super) detail: &'a [u8],
    /// The statement that caused an error.
    pub(super) statement: &'a [u8],
}

/// Turns entries into events.
#[derive(Debug, Default)]
pub(super) struct Messages {
    bound: Vec<Option<Vec<u8>>>,
}

/// What a message says about a statement.
struct Spoken<'a> {
    latency_us: Option<u64>,
    text: &'a [u8],
}

impl Messages {
    pub(super) fn see(&mut self, record: &Record<'_>, see: See<'_>) -> Result<(), TrafficError> {
        match record.severity {
            b"LOG" => self.log(record, see),
            b"ERROR" | b"FATAL" | b"PANIC" => self.failed(record, see),
            _ => see(record.line, Event::Unrelated),
        }
    }

    fn log(&mut self, record: &Record<'_>, see: See<'_>) -> Result<(), TrafficError> {
        let &Record { line, session, message, .. } = record;
        let mut tell = |trouble| see(line, Event::Trouble(trouble));
        if let Some(spoken) = statement(message) {
            let Some(at_us) = record.at_us else { return tell(Trouble::NoTime) };
            if session.is_empty() {
                return tell(Trouble::NoSession);
            }
            parameters::read(record.detail, &mut self.bound);
            // An entry that has a duration was written when the statement ended, so the duration is subtracted from the
            // entry's time.
            let latency_us = spoken.latency_us.unwrap_or(0).min(i64::MAX as u64) as i64;
            let statement = Statement {
                at_us: at_us.saturating_sub(latency_us),
                text: spoken.text,
                latency_us: spoken.latency_us,
                ..self.statement(record)
            };
            return see(line, Event::Statement(statement));
        }
        if let Some((latency_us, rest)) = duration(message) {
            // If text follows the duration, the entry is about a phase in which no statement is executed, such as
            // parsing.
            return see(
                line,
                if rest.is_empty() { Event::Duration { session, latency_us } } else { Event::Unrelated },
            );
        }
        let Some(at_us) = record.at_us.filter(|_| !session.is_empty()) else {
            return see(line, Event::Unrelated);
        };
        if let Some(rest) = message.strip_prefix(b"connection authorized: ") {
            let field = |name: &[u8]| {
                let value = split_once(rest, name)?.1;
                Some(split_once(value, b" ").map_or(value, |(value, _)| value))
                    .filter(|value| !value.is_empty())
            };
            let (user, database) = (field(b"user="), field(b"database="));
            return see(line, Event::Connected { session, at_us, user, database });
        }
        if message.starts_with(b"disconnection: ") {
            return see(line, Event::Closed { session, at_us });
        }
        see(line, Event::Unrelated)
    }

    fn failed(&mut self, record: &Record<'_>, see: See<'_>) -> Result<(), TrafficError> {
        let &Record { line, session, state, statement: text, .. } = record;
        let Some(at_us) = record.at_us.filter(|_| !session.is_empty()) else {
            return see(line, Event::Unrelated);
        };
        self.bound.clear();
        if text.is_empty() {
            see(line, Event::Unrelated)?;
        } else {
            let error = if state.is_empty() { &b"ERROR"[..] } else { state };
            see(
                line,
                Event::Failed(Statement { at_us, text, error: Some(error), ..self.statement(record) }),
            )?;
        }
        if record.severity == b"ERROR" { Ok(()) } else { see(line, Event::Closed { session, at_us }) }
    }

    /// Returns a statement with the session, values, user and database of an entry.
    fn statement<'a>(&'a self, record: &Record<'a>) -> Statement<'a> {
        Statement {
            session: record.session,
            bound: &self.bound,
            user: Some(record.user).filter(|user| !user.is_empty()),
            database: Some(record.database).filter(|name| !name.is_empty()),
            ..Statement::default()
        }
    }
}

/// Parses `duration: 0.321 ms`. Also returns the rest of the text.
fn duration(message: &[u8]) -> Option<(u64, &[u8])> {
    let (latency_us, rest) = decimal(message.strip_prefix(b"duration: ")?, 3)?;
    Some((latency_us, rest.strip_prefix(b" ms")?.trim_ascii_start()))
}

/// Parses `statement: …` and `execute name: …`. Both may have a duration before them.
fn statement(message: &[u8]) -> Option<Spoken<'_>> {
    let (latency_us, rest) = match duration(message) {
        Some((latency_us, rest)) => (Some(latency_us), rest),
        None => (None, message),
    };
    if let Some(text) = rest.strip_prefix(b"statement: ") {
        return Some(Spoken { latency_us, text });
    }
    let (_, text) = split_once(rest.strip_prefix(b"execute ")?, b": ")?;
    Some(Spoken { latency_us, text })
}
