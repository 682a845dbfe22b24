//! Loads a dump into a server: what `mariadb-dump`, `mysqldump`, `pg_dump` and `pg_dumpall` write as SQL.

mod place;
mod session;
mod split;
#[cfg(test)]
mod tests;

use std::io::BufRead;
use std::sync::atomic::{AtomicBool, Ordering};

use dyno_client::ClientError;
use dyno_printable::Printable;
use thiserror::Error;

use self::session::Session;
use self::split::{Item, SplitError, Splitter, Statement, Syntax};
use crate::catalogue::entry::Family;
use crate::start::server::Server;

/// Rows of a `COPY` that are sent at a time, in bytes. Each part is a statement of its own.
const ROWS_BYTES: usize = 4 << 20;
/// The shown begin of a statement that failed, in characters.
const SHOWN_MAX: usize = 80;

/// Why a dump was not loaded.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DumpError {
    /// The server refuses a statement.
    #[error("{name}:{line}: {source}, in `{}`", Printable(statement))]
    Statement {
        name: String,
        /// The line that it begins in, of the unpacked text.
        line: u64,
        /// Its begin.
        statement: String,
        source: ClientError,
    },
    /// It cannot be read.
    #[error("{name}: {reason}")]
    Unreadable { name: String, reason: String },
    /// The server cannot be reached, or refuses what makes it ready.
    #[error("the server cannot take a dump: {0}")]
    Server(#[from] ClientError),
    /// The user stopped it.
    #[error("stopped")]
    Stopped,
}

/// Loads a dump into a running server, statement by statement, and collects its statistics. `name` is for messages.
///
/// Statements without a database go to [`DATABASE`](crate::DATABASE). If a dump of PostgreSQL names a role that it does
/// not create, the role is created, without a login.
///
/// # Errors
/// The dump cannot be read, or the server refuses a statement. Some of it is loaded then.
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
/// The file cannot be read, or the server refuses a statement. Those before it are executed then.
pub fn execute_file(
    server: &Server,
    name: &str,
    text: &mut dyn BufRead,
    stop: &AtomicBool,
) -> Result<(), DumpError> {
    let syntax = match server.family() {
        Family::Postgres => Syntax::Postgres,
        Family::Mysql | Family::Mariadb | Family::Sqlite => Syntax::Mysql,
    };
    let mut session = Session::open(server)?;
    let unreadable =
        |error: SplitError| DumpError::Unreadable { name: name.to_owned(), reason: error.to_string() };
    let mut dump = Splitter::new(text, syntax);
    while let Some(item) = dump.next().map_err(unreadable)? {
        if stop.load(Ordering::Relaxed) {
            return Err(DumpError::Stopped);
        }
        match item {
            Item::Connect { database, line } => session
                .connect(&database)
                .map_err(|source| failed(name, line, format!("\\connect {database}").as_bytes(), source))?,
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

/// Sends the rows of a `COPY`, in parts.
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
