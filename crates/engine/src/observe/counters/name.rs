//! Names of counters.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A counter's number: its index in [`Counters::names`](super::Counters::names). It is the same in every reading.
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
    /// The value only grows while the server runs.
    Counter,
    /// The value may rise and fall.
    Gauge,
}

/// Something that an engine counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CounterName {
    /// The table or view in which the server lists the counter: `global_status`, `innodb_metrics`, `pg_stat_io`.
    pub source: &'static str,
    /// The server's name for the counter. If each row of a source is about one object, the name begins with that
    /// object: `client backend/relation/normal reads`. The value of the counter has the server's unit.
    pub name: String,
    /// Whether the value only grows.
    pub kind: CounterKind,
}

/// Prints source and name, such as `pg_stat_database.xact_commit`.
impl fmt::Display for CounterName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.source, self.name)
    }
}
