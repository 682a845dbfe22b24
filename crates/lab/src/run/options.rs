//! The options of a run, and its outcome.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use dyno_engine::Cache;
use dyno_store::{Outcome, RunId};

use super::not_started::NotStarted;

/// How a plan is carried out.
#[derive(Debug)]
pub struct RunOptions<'a> {
    pub results: PathBuf,
    /// Seed of the order of trials and of everything else that is random. A resumed run keeps its own seed.
    pub seed: u64,
    /// Whether to resume the last run of this plan.
    pub resume: bool,
    /// The only round to run, if several hosts share the run; `None` for all rounds.
    pub task: Option<Task>,
    /// Whether the run fails before measuring if the systems are not comparable.
    pub strict: bool,
    /// Whether rounds that neighbours disturbed count as replicates.
    pub counts_disturbed: bool,
    /// Whether the run ends after its first round if a system did not start in it. A comparison of two systems needs
    /// both.
    pub needs_all_systems: bool,
    /// Longest time of the run. The rounds before the first possible verdict are measured even if they take longer.
    /// Without this limit, the plan alone sets the number of rounds.
    pub time_max: Option<Duration>,
    /// The program whose `drive` command is the load process.
    pub driver_program: PathBuf,
    /// How load processes are started on the drivers of plans.
    pub drivers: Box<dyn DriverHosts>,
    /// The folder of engines and of the servers' data.
    pub cache: Cache,
    /// Dyno's version, for the results file.
    pub dyno_version: String,
    /// The user's command, for the results file.
    pub command_line: String,
    /// Set by another thread (^C) to end the run early.
    pub stop: &'a AtomicBool,
    /// Time without a finished event after which a server counts as hung. Loads may take ten times as long, because no
    /// event finishes while they build an index.
    pub patience: Duration,
}

impl RunOptions<'_> {
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// The hosts that send load.
pub trait DriverHosts: Debug + Sync {
    /// The command of a load process on a host, as the plan names it (`ssh://a`).
    ///
    /// # Errors
    /// The host cannot be reached, or has no such program. The error is in words.
    fn command(&self, host: &str) -> Result<Command, String>;
}

/// The hosts of plans without drivers.
#[derive(Debug)]
pub struct NoDrivers;

impl DriverHosts for NoDrivers {
    fn command(&self, _host: &str) -> Result<Command, String> {
        Err("loads come from this host only".to_owned())
    }
}

/// One round of a run that several hosts share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// Id of the whole run.
    pub spread_id: String,
    /// The round, from 0.
    pub round: u32,
    /// This host's name in the scheduler or in ssh; `None` for the host's own name.
    pub node: Option<String>,
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunOutcome {
    /// The run's number in the results file.
    pub run: RunId,
    /// Whether the user stopped it.
    pub interrupted: bool,
    /// Number of planned trials.
    pub planned_trials: usize,
    /// Number of measured trials.
    pub completed_trials: usize,
    pub failed_trials: usize,
    /// Systems that did not start. All their trials failed.
    pub not_started: Vec<NotStarted>,
    /// Systems whose crash test could not begin or finish, or that lost data that their settings promise to keep.
    pub failed_crash_tests: Vec<String>,
    /// How the data was made with which systems started, by the system's id. Systems with an empty database are left
    /// out.
    pub given: BTreeMap<String, String>,
}

impl RunOutcome {
    /// Counts a finished trial.
    pub(crate) fn count(&mut self, outcome: &Outcome) {
        match outcome {
            Outcome::Completed => self.completed_trials += 1,
            Outcome::Failed { .. } => self.failed_trials += 1,
        }
    }
}
