//! Runs plans, with this program as their load process.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use std::{env, thread};

use anyhow::Context as _;
use dyno_engine::{Cache, Catalogue};
use dyno_lab::{Event, NoDrivers, Observer, Plan, RunOptions};
use dyno_store::{Ending, Run, RunChoice, RunState, Store};

/// Divides runs into several starts of the benchmark.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pause {
    /// When to pause.
    pub(crate) at: Option<Instant>,
    /// Whether to use the complete runs of the results file, and to resume one that was paused.
    pub(crate) resume: bool,
}

/// Runs a plan and returns its results. `benchmark` is the subcommand that runs it.
pub(crate) fn run_plan(text: &str, benchmark: &str, results: &Path) -> anyhow::Result<Run> {
    run_plan_on(text, benchmark, results, None, Pause::default())?.context("the run was stopped")
}

/// As [`run_plan`], with a pause and a longest time of the run. Returns `None` if the run was paused.
pub(crate) fn run_plan_on(
    text: &str,
    benchmark: &str,
    results: &Path,
    time_max: Option<Duration>,
    pause: Pause,
) -> anyhow::Result<Option<Run>> {
    let began = Instant::now();
    let plan = Plan::parse(text, &format!("{benchmark}.toml"), Path::new(""), &Catalogue::builtin())?;
    let earlier = if pause.resume { last_run(&plan, results)? } else { None };
    let is_paused = earlier.is_some();
    if let Some(complete) = earlier.filter(|run| run.state == RunState::Ended(Ending::Finished)) {
        return Ok(Some(complete));
    }
    if pause.at.is_some_and(|at| at <= began) {
        return Ok(None);
    }
    let stop = Arc::new(AtomicBool::new(false));
    if let Some(at) = pause.at {
        let stop = Arc::clone(&stop);
        thread::spawn(move || {
            thread::sleep(at.saturating_duration_since(Instant::now()));
            stop.store(true, Ordering::Relaxed);
        });
    }
    let options = RunOptions {
        counts_disturbed: false,
        results: results.to_owned(),
        seed: began.elapsed().as_nanos() as u64 ^ u64::from(std::process::id()),
        resume: is_paused,
        task: None,
        strict: false,
        needs_all_systems: false,
        time_max,
        driver_program: env::current_exe()?,
        drivers: Box::new(NoDrivers),
        cache: Cache::default_location(),
        dyno_version: env!("CARGO_PKG_VERSION").to_owned(),
        command_line: format!("dyno-bench {benchmark}"),
        stop: &stop,
        patience: Duration::from_secs(60),
    };
    let ended = dyno_lab::run(&plan, &options, &mut Rounds)?;
    if ended.interrupted {
        return Ok(None);
    }
    println!("{}: {:.0} s", plan.title, began.elapsed().as_secs_f64());
    anyhow::ensure!(ended.failed_trials == 0, "{} trials failed", ended.failed_trials);
    Ok(Some(Store::open_read_only(results)?.load_run(RunChoice::Id(ended.run))?))
}

/// The last run of the same plan in a results file, if there is one.
fn last_run(plan: &Plan, results: &Path) -> anyhow::Result<Option<Run>> {
    if !results.exists() {
        return Ok(None);
    }
    let store = Store::open_read_only(results)?;
    let last = store.runs()?.into_iter().rfind(|run| run.plan_name == plan.name);
    let run = last.map(|last| store.load_run(RunChoice::Id(last.id))).transpose()?;
    Ok(run.filter(|run| run.record.plan_text == plan.text))
}

/// Prints only the start of each round.
struct Rounds;

impl Observer for Rounds {
    fn observe(&mut self, event: &Event<'_>) {
        if let Event::RoundStarted { round, of } = event
            && round % 10 == 0
        {
            eprintln!("round {round} of {of}");
        }
    }
}
