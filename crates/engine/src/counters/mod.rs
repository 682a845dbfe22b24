//! What an engine counts about itself, read while it is under load.
//!
//! Names are kept as the server gives them; each belongs to a source, such as `global_status` or
//! `pg_stat_database`. A [`Counters`] gives every name a number that stays, so that a reading is a row of numbers.

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

pub use self::depth::Depth;
pub use self::error::CountersError;
pub use self::name::{CounterId, CounterKind, CounterName};
use self::reader::Reader;
pub use self::reading::{CounterChange, CounterReading};
use self::server::ServerReader;
use self::sqlite::SqliteReader;
use self::tally::Tally;
use crate::access::Access;
use crate::client::{Client, ClientError, Transport};
use crate::entry::Family;

/// A system's counters, read over a connection of their own. After an error it is of no more use.
pub struct Counters {
    reader: Box<dyn Reader>,
    tally: Tally,
}

impl Counters {
    /// Connects to a server as the account of `access`, and finds out what it counts. No answer may take longer
    /// than `patience`, now or at a later reading.
    ///
    /// # Errors
    /// The engine has no server, or the server lets nobody in, or it is silent.
    pub fn connect(family: Family, access: &Access, patience: Duration) -> Result<Self, CountersError> {
        let mut client = Client::connect(family, access, Transport::Socket, patience)?;
        let queries = match family {
            Family::Mysql | Family::Mariadb => mysql::queries(),
            Family::Postgres => postgres::queries(&mut client)?,
            Family::Sqlite => return Err(ClientError::NoServer.into()),
        };
        Ok(Self::new(Box::new(ServerReader::new(client, queries)?)))
    }

    /// What can be known from outside about a SQLite database file that other processes use. Its own counters
    /// (`sqlite3_status`) live in those processes.
    ///
    /// Reading opens and closes the database's files, by which this process would lose the POSIX locks of its own
    /// connections to that database (see "How To Corrupt An SQLite Database File", 2.2): it must have none open
    /// meanwhile.
    pub fn of_sqlite(database: &Path) -> Self {
        Self::new(Box::new(SqliteReader::new(database)))
    }

    fn new(reader: Box<dyn Reader>) -> Self {
        Self { reader, tally: Tally::default() }
    }

    /// Reads every counter as it is now.
    ///
    /// # Errors
    /// The server is gone, or silent for longer than the patience, or the file cannot be read.
    pub fn read(&mut self, depth: Depth) -> Result<CounterReading, CountersError> {
        self.tally.begin();
        self.reader.read(depth, &mut self.tally)?;
        Ok(self.tally.reading(depth))
    }

    /// Every name met so far; the place in this list is its [`CounterId`]. A reading may add names at its end.
    pub fn names(&self) -> &[CounterName] {
        self.tally.names()
    }

    /// Sources that this system does not have, each with the server's reason, such as a view of a later version.
    pub fn missing(&self) -> &[(&'static str, String)] {
        self.reader.missing()
    }

    /// What happened between two readings: how far counters went, and what gauges stand at in the later one.
    pub fn change(&self, from: &CounterReading, to: &CounterReading) -> Vec<CounterChange> {
        reading::change(self.names(), from, to)
    }
}
