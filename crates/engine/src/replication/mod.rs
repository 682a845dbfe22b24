//! Servers with replicas: each replica is a server of its own, which repeats the transactions of the primary.
//!
//! A replica starts on a copy of the data on which the primary starts. So both have the same history, and the
//! replica follows from the primary's first transaction on. Tokens show how far it is: numbers in a small table of
//! Dyno's own, written on the primary and read on the replica. They mean the same for every server.

mod attach;
mod error;
mod mysqld;
mod postgres;
mod tokens;
mod topology;

use std::fs;
use std::io;
use std::path::Path;

use dyno_client::{Client, ClientError};
use serde::{Deserialize, Serialize};

pub use self::attach::attach;
pub use self::error::ReplicationError;
pub(crate) use self::mysqld::{MysqldReplication, is_of_role};
pub(crate) use self::postgres::PostgresReplication;
pub use self::tokens::{TokenReader, TokenWriter};
pub use self::topology::Topology;
use crate::catalogue::entry::{Entry, Family};
use crate::family::Site;
use crate::machine::path_error::{At as _, PathError};
use crate::start::access::Access;
use crate::start::server::StartError;

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

/// What a replica says about itself.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReplicaStatus {
    /// How far it is behind the primary, in seconds; `None` if it does not know.
    pub behind_seconds: Option<f64>,
    /// Why it has stopped; `None` if it goes on, or tries to.
    pub stopped: Option<String>,
}

/// The steps of replication that differ between families.
pub(crate) trait Replicating: Sync {
    /// Checks that the installation has what the role needs.
    fn check(&self, _site: &Site<'_>) -> Result<(), StartError> {
        Ok(())
    }

    /// Arguments of the server's program for its role.
    fn arguments(&self, site: &Site<'_>) -> Vec<String>;

    /// Prepares the data folder of a replica, a copy of that on which its primary starts.
    fn prepare(&self, site: &Site<'_>) -> Result<(), StartError>;

    /// Statements on a primary that has just started, before replicas follow it.
    fn primary_statements(&self, _entry: &Entry) -> Vec<String> {
        Vec::new()
    }

    /// Statements on a replica that has just started, to make it follow its primary at `host`.
    fn replica_statements(&self, _entry: &Entry, _host: &str, _role: &Role) -> Vec<String> {
        Vec::new()
    }

    /// What a replica says about itself.
    fn status(&self, client: &mut Client) -> Result<ReplicaStatus, ClientError>;

    /// The number of replicas that can let a primary's commit return; 0 if commits wait for none.
    fn waited_for(&self, client: &mut Client) -> Result<u32, ClientError>;
}

/// The steps of a family; `None` for a family without a server.
pub(crate) fn replicating(family: Family) -> Option<&'static dyn Replicating> {
    match family {
        Family::Mysql | Family::Mariadb => Some(&MysqldReplication),
        Family::Postgres => Some(&PostgresReplication),
        Family::Sqlite => None,
    }
}

/// Removes a file, if it is there. Of a link, the link itself is removed.
fn remove(path: &Path) -> Result<(), PathError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error).at("remove", path),
        _ => Ok(()),
    }
}
