//! Isolation levels of SQL, and models of what transactions may see.

use dyno_engine::Family;
use serde::Serialize;

/// The isolation level that transactions ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    ReadCommitted,
    RepeatableRead,
    Serializable,
}

impl Level {
    pub const ALL: [Self; 3] = [Self::ReadCommitted, Self::RepeatableRead, Self::Serializable];

    /// The level with a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.as_str() == name)
    }

    /// Its words in SQL.
    pub(crate) fn sql(self) -> &'static str {
        match self {
            Self::ReadCommitted => "READ COMMITTED",
            Self::RepeatableRead => "REPEATABLE READ",
            Self::Serializable => "SERIALIZABLE",
        }
    }

    /// Its name on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ReadCommitted => "read-committed",
            Self::RepeatableRead => "repeatable-read",
            Self::Serializable => "serializable",
        }
    }

    /// The model that the level has by its name. PostgreSQL documents that its repeatable read is snapshot isolation.
    pub fn model(self, family: Family) -> Model {
        match self {
            Self::ReadCommitted => Model::ReadCommitted,
            Self::RepeatableRead if family == Family::Postgres => Model::SnapshotIsolation,
            Self::RepeatableRead => Model::RepeatableRead,
            Self::Serializable => Model::Serializable,
        }
    }
}

/// What transactions may see. The strongest comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Model {
    /// As if transactions ran one after the other, in an order that agrees with their times.
    StrictSerializable,
    /// As if they ran one after the other.
    Serializable,
    /// Each reads the state at one moment, and no two that overlap change the same row.
    SnapshotIsolation,
    /// No row changes between a transaction's read of it and the transaction's end.
    RepeatableRead,
    /// Only committed changes are read.
    ReadCommitted,
    ReadUncommitted,
}

impl Model {
    pub const ALL: [Self; 6] = [
        Self::StrictSerializable,
        Self::Serializable,
        Self::SnapshotIsolation,
        Self::RepeatableRead,
        Self::ReadCommitted,
        Self::ReadUncommitted,
    ];

    /// The model with a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|model| model.as_str() == name)
    }

    /// Its name on the command line, and in the literature.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::StrictSerializable => "strict-serializable",
            Self::Serializable => "serializable",
            Self::SnapshotIsolation => "snapshot-isolation",
            Self::RepeatableRead => "repeatable-read",
            Self::ReadCommitted => "read-committed",
            Self::ReadUncommitted => "read-uncommitted",
        }
    }
}
