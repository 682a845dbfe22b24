//! A server's role in replication, and what a commit waits for.

use serde::{Deserialize, Serialize};

use super::{Replicating, replicating};
use crate::catalogue::entry::Family;
use crate::start::access::Access;

/// What a commit on the primary waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReplicationMode {
    /// A commit waits for no replica.
    #[default]
    Asynchronous,
    /// A commit waits until one replica has received the transaction.
    SemiSynchronous,
    /// A commit waits until all replicas have received the transaction.
    Synchronous,
    /// A commit waits until all replicas have received the transaction. Replicas take writes too: a Galera cluster of
    /// MariaDB.
    Galera,
}

impl ReplicationMode {
    /// Returns the word for the mode in plans and results.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Asynchronous => "asynchronous",
            Self::SemiSynchronous => "semi-synchronous",
            Self::Synchronous => "synchronous",
            Self::Galera => "galera",
        }
    }

    /// How many of a primary's `replicas` a commit waits for.
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
    /// The delay after which replicas apply a received transaction, in seconds.
    pub delay_seconds: u32,
}

/// A server's role in replication.
#[derive(Clone, Debug, Default)]
pub enum Role {
    /// The server is not replicated.
    #[default]
    Alone,
    Primary(Replication),
    Replica {
        /// The replica's number, from 1.
        number: u32,
        replication: Replication,
        /// The server that the replica follows. Its port must stay the same.
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

    /// Returns the replication steps for a server with this role. Returns `None` for a family without a server.
    pub(crate) fn steps(&self, family: Family) -> Option<&'static dyn Replicating> {
        let mode = self.replication().map(|replication| replication.mode);
        replicating(family, mode.unwrap_or_default())
    }
}
