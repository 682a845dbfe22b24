//! Why a server did not start.

use std::io;

use dyno_client::ClientError;
use dyno_host::{Account, ConfineError, FenceError};
use thiserror::Error;

use crate::cache::snapshot::SnapshotError;
use crate::catalogue::error::CatalogueError;
use crate::container::ImageError;
use crate::machine::lines;
use crate::machine::path_error::PathError;

/// Why a server did not start. Nothing is left behind.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StartError {
    /// The engine runs inside the process that uses it.
    #[error("{entry} has no server to start: it runs inside dyno")]
    NoServer { entry: String },
    /// The entry has no such storage engine.
    #[error(transparent)]
    StorageEngine(Box<CatalogueError>),
    /// The user may not give this setting, because Dyno sets it.
    #[error("the setting '{name}' is set by dyno; leave it out")]
    OwnSetting {
        /// The setting, as it was written.
        name: String,
    },
    /// The version cannot have replicas here.
    #[error("{entry} can have no replicas, PostgreSQL can from version 10 on; leave `replicas` out")]
    NoReplicas { entry: String },
    /// The build lacks a plug-in.
    #[error(
        "{entry} has no plug-in {library}, so its commits cannot wait for replicas; take another build, or write \
         `replication = \"asynchronous\"`"
    )]
    NoPlugin {
        entry: String,
        /// The name of the plug-in's file.
        library: String,
    },
    /// The server cannot be a node of a Galera cluster.
    #[error("{entry} cannot be a node of a Galera cluster: {obstacle}")]
    NoGalera { entry: String, obstacle: GaleraObstacle },
    /// The pooler's program is not installed.
    #[error(
        "there is no program {program} on the path; install it, such as by Debian's package {package}, or leave `pooler` out"
    )]
    NoPooler {
        /// The program's name.
        program: &'static str,
        package: &'static str,
    },
    /// The pooler does not know a setting, and would ignore it.
    #[error("{program} does not know the setting '{name}' ({source}); leave it out")]
    PoolerSetting { program: &'static str, name: String, source: Box<ClientError> },
    /// The program cannot be run.
    #[error("cannot run {program}: {source}{}", hint(source))]
    Program { program: String, source: io::Error },
    /// The server, or the program that makes its data folder, ended instead of starting.
    #[error("{entry} did not start ({status}); its last words:{}", lines::below(log))]
    Ended {
        entry: String,
        status: String,
        /// The last lines of the server's log.
        log: Vec<String>,
    },
    /// The server's fence cannot be made. A fence takes rights away from a program.
    #[error(transparent)]
    Fence(#[from] FenceError),
    /// The server's container cannot be made.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// Another process listens on the port.
    #[error("{entry} did not start: port {port} is taken; choose another one, or none to use a free port")]
    PortTaken { entry: String, port: u16 },
    /// The server runs but does not answer.
    #[error("{entry} did not answer within {seconds} s ({reason}); its last words:{}", lines::below(log))]
    Silent {
        entry: String,
        /// The time limit, in seconds.
        seconds: u64,
        /// The error of the last login attempt.
        reason: String,
        /// The last lines of the server's log.
        log: Vec<String>,
    },
    /// The server answered once, and then stopped answering.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// A server of that engine runs already.
    #[error("{name} runs already; connect to it, or stop it first")]
    Running { name: String },
    /// The limits cannot be set.
    #[error(transparent)]
    Confine(#[from] ConfineError),
    /// The server's folder cannot be made.
    #[error(transparent)]
    Path(#[from] PathError),
    /// The snapshot cannot be restored.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
}

/// Why a server cannot be a node of a Galera cluster.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum GaleraObstacle {
    /// The server is in a container.
    #[error("it runs in a container; take the same version from packages or an archive")]
    Container,
    /// The server is too old, or is another product.
    #[error("only MariaDB from 10.4 on can")]
    Server,
    /// The server's tables are of a storage engine that Galera does not replicate.
    #[error("only tables of InnoDB are replicated; leave the storage engine out")]
    StorageEngine,
    /// Galera is not installed.
    #[error("there is no libgalera_smm.so; install Debian's package galera-4")]
    Library,
    /// The server did not report the position of its data in the cluster's order of transactions.
    #[error("its data does not say which transactions it has")]
    Position,
}

/// Why a server did not end cleanly. Its data may need recovery.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ShutdownError {
    /// The server had already ended.
    #[error("{entry} had died before it was shut down; its last words:{}", lines::below(log))]
    Dead {
        entry: String,
        /// The last lines of the server's log.
        log: Vec<String>,
    },
    /// The server ended with an error.
    #[error("{entry} failed while it shut down; its last words:{}", lines::below(log))]
    Failed {
        entry: String,
        /// The last lines of the server's log.
        log: Vec<String>,
    },
    /// The server did not end in time.
    #[error("{entry} did not shut down within {seconds} s; its last words:{}", lines::below(log))]
    Slow {
        entry: String,
        /// The time limit, in seconds.
        seconds: u64,
        /// The last lines of the server's log.
        log: Vec<String>,
    },
}

/// Why a restart failed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RestartError {
    /// The server did not end cleanly.
    #[error(transparent)]
    Shutdown(#[from] ShutdownError),
    /// The server did not start again.
    #[error(transparent)]
    Start(#[from] StartError),
}

/// A hint for an error at a program's start.
fn hint(error: &io::Error) -> &'static str {
    if error.kind() == io::ErrorKind::PermissionDenied && Account::instead_of_root().is_some() {
        " (root's servers run as nobody: can everyone read the engine? chmod -R go+rX helps)"
    } else {
        ""
    }
}
