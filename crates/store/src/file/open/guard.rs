//! Restrictions on a connection, because somebody else may have made the file
//! (<https://www.sqlite.org/security.html>).

use rusqlite::Connection;
use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;

/// Largest size of a text, blob or row in bytes. Dyno's own values take at most a few megabytes.
const VALUE_BYTES_MAX: i32 = 256 << 20;

/// Limits of SQL statements. Dyno's longest statement has about a hundred columns.
const LIMITS: [(Limit, i32); 5] = [
    (Limit::SQLITE_LIMIT_LENGTH, VALUE_BYTES_MAX),
    (Limit::SQLITE_LIMIT_SQL_LENGTH, 1 << 20),
    (Limit::SQLITE_LIMIT_COLUMN, 256),
    (Limit::SQLITE_LIMIT_EXPR_DEPTH, 256),
    (Limit::SQLITE_LIMIT_COMPOUND_SELECT, 16),
];

/// Sets the restrictions of a connection. This must happen before anything is read through the connection.
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
