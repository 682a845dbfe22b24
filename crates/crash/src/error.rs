//! Why a crash test could not be made.

use std::io;
use std::path::PathBuf;

use dyno_engine::{ClientError, ReplicationError, RestartError, StartError};
use dyno_host::ConfineError;
use dyno_settings::VersionError;
use thiserror::Error;

use crate::clients::session::SessionError;

/// Why a crash test could not be made or continued. What a crash does to the system is not an error but a result.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CrashError {
    #[error(transparent)]
    Start(#[from] StartError),
    /// The replicas do not follow the primary, or none takes the primary's place.
    #[error(transparent)]
    Replication(#[from] ReplicationError),
    /// Replicas were requested for a system that has no server.
    #[error("{entry} has no server, so no replicas; leave --replicas out")]
    NoReplicas { entry: String },
    /// This version of the system cannot fail over in the requested way.
    #[error("{entry} cannot fail over like this; versions from {oldest} on can{}", if *is_cut_off { ", and from 12 on without --cut-off-ms" } else { "" })]
    NoFailover { entry: String, oldest: u32, is_cut_off: bool },
    /// The server could not be restarted after the tables were made.
    #[error(transparent)]
    Restart(#[from] RestartError),
    /// The volume whose power is cut cannot be made or used.
    #[error(transparent)]
    Volume(#[from] ConfineError),
    #[error(transparent)]
    Version(#[from] VersionError),
    #[error(transparent)]
    Client(#[from] ClientError),
    /// Making the tables failed, before the first crash.
    #[error("the tables of the crash test cannot be made: {0}")]
    Tables(SessionError),
    #[error("cannot {action} {}: {source}", path.display())]
    File { action: &'static str, path: PathBuf, source: io::Error },
    #[error("no client could log in: {0}")]
    Login(SessionError),
    /// The system runs but commits nothing.
    #[error("no commit was acknowledged for {seconds} s{}", because(last_refusal.as_ref()))]
    Stuck {
        seconds: u64,
        /// The message with which the system refused a statement most recently.
        last_refusal: Option<String>,
    },
    /// The user stopped the test before its first crash.
    #[error("stopped before the first crash")]
    Stopped,
    /// A client's thread panicked.
    #[error("a client of the load ended unexpectedly")]
    ClientLost,
}

fn because(refusal: Option<&String>) -> String {
    refusal.map_or_else(String::new, |text| format!("; it last refused: {text}"))
}
