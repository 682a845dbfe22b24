//! Runs plans. This program is also the program of their load processes.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use std::{env, thread};

use anyhow::Context as _;
use dyno_engine::{Cache, Catalogue};
use dyno_lab::{Event, NoDrivers, Observer, Plan, RunOptions};
use dyno_store::{Ending, Run, RunChoice, RunState, Store};

/// Options that divide a long run among several starts of the benchmark.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pause {
    /// When to pause the run; `None` to run the plan to its end.
    pub(crate) at: Option<Instant>,
    /// Whether to continue with the run in the results file. If that run is complete, it is returned without measuring;
    /// if it was paused, it is resumed.
    pub(crate) resume: bool,
}

/// The results of a plan.
pub(crate) struct Measured {
    pub(crate) run: Run,
    /// Whether the run was paused, so that it has only a part of its rounds.
    pub(crate) is_paused: bool,
}

/// Runs a plan and returns its results. `benchmark` is the name of this program's subcommand.
pub(crate) fn run_plan(text: &str, benchmark: &str, results: &Path) -> anyhow::Result<Run> {
    let measured = run_plan_on(text, benchmark, results, None, Pause::default())?;
    Ok(measured.filter(|measured| !measured.is_paused).context("the run was stopped")?.run)
}

/// As [`run_plan`], with a pause and a time limit for the run. Returns `None` if the pause came before the run began.
pub(crate) fn run_plan_on(
    text: &str,
    benchmark: &str,
    results: &Path,
    time_max: Option<Duration>,
    pause: Pause,
) -> anyhow::Result<Option<Measured>> {
    let began = Instant::now();
    let plan = Plan::parse(text, &format!("{benchmark}.toml"), Path::new(""), &Catalogue::builtin())?;
    let earlier = if pause.resume { last_run(&plan, results)? } else { None };
    let resume = earlier.is_some();
    let earlier =
        earlier.map(|run| Measured { is_paused: run.state != RunState::Ended(Ending::Finished), run });
    if earlier.as_ref().is_some_and(|earlier| !earlier.is_paused) || pause.at.is_some_and(|at| at <= began) {
        return Ok(earlier);
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
        resume,
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
    println!("{}: {:.0} s", plan.title, began.elapsed().as_secs_f64());
    anyhow::ensure!(ended.failed_trials == 0, "{} trials failed", ended.failed_trials);
    let run = Store::open_read_only(results)?.load_run(RunChoice::Id(ended.run))?;
    Ok(Some(Measured { run, is_paused: ended.interrupted }))
}

/// Returns the latest run with the plan's name from a results file, if that run also has the plan's text.
fn last_run(plan: &Plan, results: &Path) -> anyhow::Result<Option<Run>> {
    if !results.exists() {
        return Ok(None);
    }
    let store = Store::open_read_only(results)?;
    let last = store.runs()?.into_iter().rfind(|run| run.plan_name == plan.name);
    let run = last.map(|last| store.load_run(RunChoice::Id(last.id))).transpose()?;
    Ok(run.filter(|run| run.record.plan_text == plan.text))
}

/// Prints the start of every tenth round, and nothing else.
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
