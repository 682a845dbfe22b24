//! What a server is to others, and what a commit waits for.

use serde::{Deserialize, Serialize};

use super::{Replicating, replicating};
use crate::catalogue::entry::Family;
use crate::start::access::Access;

/// What a commit on the primary waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReplicationMode {
    /// No replica.
    #[default]
    Asynchronous,
    /// One replica, which must have received the transaction.
    SemiSynchronous,
    /// All replicas, which must have received the transaction.
    Synchronous,
    /// All replicas, which must have received the transaction and take writes too: a Galera cluster of MariaDB.
    Galera,
}

impl ReplicationMode {
    /// Its word in plans and results.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Asynchronous => "asynchronous",
            Self::SemiSynchronous => "semi-synchronous",
            Self::Synchronous => "synchronous",
            Self::Galera => "galera",
        }
    }

    /// The number of replicas that a commit waits for, of `replicas`.
    pub fn waits_for(self, replicas: u32) -> u32 {
        match self {
            Self::Asynchronous => 0,
            Self::SemiSynchronous => 1,
            Self::Synchronous | Self::Galera => replicas,
        }
    }
}

/// How a server is replicated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replication {
    pub mode: ReplicationMode,
    /// Number of replicas.
    pub replicas: u32,
    /// Time for which replicas hold back what they have received, in seconds.
    pub delay_seconds: u32,
}

/// What a server is to others.
#[derive(Clone, Debug, Default)]
pub enum Role {
    /// It has no replica.
    #[default]
    Alone,
    Primary(Replication),
    Replica {
        /// From 1.
        number: u32,
        replication: Replication,
        /// The server that it follows. Its port must stay the same.
        primary: Box<Access>,
    },
}

impl Role {
    pub(crate) fn replication(&self) -> Option<&Replication> {
        match self {
            Self::Alone => None,
            Self::Primary(replication) | Self::Replica { replication, .. } => Some(replication),
        }
    }

    /// The steps of a server with this role; `None` for a family without a server.
    pub(crate) fn steps(&self, family: Family) -> Option<&'static dyn Replicating> {
        let mode = self.replication().map(|replication| replication.mode);
        replicating(family, mode.unwrap_or_default())
    }
}
