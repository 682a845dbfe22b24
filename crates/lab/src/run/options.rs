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

/// How a plan is run.
#[derive(Debug)]
pub struct RunOptions<'a> {
    pub results: PathBuf,
    /// Seed of the order of trials and of everything else that is random. A resumed run keeps its own seed.
    pub seed: u64,
    /// Whether to resume the last run of this plan.
    pub resume: bool,
    /// The only round to run, if several hosts share the run; `None` for all rounds.
    pub task: Option<Task>,
    /// Whether the run fails, before it measures anything, if the systems are not comparable.
    pub strict: bool,
    /// Whether rounds count as replicates although neighbours (other processes or guests of the host) disturbed them.
    pub counts_disturbed: bool,
    /// Whether the run ends after its first round if a system did not start. This is set for a comparison of two
    /// systems, because such a comparison needs both.
    pub needs_all_systems: bool,
    /// Time limit of the run; `None` if only the plan sets the number of rounds. The rounds before the first
    /// possible verdict are measured even if they take longer.
    pub time_max: Option<Duration>,
    /// The program whose `drive` command is the load process.
    pub driver_program: PathBuf,
    /// Starts load processes on the drivers that a plan names.
    pub drivers: Box<dyn DriverHosts>,
    /// The folder of engines and of the servers' data.
    pub cache: Cache,
    /// Dyno's version, for the results file.
    pub dyno_version: String,
    /// The user's command, for the results file.
    pub command_line: String,
    /// Another thread sets this flag (^C) to end the run early.
    pub stop: &'a AtomicBool,
    /// A server counts as hung if no event finishes for this time. For loads, the limit is ten times as long,
    /// because no event finishes while a load builds an index.
    pub patience: Duration,
}

impl RunOptions<'_> {
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}

/// Gives access to the hosts that send load (drivers).
pub trait DriverHosts: Debug + Sync {
    /// Returns the command that starts a load process on a host. `host` is the name in the plan (`ssh://a`).
    ///
    /// # Errors
    /// The host cannot be reached, or lacks the program. The error is a text for the user.
    fn command(&self, host: &str) -> Result<Command, String>;
}

/// The [`DriverHosts`] for plans without drivers.
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
    /// Whether the user stopped the run.
    pub interrupted: bool,
    /// Number of planned trials.
    pub planned_trials: usize,
    /// Number of trials that were measured successfully.
    pub completed_trials: usize,
    pub failed_trials: usize,
    /// The systems that did not start. All their trials failed.
    pub not_started: Vec<NotStarted>,
    /// The systems whose crash test could not begin or finish, or that lost data that their settings promise to
    /// keep.
    pub failed_crash_tests: Vec<String>,
    /// For each system that started with data, by the system's id: a description of how this data was made. Systems
    /// that started with an empty database are left out.
    pub given: BTreeMap<String, String>,
}

impl RunOutcome {
    /// Counts a trial by its outcome.
    pub(crate) fn count(&mut self, outcome: &Outcome) {
        match outcome {
            Outcome::Completed => self.completed_trials += 1,
            Outcome::Failed { .. } => self.failed_trials += 1,
        }
    }
}
