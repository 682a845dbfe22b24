//! The formats of logs.

use std::fmt;

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
