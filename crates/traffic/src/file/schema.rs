//! The schema of a traffic file, and the numbers that identify the format.

use rusqlite::Connection;

const SCHEMA: &str = include_str!("schema.sql");

/// Number of the format, stored in SQLite's `user_version`.
pub(crate) const VERSION: i64 = 3;

/// The bytes `DynT` as a number, stored in SQLite's `application_id`.
const APPLICATION_ID: i64 = 0x4479_6e54;

/// Whether a database is a traffic file, and of which version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Current,
    Other(i64),
    Foreign,
}

/// The index by which the statements of a session are found in order. It is created after all chunks are inserted,
/// because that is faster.
const INDEX: &str = "CREATE INDEX chunk_session ON chunk (session_id, first_id)";

/// Creates the tables.
pub(super) fn create(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(SCHEMA)?;
    connection.pragma_update(None, "application_id", APPLICATION_ID)?;
    connection.pragma_update(None, "user_version", VERSION)
}

/// Completes the schema of a file that has all its rows.
pub(super) fn complete(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute_batch(INDEX)
}

pub(super) fn kind(connection: &Connection) -> rusqlite::Result<Kind> {
    let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    if number("application_id")? != APPLICATION_ID {
        return Ok(Kind::Foreign);
    }
    Ok(match number("user_version")? {
        VERSION => Kind::Current,
        other => Kind::Other(other),
    })
}
