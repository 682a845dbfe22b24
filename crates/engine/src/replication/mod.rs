//! Servers with replicas. Each replica is a server of its own that repeats the transactions of the primary.
//!
//! A replica starts on a copy of the data on which its primary starts. So both have the same history, and the replica
//! repeats all transactions from the primary's first one on. Tokens show how far the replica is. A token is a number in
//! a small table of Dyno's own, written on the primary and read on the replica. Unlike a position in a log, a token has
//! the same form in every family.

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

/// The status that a replica reports.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ReplicaStatus {
    /// How far the replica is behind the primary, in seconds. `None` if the replica does not know.
    pub behind_seconds: Option<f64>,
    /// Why the replica has stopped. `None` if it runs, or tries to reach its primary.
    pub stopped: Option<String>,
}

/// The steps of replication that differ between families.
pub(crate) trait Replicating: Sync {
    /// Checks that the installation can start a server with this role, for example that it has the needed plug-in.
    fn check(&self, _site: &Site<'_>) -> Result<(), StartError> {
        Ok(())
    }

    /// Settings that follow from a server's role. They replace the user's settings. Their names are written with `_`
    /// instead of `-`.
    fn own_settings(&self) -> &'static [&'static str] {
        &[]
    }

    /// A statement that keeps the later statements of its session from being replicated.
    fn local_statement(&self) -> Option<&'static str> {
        None
    }

    /// Prepares a server's start. It is called before each start, while the server does not run.
    fn before_start(&self, _site: &Site<'_>) -> Result<(), StartError> {
        Ok(())
    }

    /// Arguments of the server's program for its role.
    fn arguments(&self, site: &Site<'_>) -> Vec<String>;

    /// An environment variable of the server's program for its role.
    fn environment(&self, _site: &Site<'_>) -> Option<(&'static str, OsString)> {
        None
    }

    /// Whether a server executes statements. It may take connections before that.
    fn is_ready(&self, _client: &mut Client) -> Result<bool, ClientError> {
        Ok(true)
    }

    /// Prepares the data folder of a replica, which is a copy of the data on which its primary starts.
    fn prepare(&self, _site: &Site<'_>) -> Result<(), StartError> {
        Ok(())
    }

    /// Records the replicas of a primary, for its next start.
    fn remember(&self, _primary: &Site<'_>, _replicas: &[Access]) -> Result<(), PathError> {
        Ok(())
    }

    /// Statements to execute on a primary that has just started, before replicas follow it.
    fn primary_statements(&self, _entry: &Entry) -> Vec<String> {
        Vec::new()
    }

    /// Statements to execute on a replica that has just started. They make it follow its primary at `host`.
    fn replica_statements(&self, _entry: &Entry, _host: &str, _role: &Role) -> Vec<String> {
        Vec::new()
    }

    /// Statements on a running replica. They keep Dyno's own account from writing there, if the server can do that.
    fn guard_statements(&self, _entry: &Entry) -> Vec<String> {
        Vec::new()
    }

    /// Returns how much of the primary's log a replica has received and applied.
    fn progress(&self, client: &mut Client) -> Result<Progress, ClientError>;

    /// Whether [`cut_off`](Self::cut_off) is called for the primary, rather than for its replicas.
    fn is_primary_cut_off(&self) -> bool {
        false
    }

    /// Stops a server from receiving anything more from other servers.
    fn cut_off(&self, client: &mut Client) -> Result<(), ClientError>;

    /// Turns a replica into a primary, which takes writes. The earlier primary is gone.
    fn promote(&self, client: &mut Client, replication: &Replication) -> Result<(), ClientError>;

    /// Asks a replica for its status.
    fn status(&self, client: &mut Client) -> Result<ReplicaStatus, ClientError>;

    /// The number of replicas whose confirmation lets a primary's commit return. 0 if commits wait for no replica.
    fn waited_for(&self, client: &mut Client) -> Result<u32, ClientError>;
}

/// Returns the replication steps of a family. Returns `None` for a family without a server.
pub(crate) fn replicating(family: Family, mode: ReplicationMode) -> Option<&'static dyn Replicating> {
    match (family, mode) {
        (Family::Sqlite, _) => None,
        (_, ReplicationMode::Galera) => Some(&GaleraReplication),
        (Family::Mysql | Family::Mariadb, _) => Some(&MysqldReplication),
        (Family::Postgres, _) => Some(&PostgresReplication),
    }
}

/// Removes a file. Succeeds if there is none. If the file is a link, removes the link itself.
fn remove(path: &Path) -> Result<(), PathError> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error).at("remove", path),
        _ => Ok(()),
    }
}

/// Writes a file of a data folder, which only the server may read. Replaces a link of that name, and does not follow
/// it.
fn write_new(path: &Path, text: &str) -> Result<(), PathError> {
    remove(path)?;
    let file = File::options().create_new(true).write(true).mode(0o600).open(path);
    file.and_then(|mut file| file.write_all(text.as_bytes())).at("write", path)?;
    folder::give_to_server(path)
}
