//! Upgrades a copy of a server's data to another version, as the owner of the data would.

mod mysqld;
mod path;
mod pg_upgrade;
mod postgres;

use std::fmt;
use std::sync::atomic::AtomicBool;

use thiserror::Error;

use super::dump::DumpError;
use crate::cache::installation::Installation;
use crate::cache::snapshot::Snapshot;
use crate::catalogue::entry::Family;
use crate::machine::lines;
use crate::machine::path_error::PathError;
use crate::start::server::error::StartError;
use crate::start::server::{Server, ShutdownError, StartOptions};

pub use self::path::upgrade_path;
pub use self::pg_upgrade::has_pg_upgrade;

/// How data was upgraded to another version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UpgradeWay {
    /// Both versions read the same format, so the data is used as it is.
    AsItIs,
    /// The new server upgraded the data itself when it started.
    ByServer,
    /// The new server started on the data. Then the program of this name upgraded the system tables.
    ByProgram(String),
    /// The new server started on the data. No program upgraded the system tables. The text says why.
    WithoutProgram(String),
    /// `pg_upgrade` upgraded the data.
    PgUpgrade,
    /// The program of this name dumped the old server, and the dump was loaded into the new server.
    Dump(String),
}

/// Prints words that complete a sentence whose subject is "the data".
impl fmt::Display for UpgradeWay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::AsItIs => f.write_str("used as it is, because both versions have the same format"),
            Self::ByServer => f.write_str("upgraded in place by the new server when it started"),
            Self::ByProgram(program) => {
                write!(f, "upgraded in place: the new server started on it, then {program} was run")
            }
            Self::WithoutProgram(reason) => write!(
                f,
                "upgraded in place: the new server started on it; its system tables have the old form, because {reason}"
            ),
            Self::PgUpgrade => f.write_str("upgraded by pg_upgrade, then analyzed"),
            Self::Dump(program) => write!(f, "dumped by {program}, loaded into the new server and analyzed"),
        }
    }
}

/// Why data could not be upgraded to another version.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum UpgradeError {
    /// One of the servers does not start. If the new server does not start, the reason can be that it refuses the data.
    #[error(transparent)]
    Start(#[from] StartError),
    /// No upgrade leads from one family to the other.
    #[error("{old} cannot be upgraded to {new}, which has another format; give a dump that both can load")]
    Families { old: String, new: String },
    /// The data can only be dumped, and there is no program for that.
    #[error(
        "neither {old} nor {new} has pg_upgrade, and there is no pg_dumpall of version {version} or later here; install \
         PostgreSQL's client programs, or give a dump"
    )]
    NoDumpProgram { old: String, new: String, version: String },
    /// The program that dumps fails.
    #[error("{program} failed ({status}); its last words:{}", lines::below(words))]
    DumpProgram { program: String, status: String, words: Vec<String> },
    /// The new server refuses the dump.
    #[error(transparent)]
    Dump(#[from] DumpError),
    /// A server does not shut down.
    #[error(transparent)]
    ShutDown(#[from] ShutdownError),
    #[error(transparent)]
    Path(#[from] PathError),
}

/// Copies the data of `snapshot`, which the server `old` wrote, upgrades the copy to the version of `new`, and starts a
/// server on it. The snapshot itself is not changed.
///
/// # Errors
/// The new server refuses the data, or there is no upgrade from one version to the other.
pub fn start_upgraded(
    (old, snapshot): (&Installation, &Snapshot),
    new: &Installation,
    options: StartOptions,
    stop: &AtomicBool,
) -> Result<(Server, UpgradeWay), UpgradeError> {
    match (old.entry.family, new.entry.family) {
        (Family::Postgres, Family::Postgres) => postgres::upgraded((old, snapshot), new, options, stop),
        (Family::Mysql | Family::Mariadb, Family::Mysql | Family::Mariadb) => {
            mysqld::upgraded((old, snapshot), new, options)
        }
        _ => Err(UpgradeError::Families { old: old.entry.to_string(), new: new.entry.to_string() }),
    }
}
