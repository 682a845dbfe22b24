//! Names of counters.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A counter's number: its place in [`Counters::names`](super::Counters::names), the same in every reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CounterId(pub(super) usize);

impl CounterId {
    /// The place in the list of names and in each reading.
    pub fn index(self) -> usize {
        self.0
    }
}

/// What a number means over time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CounterKind {
    /// It only grows while the server runs: the difference of two readings is what happened in between.
    Counter,
    /// It stands at something, and may fall.
    Gauge,
}

/// Something that an engine counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CounterName {
    /// Where the engine keeps it, in the engine's words: `global_status`, `innodb_metrics`, `pg_stat_io`.
    pub source: &'static str,
    /// As the server gives it, in the server's unit. Where a source has a row for each of several things, the
    /// thing comes first: `client backend/relation/normal reads`.
    pub name: String,
    /// Whether differences mean something.
    pub kind: CounterKind,
}

/// `pg_stat_database.xact_commit`.
impl fmt::Display for CounterName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.source, self.name)
    }
}
