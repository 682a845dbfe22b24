//! What a server is to others, and what a commit waits for.

use serde::{Deserialize, Serialize};

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
}

impl ReplicationMode {
    /// Its word in plans and results.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Asynchronous => "asynchronous",
            Self::SemiSynchronous => "semi-synchronous",
            Self::Synchronous => "synchronous",
        }
    }

    /// The number of replicas that a commit waits for, of `replicas`.
    pub fn waits_for(self, replicas: u32) -> u32 {
        match self {
            Self::Asynchronous => 0,
            Self::SemiSynchronous => 1,
            Self::Synchronous => replicas,
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
}
