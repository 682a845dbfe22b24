//! The schema, and the marks by which a file is known to be ours and of which version.

use rusqlite::{Connection, TransactionBehavior};

/// What makes each version of the schema out of the one before, from a blank file on. What was released stays
/// as it is; a change is a further file.
const MIGRATIONS: &[&str] = &[
    include_str!("../migrations/1.sql"),
    include_str!("../migrations/2.sql"),
    include_str!("../migrations/3.sql"),
];

/// Number of the results format that this program writes, kept in SQLite's `user_version`.
pub(crate) const VERSION: i64 = MIGRATIONS.len() as i64;

/// "Dyno" as four bytes, kept in SQLite's `application_id`: offset 68 of the file, where `file(1)` looks.
const APPLICATION_ID: i64 = 0x4479_6e6f;

/// What a database file turned out to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Nothing in it yet.
    Blank,
    /// A results file of this version.
    Current,
    /// A results file of an earlier version, which [`migrate`] brings up to date.
    Older(i64),
    /// A results file of a later version, or of none that ever was.
    Unknown(i64),
    /// Another program's database.
    Foreign,
}

/// Tells what a file is. Takes an open transaction's view, so that it agrees with what [`migrate`] does next.
pub(crate) fn kind(connection: &Connection) -> rusqlite::Result<Kind> {
    let number = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let (application, version) = (number("application_id")?, number("user_version")?);
    if application == APPLICATION_ID {
        return Ok(match version {
            VERSION => Kind::Current,
            1..VERSION => Kind::Older(version),
            _ => Kind::Unknown(version),
        });
    }
    let objects: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    Ok(if (application, version, objects) == (0, 0, 0) { Kind::Blank } else { Kind::Foreign })
}

/// Makes a blank file a results file, and one of an earlier version one of this. Two processes may do so at once:
/// the second finds the work done.
pub(crate) fn migrate(connection: &mut Connection) -> rusqlite::Result<Kind> {
    // The journal mode stays with the file; it cannot be changed within a transaction.
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // A table that is made anew is dropped first, which must not take the rows that refer to it; nor can this be
    // changed within a transaction.
    connection.pragma_update(None, "foreign_keys", "OFF")?;
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let kind = kind(&transaction)?;
    let from = match kind {
        Kind::Blank => 0,
        Kind::Older(version) => version,
        Kind::Current | Kind::Unknown(_) | Kind::Foreign => return Ok(kind),
    };
    for migration in &MIGRATIONS[from as usize..] {
        transaction.execute_batch(migration)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.pragma_update(None, "user_version", VERSION)?;
    transaction.commit()?;
    Ok(Kind::Current)
}

/// Makes a file as an earlier version of Dyno would have.
#[cfg(test)]
pub(crate) fn create_version(connection: &Connection, version: i64) -> rusqlite::Result<()> {
    for migration in &MIGRATIONS[..version as usize] {
        connection.execute_batch(migration)?;
    }
    connection.pragma_update(None, "application_id", APPLICATION_ID)?;
    connection.pragma_update(None, "user_version", version)
}
