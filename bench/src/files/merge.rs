//! Merging many results files: how much time and memory `dyno results merge` takes.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::Context as _;
use clap::Args;
use dyno_store::{Ending, Store};
use rusqlite::Connection;

use crate::files::records;
use crate::support::{child, dyno};

const GOAL_SECONDS: f64 = 60.0;
const GOAL_MB: f64 = 500.0;

#[derive(Args)]
pub(crate) struct Options {
    /// Number of results files, each with one run.
    #[arg(long, default_value_t = 100)]
    files: u32,
    /// Trials in each file.
    #[arg(long, default_value_t = 1000)]
    trials: u32,
    /// Samples in each trial.
    #[arg(long, default_value_t = 10)]
    samples: u32,
    /// Counters in each trial, each with a series.
    #[arg(long, default_value_t = 10)]
    series: u32,
    /// The `dyno` program. By default the one in the folder of this program.
    #[arg(long, value_name = "FILE")]
    dyno: Option<PathBuf>,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let dyno = options.dyno.clone().map_or_else(dyno::beside, Ok)?;
    let folder = tempfile::tempdir()?;
    let files = make_files(options, folder.path())?;
    let bytes: u64 = files.iter().map(|file| fs::metadata(file).map_or(0, |file| file.len())).sum();
    println!(
        "{} files of {} trials with {} samples and {} series each: {:.0} MB",
        options.files,
        options.trials,
        options.samples,
        options.series,
        bytes as f64 / 1e6
    );
    let target = folder.path().join("all.db");
    let began = Instant::now();
    let merge = Command::new(&dyno)
        .args(["results", "merge", "--results"])
        .arg(&target)
        .args(&files)
        .stdout(Stdio::null())
        .spawn()
        .with_context(|| format!("cannot start {}", dyno.display()))?;
    let (cpu_us, memory_bytes) = child::wait(&merge)?;
    let seconds = began.elapsed().as_secs_f64();
    let trials: i64 =
        Connection::open(&target)?.query_row("SELECT count(*) FROM trial", [], |row| row.get(0))?;
    anyhow::ensure!(trials == i64::from(options.files * options.trials), "{trials} trials were merged");
    println!(
        "merged in {seconds:.1} s (to be below {GOAL_SECONDS}), of which CPU {:.1} s; memory {:.0} MB (to be below {GOAL_MB})",
        cpu_us as f64 / 1e6,
        memory_bytes as f64 / 1e6
    );
    Ok(())
}

/// Makes results files whose runs have the same trials but different start times.
fn make_files(options: &Options, folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let first = folder.join("0.db");
    let mut store = Store::open(&first)?;
    let run = store.create_run(&records::run())?;
    for system in records::systems() {
        store.put_system(run, &system)?;
    }
    for step in records::steps(options.trials, options.samples) {
        store.add_step(run, &step)?;
    }
    let mut pool = records::Pool::new();
    for number in 0..options.trials {
        store.commit_trial(run, &pool.trial(number, options.samples, options.series))?;
    }
    store.finish_run(run, Ending::Finished, records::STARTED_AT_MS + 1)?;
    // Closing the store moves the write-ahead log into the file.
    drop(store);
    let mut files = vec![first.clone()];
    for number in 1..options.files {
        let file = folder.join(format!("{number}.db"));
        fs::copy(&first, &file)?;
        Connection::open(&file)?
            .execute("UPDATE run SET started_at_ms = started_at_ms + ?1", [i64::from(number)])?;
        files.push(file);
    }
    Ok(files)
}
