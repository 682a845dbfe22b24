//! Names of counters.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A counter's number: its place in [`Counters::names`](super::Counters::names). It is the same in every reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CounterId(pub(super) usize);

impl CounterId {
    /// The index in the list of names and in each reading.
    pub fn index(self) -> usize {
        self.0
    }
}

/// The kind of a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CounterKind {
    /// It only grows while the server runs.
    Counter,
    /// It may rise and fall.
    Gauge,
}

/// Something that an engine counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CounterName {
    /// Its source: `global_status`, `innodb_metrics`, `pg_stat_io`.
    pub source: &'static str,
    /// Its name. Values have the server's unit. If a source has rows for several things, the thing comes first: `client
    /// backend/relation/normal reads`.
    pub name: String,
    /// Counter or gauge.
    pub kind: CounterKind,
}

/// `pg_stat_database.xact_commit`.
impl fmt::Display for CounterName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.source, self.name)
    }
}
