//! Writes the contents of a log to a traffic file.

mod joining;
mod late;

use std::collections::HashMap;
use std::hash::BuildHasher as _;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use foldhash::quality::RandomState;
use rusqlite::Connection;

use super::Imported;
use super::clients::Users;
use super::counts::{Beside, Seconds};
use super::sessions::{Open, Sessions, autocommit};
use super::shapes::{Known, Shapes};
use super::templates::Templates;
use crate::error::TrafficError;
use crate::file::{NewStatement, SourceCounts, Whole, Writer};
use crate::log::{Event, Statement, Trouble};
use crate::sql::{Dialect, Kind, Normalizer};

/// An entry's time may be up to this many µs before the previous entry's time, because servers write simultaneous
/// entries in any order.
const BACK_US: i64 = 1_000_000;

/// The rules by which logs are recorded.
#[derive(Clone, Copy)]
pub(super) struct Rules<'a> {
    pub(super) out: &'a Path,
    pub(super) redact: bool,
    pub(super) keep_users: bool,
}

/// Records events.
pub(super) struct Recorder<'c> {
    writer: Writer<'c>,
    rules: Rules<'c>,
    normalizer: Normalizer,
    users: Users,
    shapes: Shapes,
    templates: Templates,
    sessions: Sessions,
    databases: HashMap<Vec<u8>, i64, RandomState>,
    last_database: Option<(Vec<u8>, i64)>,
    seconds: Seconds,
    beside: Beside,
    texts: RandomState,
    /// Memory of the statements that are not in the file yet, of all sessions, in bytes.
    held_bytes: usize,
    source_id: i64,
    source_statements: u64,
    /// The server that writes this log, as it describes itself.
    server: Vec<u8>,
    began_at_us: Option<i64>,
    /// When the last entry was written, in µs since 1970 UTC.
    last_us: Option<i64>,
    imported: Imported,
    /// The first line that could not be read, with its source.
    first_lost: Option<(i64, u64)>,
}

impl<'c> Recorder<'c> {
    pub(super) fn new(
        connection: &'c Connection,
        rules: Rules<'c>,
        dialect: Dialect,
    ) -> Result<Self, TrafficError> {
        Ok(Self {
            writer: Writer::new(connection).map_err(unwritable(rules.out))?,
            rules,
            normalizer: Normalizer::new(dialect, rules.redact),
            users: Users::new(rules.keep_users),
            shapes: Shapes::new(dialect),
            templates: Templates::new(dialect),
            sessions: Sessions::default(),
            databases: HashMap::default(),
            last_database: None,
            seconds: Seconds::default(),
            beside: Beside::default(),
            texts: RandomState::default(),
            held_bytes: 0,
            source_id: 0,
            source_statements: 0,
            server: Vec::new(),
            began_at_us: None,
            last_us: None,
            imported: Imported::default(),
            first_lost: None,
        })
    }

    pub(super) fn dialect(&self) -> Dialect {
        self.normalizer.dialect()
    }

    /// Number of statements so far.
    pub(super) fn statements(&self) -> u64 {
        self.imported.statements
    }

    pub(super) fn begin_source(&mut self) {
        self.source_id += 1;
        self.source_statements = 0;
        self.beside = Beside::default();
    }

    /// Ends a source. The recorder adds the source's number of statements to `counts`.
    pub(super) fn end_source(&mut self, counts: &SourceCounts<'_>) -> Result<(), TrafficError> {
        let counts = SourceCounts { statements: self.source_statements, ..*counts };
        self.imported.lost += self.beside.lost();
        let first = self.beside.first_lost().map(|line| (self.source_id, line));
        self.first_lost = self.first_lost.or(first);
        let written = self
            .writer
            .add_source(&counts)
            .and_then(|()| self.beside.write(self.source_id, &self.writer))
            .and_then(|()| self.seconds.flush(&self.writer));
        written.map_err(unwritable(self.rules.out))
    }

