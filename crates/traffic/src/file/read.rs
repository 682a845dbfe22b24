//! Reads a traffic file. The file is not trusted, because anybody may have made it.

use std::path::{Path, PathBuf};

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, ErrorCode, OpenFlags};

use super::schema::{self, Kind};
use super::summary::{self, Order, Summary};
use crate::error::TrafficError;

/// Length of the longest value, in bytes. Even the longest statement, escaped in JSON, is shorter.
const VALUE_BYTES_MAX: i32 = 256 << 20;

/// An open traffic file.
#[derive(Debug)]
pub struct TrafficFile {
    pub(super) connection: Connection,
    pub(super) path: PathBuf,
}

impl TrafficFile {
    /// Opens a traffic file.
    ///
    /// # Errors
    /// There is no file at the path, or it has another format or version.
    pub fn open(path: &Path) -> Result<Self, TrafficError> {
        let about = path.metadata().map_err(|_| TrafficError::NotFound { path: path.to_owned() })?;
        if !about.is_file() {
            return Err(TrafficError::Foreign { path: path.to_owned() });
        }
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).map_err(|error| classified(path, error))?;
        guard(&connection).map_err(|error| classified(path, error))?;
        match schema::kind(&connection).map_err(|error| classified(path, error))? {
            Kind::Current => Ok(Self { connection, path: path.to_owned() }),
            Kind::Other(found) => Err(TrafficError::OtherVersion { path: path.to_owned(), found }),
            Kind::Foreign => Err(TrafficError::Foreign { path: path.to_owned() }),
        }
    }

    /// Summarises the file, with at most `digests_max` digests. For the rates, the time of the traffic is divided into
    /// at most `parts_max` equal parts.
    ///
    /// # Errors
    /// The file is damaged.
    pub fn summary(
        &self,
        order: Order,
        digests_max: usize,
        parts_max: usize,
    ) -> Result<Summary, TrafficError> {
        summary::read(&self.connection, order, digests_max, parts_max)
            .map_err(|error| classified(&self.path, error))
    }
}

/// Disables all features that a hostile file could use (<https://www.sqlite.org/security.html>).
fn guard(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_TRIGGER, false)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_VIEW, false)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, VALUE_BYTES_MAX)?;
    connection.set_limit(Limit::SQLITE_LIMIT_ATTACHED, 0)?;
    connection.pragma_update(None, "cell_size_check", "ON")
}

pub(super) fn classified(path: &Path, source: rusqlite::Error) -> TrafficError {
    match source.sqlite_error_code() {
        Some(ErrorCode::NotADatabase) => TrafficError::Foreign { path: path.to_owned() },
        _ => TrafficError::Damaged { path: path.to_owned(), source },
    }
}
