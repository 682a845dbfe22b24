//! What is crashed, and how.

use std::collections::BTreeMap;
use std::path::PathBuf;

use dyno_engine::Installation;
use dyno_settings::CrashKind;

/// The system to crash.
#[derive(Clone, Debug)]
pub struct CrashedSystem {
    pub installation: Installation,
    /// Default storage engine; none for the server's own.
    pub storage_engine: Option<String>,
    /// Server variables or pragmas, by name.
    pub settings: BTreeMap<String, String>,
    /// Parent of the data, or of the volume with the data.
    pub data_root: PathBuf,
    /// The program that runs [`serve_sqlite`](crate::serve_sqlite) when its arguments are `crash-client` and a file. It
    /// is started for SQLite only, since a process that can be killed has to use the file.
    pub sqlite_program: PathBuf,
}

/// How a system is crashed.
#[derive(Clone, Debug)]
pub struct CrashOptions {
    pub kind: CrashKind,
    pub crashes: u32,
    /// Acknowledged commits before each crash, at least.
    pub commits: u64,
    pub clients: u32,
    /// Decides when crashes come, what is rolled back, and what a disk without power has written.
    pub seed: u64,
    /// Size of the volume whose power is cut.
    pub volume_bytes: u64,
}