    /// Completes the file.
    pub(super) fn finish(mut self) -> Result<Imported, TrafficError> {
        let Rules { out, redact, keep_users } = self.rules;
        let Some(began_at_us) = self.began_at_us.filter(|_| self.imported.statements > 0) else {
            return Err(TrafficError::Nothing { told: self.told() });
        };
        self.end_all().and_then(|()| self.shapes.flush(&self.writer)).map_err(unwritable(out))?;
        let Self { writer, normalizer, imported, .. } = self;
        let whole = Whole {
            dialect: normalizer.dialect(),
            began_at_us,
            statements: imported.statements,
            sessions: imported.sessions,
            is_redacted: redact,
            has_user_names: keep_users,
            imported_at_us: SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0, |age| age.as_micros() as i64),
        };
        writer.commit(&whole).map_err(unwritable(out))?;
        Ok(imported)
    }

    /// The end of the error message which says that the logs contain no statement: how many entries could not be read,
    /// and where the first of them is. Empty if all could be read.
    fn told(&self) -> String {
        self.first_lost.map_or_else(String::new, |(source, line)| {
            let lost = self.imported.lost;
            format!("; {lost} of their entries could not be read, the first on line {line} of log {source}")
        })
    }

    /// Records an event.
    pub(super) fn see(&mut self, line: u64, event: Event<'_>) -> Result<(), TrafficError> {
        let out = self.rules.out;
        self.record(line, event).map_err(unwritable(out))
    }

    fn record(&mut self, line: u64, event: Event<'_>) -> rusqlite::Result<()> {
        match event {
            Event::Statement(statement) => self.statement(line, &statement),
            Event::Duration { session, latency_us } => self.duration(session, latency_us),
            Event::Failed(statement) => self.failed(line, &statement),
            Event::Connected { session, at_us, user, database } => {
                self.end(session, None)?;
                let database_id = self.database(database)?;
                self.begin(session, at_us, user, database_id, true)
            }
            Event::Closed { session, at_us } => self.end(session, Some(at_us)),
            Event::Database { session, name } => {
                let database_id = self.database(Some(name))?;
                if let Some(session) = self.sessions.get_mut(session) {
                    session.database_id = database_id;
                }
                Ok(())
            }
            Event::Server { description } => self.server(line, description),
            Event::Command(name) => {
                self.beside.skip(name);
                Ok(())
            }
            Event::Unrelated => {
                self.beside.skip("unrelated");
                Ok(())
            }
            Event::Trouble(trouble) => {
                self.beside.trouble(trouble, line);
                Ok(())
            }
        }
    }

    fn statement(&mut self, line: u64, statement: &Statement<'_>) -> rusqlite::Result<()> {
        let &Statement { session: name, at_us, text, latency_us, .. } = statement;
        self.follow_clock(line, at_us.saturating_add_unsigned(latency_us.unwrap_or(0)));
        let database_id = self.database(statement.database)?;
        let session = match self.sessions.get_mut(name) {
            Some(session) if session.may_be_of(statement.user) => session,
            _ => {
                self.join(line, statement, database_id)?;
                let Some(session) = self.sessions.get_mut(name) else { return Ok(()) };
                session
            }
        };
        let found = self.templates.part(&mut self.normalizer, text, statement.bound);
        let is_new = found.is_none();
        let (parts, known) = if let Some(found) = found {
            found
        } else {
            let parts = self.normalizer.part(text, statement.bound);
            let known = self.shapes.find(parts.shape, &mut self.writer)?;
            (parts, known)
        };
        if !parts.is_whole {
            self.beside.trouble(Trouble::Unclosed, line);
        }
        if !known.is_utf8 {
            self.beside.trouble(Trouble::NotUtf8, line);
        }
        let dialect = self.shapes.dialect();
        let began_at_us = *self.began_at_us.get_or_insert(at_us);
        if session.user.is_none() {
            session.user = statement.user.map(Box::from);
        }
        session.database_id = database_id.or(session.database_id);
        let offset_us = ordered(at_us.saturating_sub(began_at_us), session.last_us);
        let error = statement.error.map(String::from_utf8_lossy);
        let new = NewStatement {
            id: self.imported.statements as i64 + 1,
            offset_us,
            shape_id: known.shape_id,
            literals: parts.literals,
            bound: parts.bound,
            database_id: session.database_id,
            transaction_id: session.transaction(known.kind, dialect),
            latency_us,
            rows_sent: statement.rows_sent,
            rows_examined: statement.rows_examined,
            rows_affected: statement.rows_affected,
            error: error.as_deref(),
            source_id: self.source_id,
            line,
        };
        let before = session.chunk.bytes();
        session.add(&new, &mut self.writer)?;
        self.held_bytes = self.held_bytes + session.chunk.bytes() - before;
        if known.kind == Kind::Session
            && let Some(is_on) = autocommit(parts.shape, parts.literals)
        {
            session.set_autocommit(is_on);
        }
        session.open = (dialect == Dialect::Postgresql).then(|| Open {
            digest_id: known.digest_id,
            at_us,
            text: self.texts.hash_one(text),
            has_latency: latency_us.is_some(),
            has_error: error.is_some(),
        });
        let used = used_database(known.kind, parts.shape).map(<[u8]>::to_vec);
        if is_new && let Some(template) = self.normalizer.template(text) {
            self.templates.keep(text, template, known);
        }
        self.count(known, statement)?;
        self.relieve()?;
        match used {
            Some(used) => self.record(line, Event::Database { session: name, name: &used }),
            None => Ok(()),
        }
    }

    fn count(&mut self, known: Known, statement: &Statement<'_>) -> rusqlite::Result<()> {
        self.shapes.counts(known.digest_id).add(statement);
        self.seconds.at(statement.at_us).add(known.kind, statement);
        self.imported.statements += 1;
        self.source_statements += 1;
        if self.seconds.is_full() { self.seconds.flush(&self.writer) } else { Ok(()) }
    }

    /// Records a problem if an entry's time is more than a second before the time of the previous entry.
    fn follow_clock(&mut self, line: u64, written_us: i64) {
        if self.last_us.is_some_and(|last_us| written_us.saturating_add(BACK_US) < last_us) {
            self.beside.trouble(Trouble::ClockBack, line);
        }
        self.last_us = Some(written_us);
    }

    fn database(&mut self, name: Option<&[u8]>) -> rusqlite::Result<Option<i64>> {
        let Some(name) = name.filter(|name| !name.is_empty()) else { return Ok(None) };
        if let Some((last, id)) = &self.last_database
            && last == name
        {
            return Ok(Some(*id));
        }
        let id = if let Some(id) = self.databases.get(name) {
            *id
        } else {
            let id = self.writer.add_database(&String::from_utf8_lossy(name))?;
            self.databases.insert(name.to_owned(), id);
            id
        };
        self.last_database = Some((name.to_owned(), id));
        Ok(Some(id))
    }
}

/// The database that a `USE …` statement selects.
fn used_database(kind: Kind, shape: &[u8]) -> Option<&[u8]> {
    let is_use = kind == Kind::Session && shape.len() > 4 && shape[..4].eq_ignore_ascii_case(b"use ");
    let name = is_use.then(|| shape[4..].trim_ascii())?;
    let name = name.strip_suffix(b";").unwrap_or(name).trim_ascii();
    Some(name.strip_prefix(b"`").and_then(|name| name.strip_suffix(b"`")).unwrap_or(name))
}

/// Returns the offset of a statement, or the offset of the session's previous statement if that is a little later, so
/// that statements stay in order. Some logs give only whole seconds, so a statement may seem to begin before the
/// previous one.
fn ordered(offset_us: i64, last_us: i64) -> i64 {
    let is_of_same_second = offset_us < last_us && last_us.saturating_sub(offset_us) <= BACK_US;
    if is_of_same_second { last_us } else { offset_us }
}

fn unwritable(out: &Path) -> impl Fn(rusqlite::Error) -> TrafficError + '_ {
    move |error| TrafficError::Unwritable { path: out.to_owned(), reason: error.to_string() }
}
