//! Parses logs of servers, line by line, into events that are the same for all formats.

mod detect;
mod event;
mod moment;
mod mysql;
mod postgres;
#[cfg(test)]
mod tests;
mod text;

use std::fmt;

pub(crate) use self::detect::detect;
pub use self::event::{Event, Statement, Trouble};
use crate::error::TrafficError;
use crate::input::Line;
use crate::sql::Dialect;

/// A format of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFormat {
    /// The slow log of MySQL, MariaDB and Percona Server.
    Slow,
    /// The general log of MySQL and MariaDB.
    General,
    /// The eventslog of ProxySQL with `eventslog_format = 2`.
    Proxysql,
    /// PostgreSQL's log with `log_destination = csvlog`.
    Csvlog,
    /// PostgreSQL's log with `log_destination = jsonlog`.
    Jsonlog,
    /// PostgreSQL's log with `log_destination = stderr`.
    Stderr,
}

impl LogFormat {
    pub const ALL: [Self; 6] =
        [Self::Slow, Self::General, Self::Proxysql, Self::Csvlog, Self::Jsonlog, Self::Stderr];

    pub fn name(self) -> &'static str {
        match self {
            Self::Slow => "slow",
            Self::General => "general",
            Self::Proxysql => "proxysql",
            Self::Csvlog => "csvlog",
            Self::Jsonlog => "jsonlog",
            Self::Stderr => "stderr",
        }
    }

    pub fn dialect(self) -> Dialect {
        match self {
            Self::Slow | Self::General | Self::Proxysql => Dialect::Mysql,
            Self::Csvlog | Self::Jsonlog | Self::Stderr => Dialect::Postgresql,
        }
    }

    /// A reader for this format, for a log from its start.
    pub(crate) fn reader(self) -> Box<dyn Reader> {
        match self {
            Self::Slow => Box::<mysql::Slow>::default(),
            Self::General => Box::<mysql::General>::default(),
            Self::Proxysql => Box::<mysql::Proxysql>::default(),
            Self::Csvlog => Box::<postgres::Csvlog>::default(),
            Self::Jsonlog => Box::<postgres::Jsonlog>::default(),
            Self::Stderr => Box::<postgres::Stderr>::default(),
        }
    }
}

impl fmt::Display for LogFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Slow => "MySQL's slow log",
            Self::General => "MySQL's general log",
            Self::Proxysql => "ProxySQL's eventslog",
            Self::Csvlog => "PostgreSQL's csvlog",
            Self::Jsonlog => "PostgreSQL's jsonlog",
            Self::Stderr => "PostgreSQL's log to stderr",
        })
    }
}

/// Receives events, each with the line on which it begins.
pub(crate) type See<'a> = &'a mut dyn FnMut(u64, Event<'_>) -> Result<(), TrafficError>;

/// Turns the lines of a log into events.
pub(crate) trait Reader {
    /// Reads the next line. An entry of several lines becomes an event when the next entry begins.
    fn line(&mut self, line: Line<'_>, see: See<'_>) -> Result<(), TrafficError>;

    /// Reads the end of the log.
    fn end(&mut self, see: See<'_>) -> Result<(), TrafficError>;
}
