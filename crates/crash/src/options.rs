//! The system to crash, and the way to crash it.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use dyno_engine::{Family, Installation, Replication, ReplicationMode};
use dyno_settings::CrashKind;

/// The system to crash.
#[derive(Clone, Debug)]
pub struct CrashedSystem {
    pub installation: Installation,
    /// Default storage engine; `None` for the server's own.
    pub storage_engine: Option<String>,
    /// Server variables or pragmas, by name.
    pub settings: BTreeMap<String, String>,
    /// The folder in which the folder or volume for the data is created.
    pub data_root: PathBuf,
    /// The program that calls [`serve_sqlite`](crate::serve_sqlite) when its arguments are `crash-client` and a
    /// file. It is started for SQLite only. SQLite runs inside its client, so the client must be a process that can
    /// be killed.
    pub sqlite_program: PathBuf,
}

/// Largest number of crashes that can be requested. The limits of crashes, commits and clients catch typing errors.
pub const CRASHES_MAX: u32 = 10_000;
pub const COMMITS_MAX: u64 = 1_000_000;
pub const CLIENTS_MAX: u32 = 256;
/// Size of the smallest volume, in bytes. It is enough for ext4, its journal and an empty server.
pub const VOLUME_BYTES_MIN: u64 = 256 << 20;

/// How a system is crashed.
#[derive(Clone, Debug)]
pub struct CrashOptions {
    pub kind: CrashKind,
    pub crashes: u32,
    /// Fewest acknowledged commits before each crash.
    pub commits: u64,
    pub clients: u32,
    /// Seed of the random choices: when a crash comes, which transactions are rolled back, and which unflushed
    /// blocks survive a power cut.
    pub seed: u64,
    /// Size of the volume whose power is cut.
    pub volume_bytes: u64,
}

impl CrashOptions {
    /// 50 crashes with 2,000 commits each. SQLite has one writer at a time, so it has fewer clients than a
    /// server.
    pub fn new(kind: CrashKind, has_server: bool) -> Self {
        let clients = if has_server { 16 } else { 4 };
        Self { kind, crashes: 50, commits: 2000, clients, seed: 1, volume_bytes: 4 << 30 }
    }
}

/// The replicas of the system. After a crash, one of them takes the primary's place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failover {
    pub replication: Replication,
    /// Time before each crash during which replicas receive nothing, as if the network to them was cut.
    pub cut_off: Duration,
}

impl Failover {
    /// Returns the oldest major version of a family's servers that can do this failover. `None` if every version can.
    pub(crate) fn oldest_version(&self, family: Family) -> Option<u32> {
        match family {
            Family::Postgres if self.cut_off.is_zero() => Some(12),
            Family::Postgres => Some(13),
            Family::Mysql | Family::Mariadb | Family::Sqlite => None,
        }
    }

    /// Whether a commit is acknowledged only after a replica has received it.
    pub(crate) fn waits(&self) -> bool {
        self.replication.mode != ReplicationMode::Asynchronous
    }
}
