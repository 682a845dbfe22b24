//! The schema, and the marks that identify a results file and its version.

mod difference;

use rusqlite::{Connection, TransactionBehavior};

pub use self::difference::SchemaDifference;

/// The whole schema. There is no release yet, so each change is a new format, and older files are refused.
const SCHEMA: &str = include_str!("schema.sql");

/// Number of the results format that this program reads and writes. It is stored in SQLite's `user_version`.
pub(crate) const VERSION: i64 = 23;

/// "Dyno" as four bytes, stored in SQLite's `application_id` at offset 68 of the file, where `file(1)` finds it.
const APPLICATION_ID: i64 = 0x4479_6e6f;

/// The kind of a database file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// An empty file.
    Blank,
    /// A results file of this version.
    Current,
    /// A results file of an earlier or later version.
    Other(i64),
    Foreign,
}

/// Finds the kind of a file. Meanwhile, another process may [`create`] the schema in one transaction. Therefore the
/// objects and the version are read first and the application id last. If the application id is set, the version is
/// read again.
pub(crate) fn kind(connection: &Connection) -> rusqlite::Result<Kind> {
    let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let objects: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    let version = number("user_version")?;
    let application = number("application_id")?;
    if application == APPLICATION_ID {
        return Ok(match number("user_version")? {
            VERSION => Kind::Current,
            other => Kind::Other(other),
        });
    }
    Ok(if (application, version, objects) == (0, 0, 0) { Kind::Blank } else { Kind::Foreign })
}

/// Returns the first difference between a file's schema and the schema of the format; `None` if they are equal.
pub(crate) fn difference(connection: &Connection) -> rusqlite::Result<Option<SchemaDifference>> {
    difference::difference(connection, SCHEMA)
}

/// Turns a blank file into a results file. If two processes do this at the same time, the second process finds a
/// results file and does not change it. Returns the kind of the file after the call.
pub(crate) fn create(connection: &mut Connection) -> rusqlite::Result<Kind> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let kind = kind(&transaction)?;
    if kind != Kind::Blank {
        return Ok(kind);
    }
    transaction.execute_batch(SCHEMA)?;
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", VERSION)?;
    transaction.commit()?;
    Ok(Kind::Current)
}

/// Marks a file as a results file of another version.
#[cfg(test)]
pub(crate) fn mark_version(connection: &Connection, version: i64) -> rusqlite::Result<()> {
    connection.pragma_update(None, "application_id", APPLICATION_ID)?;
    connection.pragma_update(None, "user_version", version)
}
