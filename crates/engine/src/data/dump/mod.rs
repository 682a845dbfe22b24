//! Loads a dump into a server: SQL that `mariadb-dump`, `mysqldump`, `pg_dump` or `pg_dumpall` has written.

mod place;
mod session;
mod split;
mod statements;
#[cfg(test)]
mod tests;

use std::io::BufRead;
use std::sync::atomic::{AtomicBool, Ordering};

use dyno_client::ClientError;
use dyno_printable::Printable;
use thiserror::Error;

use self::session::Session;
use self::split::{Item, SplitError, Splitter, Statement, Syntax};
use crate::start::server::Server;

pub use self::statements::{StatementError, Statements};

/// The rows of a `COPY` are sent in parts of about this many bytes. Each part is a statement of its own.
const ROWS_BYTES: usize = 4 << 20;
/// An error message shows this many characters of the failed statement.
const SHOWN_MAX: usize = 80;

/// Why a dump was not loaded.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DumpError {
    /// The server refuses a statement.
    #[error("{name}:{line}: {source}, in `{}`", Printable(statement))]
    Statement {
        name: String,
        /// The line of the unpacked text in which the statement begins.
        line: u64,
        /// The first characters of the statement.
        statement: String,
        source: ClientError,
    },
    /// The dump cannot be read.
    #[error("{name}: {reason}")]
    Unreadable { name: String, reason: String },
    /// The server cannot be reached, or refuses a statement that prepares or ends the load.
    #[error("the server cannot take a dump: {0}")]
    Server(#[from] ClientError),
    /// The user stopped the load.
    #[error("stopped")]
    Stopped,
}

/// Loads a dump into a running server, statement by statement, and collects the statistics of all tables. `name` is
/// for messages.
///
/// Statements without a database go to [`DATABASE`](crate::DATABASE). If a dump of PostgreSQL names a role that it does
/// not create, the role is created, without a login.
///
/// # Errors
/// The dump cannot be read, or the server refuses a statement. A part of the dump is loaded then.
pub fn load_dump(
    server: &Server,
    name: &str,
    text: &mut dyn BufRead,
    stop: &AtomicBool,
) -> Result<(), DumpError> {
    execute_file(server, name, text, stop)?;
    Ok(server.collect_statistics()?)
}

/// Executes the statements of a file on a running server. In contrast to [`load_dump`], statistics stay as they are.
///
/// # Errors
/// The file cannot be read, or the server refuses a statement. Earlier statements of the file stay executed.
pub fn execute_file(
    server: &Server,
    name: &str,
    text: &mut dyn BufRead,
    stop: &AtomicBool,
) -> Result<(), DumpError> {
    let mut session = Session::open(server)?;
    let unreadable =
        |error: SplitError| DumpError::Unreadable { name: name.to_owned(), reason: error.to_string() };
    let mut dump = Splitter::new(text, Syntax::of(server.family()));
    while let Some(item) = dump.next().map_err(unreadable)? {
        if stop.load(Ordering::Relaxed) {
            return Err(DumpError::Stopped);
        }
        match item {
            Item::Command { text, line } => {
                if let Some(database) = new_database(&text) {
                    session
                        .connect(&database)
                        .map_err(|source| failed(name, line, format!("\\{text}").as_bytes(), source))?;
                }
            }
            Item::Statement(statement) if statement.has_rows => {
                copy(&mut session, &mut dump, &statement, name, stop)?;
            }
            Item::Statement(Statement { sql, line, .. }) => {
                session.execute(&sql).map_err(|source| failed(name, line, &sql, source))?;
            }
        }
    }
    Ok(())
}

/// The database to which a command `\connect` of `psql` changes: the last word, which may be in quotes, or a connection
/// string with `dbname='…'`. `None` for other commands, which dumps do not need, such as `\restrict`.
fn new_database(command: &str) -> Option<String> {
    let (name, argument) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
    if !matches!(name, "connect" | "c") {
        return None;
    }
    let argument = argument.trim();
    if let Some((_, name)) = argument.split_once("dbname=") {
        let name = name.trim_end_matches('"').trim();
        return Some(name.trim_matches('\'').replace("\\'", "'").replace("\\\\", "\\"));
    }
    Some(match argument.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')) {
        Some(quoted) => quoted.replace("\"\"", "\""),
        None => argument.split_whitespace().next_back().unwrap_or_default().to_owned(),
    })
}

/// Reads the rows of a `COPY` and sends them to the server in parts.
fn copy(
    session: &mut Session<'_>,
    dump: &mut Splitter<&mut dyn BufRead>,
    statement: &Statement,
    name: &str,
    stop: &AtomicBool,
) -> Result<(), DumpError> {
    let mut rows = Vec::new();
    loop {
        rows.clear();
        let has_more = dump
            .rows(statement.line, &mut rows, ROWS_BYTES)
            .map_err(|error| DumpError::Unreadable { name: name.to_owned(), reason: error.to_string() })?;
        if !rows.is_empty() {
            session
                .copy(&statement.sql, &rows)
                .map_err(|source| failed(name, statement.line, &statement.sql, source))?;
        }
        if !has_more {
            return Ok(());
        }
        if stop.load(Ordering::Relaxed) {
            return Err(DumpError::Stopped);
        }
    }
}

fn failed(name: &str, line: u64, sql: &[u8], source: ClientError) -> DumpError {
    let text = String::from_utf8_lossy(&sql[..sql.len().min(4 * SHOWN_MAX)]);
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut statement: String = words.chars().take(SHOWN_MAX).collect();
    if words.chars().count() > SHOWN_MAX {
        statement.push('…');
    }
    DumpError::Statement { name: name.to_owned(), line, statement, source }
}
