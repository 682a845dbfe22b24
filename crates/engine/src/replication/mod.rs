//! Servers with replicas: each replica is a server of its own, which repeats the transactions of the primary.
//!
//! A replica starts on a copy of the data on which the primary starts. So both have the same history, and the
//! replica follows from the primary's first transaction on. Tokens show how far it is: numbers in a small table of
//! Dyno's own, written on the primary and read on the replica. They mean the same for every server.

mod attach;
mod error;
pub(crate) mod failover;
mod galera;
pub(crate) mod mysqld;
pub(crate) mod postgres;
pub(crate) mod role;
mod tokens;
mod topology;

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;

use dyno_client::{Client, ClientError};

pub use self::attach::{ReplicaGuard, attach};
pub use self::error::ReplicationError;
use self::failover::Progress;
use self::galera::GaleraReplication;
use self::mysqld::MysqldReplication;
use self::postgres::PostgresReplication;
pub use self::role::{Replication, ReplicationMode, Role};
pub use self::tokens::{TokenReader, TokenWriter};
pub use self::topology::Topology;
use crate::catalogue::entry::{Entry, Family};
use crate::family::site::Site;
use crate::machine::folder;
use crate::machine::path_error::{At as _, PathError};
use crate::start::access::Access;
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

    /// Settings that a server gets with its role, with `_` for `-`. Those of the user give way.
    fn own_settings(&self) -> &'static [&'static str] {
        &[]
    }

    /// The statement after which those of a session are not repeated by other servers.
    fn local_statement(&self) -> Option<&'static str> {
        None
    }

    /// Prepares each start of a server, which does not run.
    fn before_start(&self, _site: &Site<'_>) -> Result<(), StartError> {
        Ok(())
    }

    /// Arguments of the server's program for its role.
    fn arguments(&self, site: &Site<'_>) -> Vec<String>;

    /// An environment variable of the server's program for its role.
    fn environment(&self, _site: &Site<'_>) -> Option<(&'static str, OsString)> {
        None
    }

    /// Whether a server that takes connections also executes statements.
    fn is_ready(&self, _client: &mut Client) -> Result<bool, ClientError> {
        Ok(true)
    }

    /// Prepares the data folder of a replica, a copy of that on which its primary starts.
    fn prepare(&self, _site: &Site<'_>) -> Result<(), StartError> {
        Ok(())
    }

    /// Notes the replicas of a primary, for its next start.
    fn remember(&self, _primary: &Site<'_>, _replicas: &[Access]) -> Result<(), PathError> {
        Ok(())
    }

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

    /// Whether the network is cut at the primary, not at its replicas.
    fn is_primary_cut_off(&self) -> bool {
        false
    }

    /// Stops a server from receiving anything more from the others.
    fn cut_off(&self, client: &mut Client) -> Result<(), ClientError>;

    /// Makes a primary of a replica, which then takes writes. The primary before it is gone.
    fn promote(&self, client: &mut Client, replication: &Replication) -> Result<(), ClientError>;

    /// What a replica says about itself.
    fn status(&self, client: &mut Client) -> Result<ReplicaStatus, ClientError>;

    /// The number of replicas that can let a primary's commit return; 0 if commits wait for none.
    fn waited_for(&self, client: &mut Client) -> Result<u32, ClientError>;
}

/// The steps of a family; `None` for a family without a server.
pub(crate) fn replicating(family: Family, mode: ReplicationMode) -> Option<&'static dyn Replicating> {
    match (family, mode) {
        (Family::Sqlite, _) => None,
        (_, ReplicationMode::Galera) => Some(&GaleraReplication),
        (Family::Mysql | Family::Mariadb, _) => Some(&MysqldReplication),
        (Family::Postgres, _) => Some(&PostgresReplication),
    }
}

/// Removes a file, if it is there. Of a link, the link itself is removed.
fn remove(path: &Path) -> Result<(), PathError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error).at("remove", path),
        _ => Ok(()),
    }
}

/// Writes a file of a data folder, which only the server may read. A link that is there is replaced, not followed.
fn write_new(path: &Path, text: &str) -> Result<(), PathError> {
    remove(path)?;
    let file = File::options().create_new(true).write(true).mode(0o600).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes())).at("write", path)?;
    folder::give_to_server(path)
}
