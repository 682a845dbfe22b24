//! Carries out a plan: starts its systems, runs their trials in turn, commits each as it ends.

mod attempt;
mod bench;
mod drive;
mod error;
mod forecast;
mod job;
mod meter;
mod observer;
mod place;
mod record;
mod recording;
mod scratch;
mod server;
mod sqlite;
mod subject;

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use dyno_engine::{Cache, Installation};
use dyno_store::{Ending, Outcome, RunId, Store};

use self::bench::Bench;
use crate::plan::Plan;
use crate::schedule::schedule;

pub use self::error::{RunError, SubjectError};
pub use self::observer::{Event, Observer, TrialLabel};

/// How a plan is carried out.
#[derive(Debug)]
pub struct RunOptions<'a> {
    /// The results file.
    pub results: PathBuf,
    /// Decides the order of trials and everything random in them.
    pub seed: u64,
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
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
}

/// Carries out a plan. Trials are in the results file as they end, whatever happens later.
///
/// # Errors
/// The results file cannot be written, an engine cannot be fetched, or a server does not start. A server that
/// fails later only fails its trials.
pub fn run(plan: &Plan, options: &RunOptions<'_>, observer: &mut dyn Observer) -> Result<Ended, RunError> {
    // Before the long fetches: that a results file cannot be written is better known at once.
    let mut store = Store::open(&options.results)?;
    let installations = subject::install(plan, &options.cache, observer)?;
    let run = store.create_run(&record::run(plan, options))?;
    let result = carry_out(plan, options, &installations, (&mut store, run), observer);
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

fn carry_out(
    plan: &Plan,
    options: &RunOptions<'_>,
    installations: &[Option<Installation>],
    (store, run): (&mut Store, RunId),
    observer: &mut dyn Observer,
) -> Result<Ended, RunError> {
    let trials = schedule(plan, options.seed);
    let mut bench = Bench::set_up(plan, &trials, options, installations, (store, run), observer)?;
    let mut ended = Ended {
        run,
        interrupted: false,
        planned_trials: trials.len(),
        completed_trials: 0,
        failed_trials: 0,
    };
    for position in 0..trials.len() {
        match bench.trial(position)? {
            Some(Outcome::Completed) => ended.completed_trials += 1,
            Some(Outcome::Failed { .. }) => ended.failed_trials += 1,
            None => {
                ended.interrupted = true;
                break;
            }
        }
    }
    Ok(ended)
}
