//! Runs plans, with this program as their load process.

use std::env;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use dyno_engine::{Cache, Catalogue};
use dyno_lab::{Event, NoDrivers, Observer, Plan, RunOptions};
use dyno_store::{Run, RunChoice, Store};

/// Runs a plan and returns its results. `benchmark` is the subcommand that it is a part of.
pub(crate) fn run_plan(text: &str, benchmark: &str, results: &Path) -> anyhow::Result<Run> {
    let began = Instant::now();
    let plan = Plan::parse(text, &format!("{benchmark}.toml"), Path::new(""), &Catalogue::builtin())?;
    let stop = AtomicBool::new(false);
    let options = RunOptions {
        counts_disturbed: false,
        results: results.to_owned(),
        seed: began.elapsed().as_nanos() as u64 ^ u64::from(std::process::id()),
        resume: false,
        task: None,
        strict: false,
        needs_all_systems: false,
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
    Ok(Store::open_read_only(results)?.load_run(RunChoice::Id(ended.run))?)
}

/// Prints the rounds only.
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
