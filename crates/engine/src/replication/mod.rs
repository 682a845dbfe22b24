//! Servers with replicas: each replica is a server of its own, which repeats the transactions of the primary.
//!
//! A replica starts on a copy of the data on which the primary starts. So both have the same history, and the
//! replica follows from the primary's first transaction on. Tokens show how far it is: numbers in a small table of
//! Dyno's own, written on the primary and read on the replica. They mean the same for every server.

mod attach;
mod error;
pub(crate) mod failover;
pub(crate) mod mysqld;
pub(crate) mod postgres;
pub(crate) mod role;
mod tokens;
mod topology;

use std::fs;
use std::io;
use std::path::Path;

use dyno_client::{Client, ClientError};

pub use self::attach::{ReplicaGuard, attach};
pub use self::error::ReplicationError;
use self::failover::Progress;
use self::mysqld::MysqldReplication;
use self::postgres::PostgresReplication;
pub use self::role::{Replication, ReplicationMode, Role};
pub use self::tokens::{TokenReader, TokenWriter};
pub use self::topology::Topology;
use crate::catalogue::entry::{Entry, Family};
use crate::family::site::Site;
use crate::machine::path_error::{At as _, PathError};
use crate::start::server::error::StartError;

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

    /// Statements on a replica that follows, to keep Dyno's own account from writing on it, where the server can do that.
    fn guard_statements(&self, _entry: &Entry) -> Vec<String> {
        Vec::new()
    }

    /// How far a replica is.
    fn progress(&self, client: &mut Client) -> Result<Progress, ClientError>;

    /// Stops a replica from receiving anything more.
    fn cut_off(&self, client: &mut Client) -> Result<(), ClientError>;

    /// Makes a primary of a replica, which then takes writes.
    fn promote(&self, client: &mut Client) -> Result<(), ClientError>;

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
