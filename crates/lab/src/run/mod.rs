//! Runs a plan: prepares its systems, repeats its rounds, and commits every trial when the trial ends.
//!
//! The modules form layers. Each uses only modules before it in this order: `error`, `not_started`, `observer`,
//! `options`, `record`, `system`, `prepare`, `trial`, `round`, `spread`.

mod error;
mod not_started;
mod observer;
mod options;
mod prepare;
mod record;
mod round;
mod spread;
mod system;
mod trial;

use std::collections::BTreeSet;

use dyno_engine::remove_dead_homes;
use dyno_host::{Awake, AwakeError, remove_leftovers};
use dyno_store::{Ending, RunId, RunRecord, Store};

use self::prepare::{
    Executed, check_confinements, check_images, check_power_cuts, find_interrupted, give_data, install_all,
    resumption,
};
use self::record::now_ms;
use self::round::RunSession;
use crate::plan::{KeepCoresAwake, Plan};
use crate::records;

pub use self::error::{DataError, RunError, SweepTooLarge, SystemError};
pub use self::not_started::NotStarted;
pub use self::observer::{Event, LatencyNow, Observer, Pace, TrialLabel};
pub use self::options::{DriverHosts, NoDrivers, RunOptions, RunOutcome, Task};
pub use self::prepare::{Outline, OutlineBlock, ScriptMistake};
pub use self::round::audit_host;
pub use self::spread::Spread;
use self::system::Holds;
pub use self::system::{Foreseen, Found, foresee, sqlite_variables};
pub use self::trial::{ReplicaLag, TokenLag, measure_lag};

/// Runs a plan. Every trial is committed to the results file when the trial ends.
///
/// # Errors
/// The results file cannot be written, there is no run to resume, or the base cannot be fetched, confined or
/// started. If another system cannot be fetched or started, only its trials fail.
pub fn run(
    plan: &Plan,
    options: &RunOptions<'_>,
    observer: &mut dyn Observer,
) -> Result<RunOutcome, RunError> {
    if options.task.is_some() {
        Spread::check(plan)?;
    }
    check_confinements(plan)?;
    check_power_cuts(plan)?;
    plan.check_sweeps()?;
    let _awake = keep_cores_awake(plan.keep_cores_awake)?;
    // Remove the folders, mounts and control groups of killed runs, even if this run itself has no servers and no
    // limits.
    remove_dead_homes(&options.cache.runs())?;
    remove_leftovers(&options.cache.runs())?;
    // Open the file before engines are fetched, which takes long, so that an unwritable file is reported
    // immediately.
    let mut store = Store::open(&options.results)?;
    let interrupted = options.resume.then(|| find_interrupted(plan, &store)).transpose()?;
    check_drivers(plan, options)?;
    let holds = Holds::take(plan, observer)?;
    let mut installations = install_all(plan, options, observer)?;
    let given = give_data(plan, &mut installations, options, observer)?;
    let (run, seed, executed) = match interrupted {
        Some(earlier) => {
            check_images(&earlier, &installations)?;
            let resumption = resumption(&earlier);
            observer.observe(&Event::Resumed { run: earlier.id, differences: &resumption.differences });
            store.resume_run(earlier.id, &resumption)?;
            (earlier.id, earlier.record.seed, Executed::of(plan, &earlier))
        }
        None => (begin(plan, options, &mut store)?, options.seed, Executed::default()),
    };
    let executed = match &options.task {
        Some(task) => Executed { next_round: task.round, ..executed },
        None => executed,
    };
    let systems = (&installations[..], &given[..], &holds);
    let session = RunSession::new(plan, options, systems, (&mut store, run, seed), &executed, observer);
    let result = match &options.task {
        Some(task) => session.carry_out_task(task),
        None => session.carry_out(&executed),
    };
    holds.release(observer);
    let ending = match &result {
        Err(_) => Ending::Failed,
        Ok(outcome) if outcome.interrupted => Ending::Interrupted,
        Ok(_) => Ending::Finished,
    };
    let noted = store.finish_run(run, ending, now_ms());
    let outcome = result?;
    noted?;
    let described = plan.systems.iter().zip(&given).filter_map(|(system, given)| {
        given.as_ref().map(|given| (system.id.clone(), given.description().to_owned()))
    });
    Ok(RunOutcome { given: described.collect(), ..outcome })
}

/// Prepares the hosts that send load. This is done before tables are loaded, so that a missing host is reported at
/// once.
fn check_drivers(plan: &Plan, options: &RunOptions<'_>) -> Result<(), RunError> {
    let hosts: BTreeSet<&String> = plan.steps.iter().flat_map(|step| &step.drivers).collect();
    for host in hosts {
        let command = options.drivers.command(host);
        command.map_err(|reason| RunError::Driver { host: host.clone(), reason })?;
    }
    Ok(())
}

/// Keeps cores awake until the returned value is dropped.
fn keep_cores_awake(keep: KeepCoresAwake) -> Result<Option<Awake>, AwakeError> {
    match keep {
        KeepCoresAwake::Always => Awake::hold().map(Some),
        KeepCoresAwake::Auto => Ok(Awake::hold().ok()),
        KeepCoresAwake::Never => Ok(None),
    }
}

/// Records a new run with its systems and steps.
fn begin(plan: &Plan, options: &RunOptions<'_>, store: &mut Store) -> Result<RunId, RunError> {
    begin_as(plan, &record::run(plan, options), store)
}

fn begin_as(plan: &Plan, run: &RunRecord, store: &mut Store) -> Result<RunId, RunError> {
    let systems: Vec<_> = (0..plan.systems.len()).map(|position| records::system(plan, position)).collect();
    Ok(store.begin_run(run, &records::steps_of_run(plan, run.spread_id.is_some()), &systems)?)
}
