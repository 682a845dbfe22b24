//! Restrictions of a connection to a file that somebody else may have made
//! (<https://www.sqlite.org/security.html>).

use rusqlite::Connection;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;

/// Longest text, blob or row in bytes. Dyno's own take at most a few megabytes.
const VALUE_BYTES_MAX: i32 = 256 << 20;

/// Limits of statements. Dyno's longest has some hundred columns.
const LIMITS: [(Limit, i32); 5] = [
    (Limit::SQLITE_LIMIT_LENGTH, VALUE_BYTES_MAX),
    (Limit::SQLITE_LIMIT_SQL_LENGTH, 1 << 20),
    (Limit::SQLITE_LIMIT_COLUMN, 256),
    (Limit::SQLITE_LIMIT_EXPR_DEPTH, 256),
    (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 16),
];

/// Prepares a connection before anything is read through it.
pub(super) fn guard(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    for (limit, most) in LIMITS {
        connection.set_limit(limit, most)?;
    }
    connection.pragma_update(None, "cell_size_check", "ON")
}

/// Forbids attaching other files. No reader needs that.
pub(super) fn forbid_attaching(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0).map(drop)
}
