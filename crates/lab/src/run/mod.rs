//! Carries out a plan: in each round starts a fresh instance of every system, takes all of them through the steps in
//! turns, and commits what was measured.

mod attempt;
mod beside;
mod between;
mod block;
mod budget;
mod calibration;
mod comparability;
mod drive;
mod error;
mod executed;
mod forecast;
mod hook;
mod instances;
mod job;
mod loads;
mod meter;
mod observer;
mod outline;
mod place;
mod record;
mod recording;
mod remote;
mod resume;
mod round;
mod rounds;
mod scratch;
mod server;
mod session;
mod slice_record;
mod sliced;
mod sqlite;
mod subject;
mod tally;

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use dyno_engine::Cache;
use dyno_host::{Awake, AwakeError, remove_leftovers};
use dyno_store::{Ending, Outcome, RunId, Store};

use self::executed::Executed;
use self::session::Session;
use crate::plan::{KeepCoresAwake, Plan};
use crate::records;

pub use self::error::{RunError, SubjectError};
pub use self::instances::NotStarted;
pub use self::observer::{Event, LatencyNow, Observer, Pace, TrialLabel};
pub use self::outline::{Outline, OutlineBlock};
pub use self::sqlite::sqlite_variables;

/// How a plan is carried out.
#[derive(Debug)]
pub struct RunOptions<'a> {
    /// The results file.
    pub results: PathBuf,
    /// Decides the order of trials and everything random in them. A run that is taken up keeps its own.
    pub seed: u64,
    /// Whether the last run of this plan is taken up where it ended before its time.
    pub resume: bool,
    /// Whether systems that should not be compared as they are end the run before it measures.
    pub strict: bool,
    /// The program whose `drive` command is the load process.
    pub driver_program: PathBuf,
    /// Where engines are kept and servers have their data.
    pub cache: Cache,
    /// Dyno's version, for the results file.
    pub dyno_version: String,
    /// The command that the user gave, for the results file.
    pub command_line: String,
    /// Set from elsewhere (^C) to end the run early.
    pub stop: &'a AtomicBool,
    /// How long a trial may go without finishing anything before its server counts as hung; a load, which may
    /// build an index for long, ten times that.
    pub patience: Duration,
}

/// A run that came to its end, or was stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ended {
    /// The run's number in the results file.
    pub run: RunId,
    /// Someone stopped it.
    pub interrupted: bool,
    /// Trials that the plan asks for.
    pub planned_trials: usize,
    /// Trials that were measured.
    pub completed_trials: usize,
    /// Trials that failed.
    pub failed_trials: usize,
    /// Systems that the run went on without: all of their trials failed.
    pub not_started: Vec<NotStarted>,
}

/// Carries out a plan. Trials are in the results file as they end, whatever happens later.
///
/// # Errors
/// The results file cannot be written, has no run to take up, or the base cannot be fetched, confined or started.
/// Any other system that cannot be had, or fails later, only fails its trials.
pub fn run(plan: &Plan, options: &RunOptions<'_>, observer: &mut dyn Observer) -> Result<Ended, RunError> {
    subject::check_confinements(plan)?;
    let _awake = keep_cores_awake(plan.keep_cores_awake)?;
    // What a run that was killed left mounted, whether this one is confined or not.
    remove_leftovers(&options.cache.runs())?;
    // Before the long fetches: that a results file cannot be written is better known at once.
    let mut store = Store::open(&options.results)?;
    let taken_up = options.resume.then(|| resume::find(plan, &store)).transpose()?;
    let installations = instances::install_all(plan, options, observer)?;
    let (run, seed, executed) = match taken_up {
        Some(earlier) => {
            let resumption = record::resumption(&earlier);
            observer.observe(&Event::Resumed { run: earlier.id, differences: &resumption.differences });
            store.resume_run(earlier.id, &resumption)?;
            (earlier.id, earlier.record.seed, Executed::of(plan, &earlier))
        }
        None => (begin(plan, options, &mut store)?, options.seed, Executed::default()),
    };
    let session = Session::new(plan, options, &installations, (&mut store, run, seed), executed, observer);
    let result = session.carry_out(executed);
    let ending = match &result {
        Err(_) => Ending::Failed,
        Ok(ended) if ended.interrupted => Ending::Interrupted,
        Ok(_) => Ending::Finished,
    };
    let noted = store.finish_run(run, ending, record::now_ms());
    let ended = result?;
    noted?;
    Ok(ended)
}

/// Holds the cores awake as the plan says, as long as what it gives lives.
fn keep_cores_awake(keep: KeepCoresAwake) -> Result<Option<Awake>, AwakeError> {
    match keep {
        KeepCoresAwake::Always => Awake::hold().map(Some),
        KeepCoresAwake::Auto => Ok(Awake::hold().ok()),
        KeepCoresAwake::Never => Ok(None),
    }
}

/// Writes down a new run, with its systems and steps.
fn begin(plan: &Plan, options: &RunOptions<'_>, store: &mut Store) -> Result<RunId, RunError> {
    let systems: Vec<_> = (0..plan.systems.len()).map(|position| records::system(plan, position)).collect();
    Ok(store.begin_run(&record::run(plan, options), &records::steps(plan), &systems)?)
}

impl Ended {
    fn count(&mut self, outcome: &Outcome) {
        match outcome {
            Outcome::Completed => self.completed_trials += 1,
            Outcome::Failed { .. } => self.failed_trials += 1,
        }
    }
}
