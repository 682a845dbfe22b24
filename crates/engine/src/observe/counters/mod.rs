//! Counters of engines, read under load.
//!
//! Names are the server's own. Each name belongs to a source, such as `global_status` or `pg_stat_database`. A
//! [`Counters`] gives every name an index that never changes. So a reading is a row of numbers.

mod depth;
mod error;
mod gauges;
mod mysql;
mod name;
mod postgres;
mod query;
mod reader;
mod reading;
mod rocksdb;
mod server;
mod sqlite;
mod tally;

use std::path::Path;
use std::time::Duration;

use dyno_client::ClientError;

pub use self::depth::Depth;
pub use self::error::CountersError;
pub use self::name::{CounterId, CounterKind, CounterName};
use self::reader::Reader;
pub use self::reading::{CounterChange, CounterReading};
use self::server::ServerReader;
use self::sqlite::SqliteReader;
use self::tally::Tally;
use crate::catalogue::entry::Family;
use crate::start::access::Access;
use crate::start::connect::{Transport, connect};

/// Reads a system's counters. For a server, this value has its own connection. After an error, the value cannot be used
/// any more.
pub struct Counters {
    reader: Box<dyn Reader>,
    tally: Tally,
}

impl Counters {
    /// Connects to a server as the account of `access`, and finds its counters. `patience` is the time limit of each
    /// answer, now and at later readings.
    ///
    /// # Errors
    /// The engine has no server, or the server refuses the login or does not answer.
    pub fn connect(family: Family, access: &Access, patience: Duration) -> Result<Self, CountersError> {
        let mut client = connect(family, access, Transport::Socket, patience)?;
        let queries = match family {
            Family::Mysql | Family::Mariadb => mysql::queries(),
            Family::Postgres => postgres::queries(&mut client)?,
            Family::Sqlite => return Err(ClientError::NoServer.into()),
        };
        Ok(Self::new(Box::new(ServerReader::new(client, queries)?)))
    }

    /// Counters of a SQLite database, read from its files. SQLite's own counters (`sqlite3_status`) are inside the
    /// processes that use the database.
    ///
    /// A reading opens and closes the database's files. When a process closes a file, it loses all its POSIX locks
    /// on that file (see "How To Corrupt An SQLite Database File", 2.2). So this process must have no connection to
    /// that database open.
    pub fn of_sqlite(database: &Path) -> Self {
        Self::new(Box::new(SqliteReader::new(database)))
    }

    fn new(reader: Box<dyn Reader>) -> Self {
        Self { reader, tally: Tally::default() }
    }

    /// Reads every counter.
    ///
    /// # Errors
    /// The server is gone or does not answer within the patience, or a file cannot be read.
    pub fn read(&mut self, depth: Depth) -> Result<CounterReading, CountersError> {
        self.tally.begin();
        self.reader.read(depth, &mut self.tally)?;
        Ok(self.tally.reading(depth))
    }

    /// All names so far. The index in this list is the [`CounterId`]. A reading may append names.
    pub fn names(&self) -> &[CounterName] {
        self.tally.names()
    }

    /// Sources that this system does not have, each with the server's reason. For example, an old server does not have
    /// the views of later versions.
    pub fn missing(&self) -> &[(&'static str, String)] {
        self.reader.missing()
    }

    /// Returns the change between two readings: the difference for a counter, the later value for a gauge.
    pub fn change(&self, from: &CounterReading, to: &CounterReading) -> Vec<CounterChange> {
        reading::change(self.names(), from, to)
    }
}
