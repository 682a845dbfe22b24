//! SQL's isolation levels, and the formal models of what transactions may see.

use dyno_engine::Family;
use serde::Serialize;

/// The isolation level that transactions request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    ReadCommitted,
    RepeatableRead,
    Serializable,
}

impl Level {
    pub const ALL: [Self; 3] = [Self::ReadCommitted, Self::RepeatableRead, Self::Serializable];

    /// Returns the level that has this name on the command line.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.as_str() == name)
    }

    /// The level's name in SQL.
    pub(crate) fn sql(self) -> &'static str {
        match self {
            Self::ReadCommitted => "READ COMMITTED",
            Self::RepeatableRead => "REPEATABLE READ",
            Self::Serializable => "SERIALIZABLE",
        }
    }

    /// The level's name on the command line.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ReadCommitted => "read-committed",
            Self::RepeatableRead => "repeatable-read",
            Self::Serializable => "serializable",
        }
    }

    /// Returns the model that a system of this family promises with the level. PostgreSQL documents that its
    /// repeatable read is snapshot isolation.
    pub fn model(self, family: Family) -> Model {
        match self {
            Self::ReadCommitted => Model::ReadCommitted,
            Self::RepeatableRead if family == Family::Postgres => Model::SnapshotIsolation,
            Self::RepeatableRead => Model::RepeatableRead,
            Self::Serializable => Model::Serializable,
        }
    }
}

/// Models of what transactions may see, from the strongest to the weakest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Model {
    /// Transactions appear to run one after the other, in an order that agrees with their real times.
    StrictSerializable,
    /// Transactions appear to run one after the other, in any order.
    Serializable,
    /// Each transaction reads the state at one moment. Of two transactions that overlap in time and change the same
    /// row, at most one commits.
    SnapshotIsolation,
    /// A row that a transaction has read does not change until the transaction ends.
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

    /// Returns the model that has this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|model| model.as_str() == name)
    }

    /// The model's name on the command line and in the literature.
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
