//! `dyno task`: runs one round of `dyno run --on` and delivers its results file to the submitting process.

use std::fs::{File, Permissions};
use std::io::{self, Read as _, stdin, stdout};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use anyhow::Context as _;
use clap::Args;
use dyno_engine::{Cache, Scratch};
use dyno_lab::RunOptions;

use super::{Run, options};
use crate::{interrupt, progress};

/// Run one round of a run that several hosts share, and deliver its results file
#[derive(Debug, Args)]
#[command(
    after_help = "The options of `dyno run` that change the plan must be the same as for the whole run. docs/do/cluster.md says \
how to join the files.

Example:
  dyno task my-plan.toml --rounds 8 --seed 7 --spread-id night-1 --round 0 --deliver round-0.db"
)]
pub(crate) struct Task {
    #[command(flatten)]
    run: Run,
    /// The round to run, from 0
    #[arg(long, value_name = "NUMBER", requires = "seed", conflicts_with_all = ["on", "resume", "only_outline"])]
    round: u32,
    /// Id of the whole run
    #[arg(long, value_name = "ID")]
    spread_id: String,
    /// Destination of the results file after the round; - for standard output
    #[arg(long, value_name = "FILE")]
    deliver: PathBuf,
    /// Name of this host
    #[arg(long, value_name = "NAME")]
    node: Option<String>,
}

impl Task {
    /// Runs the round with a separate results file and delivers that file, even if trials failed.
    pub(crate) fn execute(self) -> anyhow::Result<ExitCode> {
        let Self { run, round, spread_id, deliver, node } = self;
        let plan = run.plan()?;
        let task = dyno_lab::Task { round, spread_id, node };
        let stop = interrupt::stop_flag()?;
        let folder = Scratch::create(&Cache::default_location().runs()).context(
            "cannot make a folder for the round's results in the cache; DYNO_CACHE names another place",
        )?;
        let results = folder.path().join("round.db");
        let is_streamed = deliver == Path::new("-");
        if is_streamed {
            stop_with_input(Arc::clone(&stop))?;
        }
        let options =
            RunOptions { results: results.clone(), task: Some(task), ..options(&run.flags, false, &stop)? };
        let mut observer = progress::observer(&results);
        let outcome = dyno_lab::run(&plan, &options, observer.as_mut());
        drop(observer);
        if stop.load(Ordering::Relaxed) {
            return Ok(interrupt::exit_code());
        }
        outcome?;
        if is_streamed {
            let mut file = File::open(&results).context("cannot read the round's results")?;
            io::copy(&mut file, &mut stdout().lock()).context("cannot send the round's results")?;
        } else {
            publish(&results, &deliver).with_context(|| format!("cannot write {}", deliver.display()))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Copies a file atomically.
fn publish(from: &Path, to: &Path) -> io::Result<()> {
    let folder = to.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut part = tempfile::Builder::new().permissions(Permissions::from_mode(0o666)).tempfile_in(folder)?;
    io::copy(&mut File::open(from)?, &mut part)?;
    part.as_file().sync_all()?;
    part.persist(to)?;
    Ok(())
}

/// Stops the run when standard input ends, because then the submitting process is gone.
fn stop_with_input(stop: Arc<AtomicBool>) -> anyhow::Result<()> {
    thread::Builder::new()
        .name("input".to_owned())
        .spawn(move || {
            let mut rest = [0; 64];
            while stdin().lock().read(&mut rest).is_ok_and(|bytes| bytes > 0) {}
            stop.store(true, Ordering::Relaxed);
        })
        .context("cannot start a thread")?;
    Ok(())
}
