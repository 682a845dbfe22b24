//! The formats of logs and captures.

use std::fmt;

use crate::sql::Dialect;

/// A format of a log, or the product whose traffic is read from a capture.
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
    /// A capture of unencrypted traffic of MySQL or MariaDB, in pcap or pcapng.
    PcapMysql,
    /// A capture of unencrypted traffic of PostgreSQL, in pcap or pcapng.
    PcapPostgresql,
}

impl LogFormat {
    pub const ALL: [Self; 8] = [
        Self::Slow,
        Self::General,
        Self::Proxysql,
        Self::Csvlog,
        Self::Jsonlog,
        Self::Stderr,
        Self::PcapMysql,
        Self::PcapPostgresql,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::Slow => "slow",
            Self::General => "general",
            Self::Proxysql => "proxysql",
            Self::Csvlog => "csvlog",
            Self::Jsonlog => "jsonlog",
            Self::Stderr => "stderr",
            Self::PcapMysql => "pcap-mysql",
            Self::PcapPostgresql => "pcap-postgresql",
        }
    }

    pub fn dialect(self) -> Dialect {
        match self {
            Self::Slow | Self::General | Self::Proxysql | Self::PcapMysql => Dialect::Mysql,
            Self::Csvlog | Self::Jsonlog | Self::Stderr | Self::PcapPostgresql => Dialect::Postgresql,
        }
    }

    /// The format with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name)
    }

    /// Whether a source of this format is read packet by packet. Others are read line by line.
    pub fn is_capture(self) -> bool {
        matches!(self, Self::PcapMysql | Self::PcapPostgresql)
    }

    /// The format of a capture that is read for the traffic of this product.
    pub(crate) fn capture_of(dialect: Dialect) -> Self {
        match dialect {
            Dialect::Mysql => Self::PcapMysql,
            Dialect::Postgresql => Self::PcapPostgresql,
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
            Self::PcapMysql => "a capture of MySQL's traffic",
            Self::PcapPostgresql => "a capture of PostgreSQL's traffic",
        })
    }
}
