//! Why a run cannot continue.

use std::io;
use std::path::PathBuf;

use dyno_engine::{
    ClientError, DataFolderError, DrainError, DumpError, FetchError, HoldError, ImageError, PathError,
    RemoteError, ReplicationError, ShutdownError, SnapshotError, StartError, UpgradeError,
};
use dyno_host::{AwakeError, ConfineError, Missing};
use dyno_settings::{Audit, Severity};
use dyno_store::StoreError;

/// A run that could not begin or continue. Committed trials are in the results file.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The results file cannot be written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The leftovers of a killed run cannot be removed.
    #[error(transparent)]
    Leftovers(#[from] ConfineError),
    /// The folder of a killed run's server cannot be removed.
    #[error(transparent)]
    Home(#[from] PathError),
    /// The plan requires that cores are kept awake, which is not possible here.
    #[error("{0}; leave `keep_cores_awake = true` out of the plan")]
    Awake(#[from] AwakeError),
    /// An engine could not be fetched.
    #[error("cannot fetch {entry}")]
    Fetch {
        /// The engine's entry in the catalogue.
        entry: String,
        source: FetchError,
    },
    /// An image of a container cannot be used.
    #[error("cannot use oci:{image}")]
    Image { image: String, source: ImageError },
    /// The plan limits systems, but this process may not set such limits.
    #[error("system `{system}` cannot be confined here: {missing}")]
    Confine {
        system: String,
        /// The rights that the process lacks.
        missing: Missing,
    },
    /// The plan cuts the power of volumes, but this process may not do that.
    #[error("the power of a volume cannot be cut here: {0}; or write `kill = \"process\"` in [crash]")]
    PowerCut(Missing),
    /// A limit on an engine that cannot be limited.
    #[error("system `{0}` runs inside the load process, which cannot be confined; leave its confinement out")]
    NothingToConfine(String),
    /// The run is strict and the systems are not comparable.
    #[error("the systems are not comparable: {}; change that, or leave out --strict", gravest(audit))]
    NotComparable { audit: Audit },
    /// A time budget that is too short for the plan's sweeps.
    #[error(transparent)]
    Sweep(#[from] SweepTooLarge),
    /// There is no run to resume.
    #[error("cannot resume the plan `{plan}`: {reason}")]
    Resume { plan: String, reason: String },
    /// A host that should send load cannot be used.
    #[error("driver {host}: {reason}")]
    Driver { host: String, reason: String },
    /// On a server that Dyno did not start, a load could drop tables that Dyno did not make.
    #[error("system `{system}` cannot be loaded")]
    Hold { system: String, source: Box<HoldError> },
    /// The rounds of this plan cannot be spread over hosts.
    #[error("the rounds of the plan `{plan}` cannot be spread over hosts: {reason}")]
    Spread { plan: String, reason: String },
    /// The data with which a system starts cannot be made.
    #[error("system `{system}` does not get its data")]
    Data { system: String, source: Box<DataError> },
    /// A system's server does not start.
    #[error("system `{system}` does not start")]
    Start { system: String, source: SystemError },
}

/// Why the data with which a system starts cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    /// Its server does not start.
    #[error(transparent)]
    Server(#[from] StartError),
    /// The folder is not used.
    #[error(transparent)]
    Folder(#[from] DataFolderError),
    /// The dump is not loaded.
    #[error(transparent)]
    Dump(#[from] DumpError),
    /// The file that changes the data is not executed.
    #[error("its data cannot be changed: {0}")]
    Changes(DumpError),
    /// The data of the other system does not come to this version.
    #[error("the data of `{of}` cannot be upgraded")]
    Upgrade { of: String, source: Box<UpgradeError> },
    /// The system whose data is upgraded is not there.
    #[error("it needs the data of `{0}`, which is not there")]
    Missing(String),
    /// A file cannot be read, or a program that reads it.
    #[error("{path}: {reason}")]
    Unreadable { path: String, reason: String },
    /// The script that makes the tables fails.
    #[error("its script fails: {0}")]
    Script(String),
    /// Its server does not shut down.
    #[error(transparent)]
    ShutDown(#[from] ShutdownError),
    /// The data cannot be kept.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// The user stopped it.
    #[error("stopped")]
    Stopped,
}

/// The user stopped the run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopped;

/// Why a round ends early.
#[derive(Debug)]
pub(crate) enum RoundAbort {
    /// The user stopped the run.
    Stopped,
    Failed(RunError),
}

impl From<Stopped> for RoundAbort {
    fn from(Stopped: Stopped) -> Self {
        Self::Stopped
    }
}

impl From<RunError> for RoundAbort {
    fn from(error: RunError) -> Self {
        Self::Failed(error)
    }
}

/// Why an additional pass after a trial has no result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PassAbort {
    #[error("the run was stopped")]
    Stopped,
    /// The reason, in a line.
    #[error("{0}")]
    Failed(String),
}

/// A budget that is too short for the configurations of a plan's sweeps.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error(
    "with its sweeps the plan has {systems} systems; six rounds of them take about {}, and the budget is {}; {}",
    duration(*seconds),
    duration(*budget_seconds),
    advice(*fraction)
)]
pub struct SweepTooLarge {
    /// Number of the plan's systems. Each configuration of a sweep counts.
    pub systems: usize,
    /// Estimated time for the fewest rounds with an exact interval, in seconds.
    pub seconds: f64,
    pub budget_seconds: f64,
    /// The largest share of the configurations that fits, in steps of a twentieth; `None` if not even a
    /// twentieth fits.
    pub fraction: Option<f64>,
}

/// In minutes, or in seconds if it is short.
fn duration(seconds: f64) -> String {
    if seconds < 120.0 {
        format!("{:.0} s", seconds.ceil())
    } else {
        format!("{:.0} min", (seconds / 60.0).ceil())
    }
}

fn advice(fraction: Option<f64>) -> String {
    match fraction {
        Some(fraction) => format!("`sweep_fraction = {fraction}` would fit"),
        None => "sweep less, or allow more time".to_owned(),
    }
}

/// Explanations of errors and warnings, without notes.
fn gravest(audit: &Audit) -> String {
    let grave = audit.findings.iter().filter(|finding| finding.severity != Severity::Note);
    grave.map(|finding| finding.explanation.clone()).collect::<Vec<_>>().join("; ")
}

/// Why a system cannot be started or used.
#[derive(Debug, thiserror::Error)]
pub enum SystemError {
    /// Its server does not start.
    #[error(transparent)]
    Server(#[from] StartError),
    /// A statement failed.
    #[error("the server refuses to work: {0}")]
    Query(#[from] ClientError),
    /// The running server refuses the connection.
    #[error(transparent)]
    Remote(#[from] RemoteError),
    /// A load could drop tables that Dyno did not make.
    #[error(transparent)]
    Hold(#[from] HoldError),
    /// Dyno did not start it, so it cannot restart it.
    #[error("{0} was not started by Dyno, so it cannot be started again; do that yourself and use --resume")]
    NotOurs(String),
    /// It cannot be confined.
    #[error(transparent)]
    Confine(#[from] ConfineError),
    /// Its log cannot be read.
    #[error(transparent)]
    Log(#[from] PathError),
    /// The wait for pending writes failed.
    #[error(transparent)]
    Drain(#[from] DrainError),
    /// It cannot be shut down.
    #[error(transparent)]
    ShutDown(#[from] ShutdownError),
    /// Its data cannot be kept or restored.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// Its replicas do not follow.
    #[error(transparent)]
    Replication(#[from] ReplicationError),
    /// An unknown setting, which SQLite would ignore.
    #[error("SQLite has no pragma `{0}`; `PRAGMA pragma_list` names those that it has")]
    UnknownPragma(String),
    /// Its folder cannot be made.
    #[error("cannot make a folder in {}; name another place for data with DYNO_CACHE", parent.display())]
    Folder {
        /// The parent folder.
        parent: PathBuf,
        source: io::Error,
    },
    /// SQLite failed.
    #[error("SQLite: {0}")]
    Sqlite(#[from] rusqlite::Error),
}
