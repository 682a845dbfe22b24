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

/// Why a run could not begin or continue. Trials that were committed before stay in the results file.
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
    /// A container image cannot be used.
    #[error("cannot use oci:{image}")]
    Image { image: String, source: ImageError },
    /// The plan limits systems, but this process may not set such limits.
    #[error("system `{system}` cannot be confined here: {missing}")]
    Confine {
        system: String,
        /// The rights that the process lacks.
        missing: Missing,
    },
    /// The plan cuts the power of volumes, but this process lacks the rights to do that.
    #[error("the power of a volume cannot be cut here: {0}; or write `kill = \"process\"` in [crash]")]
    PowerCut(Missing),
    /// The plan limits an engine that runs inside the load process, which cannot be limited.
    #[error("system `{0}` runs inside the load process, which cannot be confined; leave its confinement out")]
    NothingToConfine(String),
    /// The run is strict, and the systems are not comparable.
    #[error("the systems are not comparable: {}; change that, or leave out --strict", gravest(audit))]
    NotComparable { audit: Audit },
    /// The time budget is too short for the plan's sweeps.
    #[error(transparent)]
    Sweep(#[from] SweepTooLarge),
    /// There is no run to resume.
    #[error("cannot resume the plan `{plan}`: {reason}")]
    Resume { plan: String, reason: String },
    /// A host that should send load (a driver) cannot be used.
    #[error("driver {host}: {reason}")]
    Driver { host: String, reason: String },
    /// A load on a server that Dyno did not start could drop tables that Dyno did not make.
    #[error("system `{system}` cannot be loaded")]
    Hold { system: String, source: Box<HoldError> },
    /// The rounds of this plan cannot be spread over hosts.
    #[error("the rounds of the plan `{plan}` cannot be spread over hosts: {reason}")]
    Spread { plan: String, reason: String },
    /// The data that a system should start with cannot be made.
    #[error("system `{system}` does not get its data")]
    Data { system: String, source: Box<DataError> },
    /// A system's server does not start.
    #[error("system `{system}` does not start")]
    Start { system: String, source: SystemError },
}

impl RunError {
    /// Whether a stop by the user can cause this error. ^C also reaches the programs for which a run waits, such as a
    /// package manager, and these programs then fail. No such program takes part when Dyno writes results files and
    /// removes what a killed run left, so errors of this work have another cause.
    pub fn can_come_from_stop(&self) -> bool {
        !matches!(self, Self::Store(_) | Self::Leftovers(_) | Self::Home(_))
    }
}

/// Why the data that a system should start with cannot be made.
#[derive(Debug, thiserror::Error)]
pub enum DataError {
    /// The system's server does not start.
    #[error(transparent)]
    Server(#[from] StartError),
    /// The folder with the data cannot be used.
    #[error(transparent)]
    Folder(#[from] DataFolderError),
    /// The dump cannot be loaded.
    #[error(transparent)]
    Dump(#[from] DumpError),
    /// The file with the statements that change the data cannot be executed.
    #[error("its data cannot be changed: {0}")]
    Changes(DumpError),
    /// The data of the other system cannot be upgraded to this system's version.
    #[error("the data of `{of}` cannot be upgraded")]
    Upgrade { of: String, source: Box<UpgradeError> },
    /// The system whose data should be upgraded has no data. Either the system could not be installed, or its data
    /// could not be made.
    #[error("it needs the data of `{0}`, which is not there")]
    Missing(String),
    /// A file, or a program that reads it, cannot be used.
    #[error("{path}: {reason}")]
    Unreadable { path: String, reason: String },
    /// The script that makes the tables fails.
    #[error("its script fails: {0}")]
    Script(String),
    /// The system's server does not shut down.
    #[error(transparent)]
    ShutDown(#[from] ShutdownError),
    /// The data cannot be stored as a snapshot.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// The user stopped the run.
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

/// Why an additional pass after a trial has no result. A pass repeats the trial's load, or asks the server for query
/// plans or answers.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PassAbort {
    #[error("the run was stopped")]
    Stopped,
    /// The reason, in one line.
    #[error("{0}")]
    Failed(String),
}

/// A time budget is too short for all configurations of a plan's sweeps.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error(
    "with its sweeps the plan has {systems} systems; six rounds of them take about {}, and the budget is {}; {}",
    duration(*seconds),
    duration(*budget_seconds),
    advice(*fraction)
)]
pub struct SweepTooLarge {
    /// Number of systems in the plan. Each configuration of a sweep counts as one.
    pub systems: usize,
    /// Estimated time of six rounds, in seconds. With fewer than six rounds, a difference has no exact 95% interval.
    pub seconds: f64,
    pub budget_seconds: f64,
    /// The largest share of the configurations that fits into the budget, in steps of a twentieth. `None` if not
    /// even a twentieth fits.
    pub fraction: Option<f64>,
}

/// Formats a duration in minutes, or in seconds if it is short.
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

/// Returns the explanations of the audit's errors and warnings, without its notes.
fn gravest(audit: &Audit) -> String {
    let grave = audit.findings.iter().filter(|finding| finding.severity != Severity::Note);
    grave.map(|finding| finding.explanation.clone()).collect::<Vec<_>>().join("; ")
}

/// Why a system cannot be started or used.
#[derive(Debug, thiserror::Error)]
pub enum SystemError {
    /// The system's server does not start.
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
    /// Dyno did not start the system, so Dyno cannot restart it.
    #[error("{0} was not started by Dyno, so it cannot be started again; do that yourself and use --resume")]
    NotOurs(String),
    /// The system's limits cannot be set.
    #[error(transparent)]
    Confine(#[from] ConfineError),
    /// The server's log cannot be read.
    #[error(transparent)]
    Log(#[from] PathError),
    /// Waiting for the system's pending writes failed.
    #[error(transparent)]
    Drain(#[from] DrainError),
    /// The server cannot be shut down.
    #[error(transparent)]
    ShutDown(#[from] ShutdownError),
    /// The system's data cannot be stored as a snapshot, or restored from one.
    #[error(transparent)]
    Snapshot(#[from] SnapshotError),
    /// The system's replicas do not follow their primary.
    #[error(transparent)]
    Replication(#[from] ReplicationError),
    /// A setting is unknown. SQLite itself would ignore it.
    #[error("SQLite has no pragma `{0}`; `PRAGMA pragma_list` names those that it has")]
    UnknownPragma(String),
    /// The folder of the database cannot be made.
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

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;

    #[test]
    fn a_stop_does_not_hide_that_results_cannot_be_written() {
        let full = StoreError::DiskFull { path: PathBuf::from("results.db") };
        assert!(!RunError::from(full).can_come_from_stop());
        assert!(RunError::Driver { host: "b".to_owned(), reason: "killed".to_owned() }.can_come_from_stop());
    }
}
