//! A large results file: what it costs to record a trial, and how long `dyno report` takes.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

use anyhow::Context as _;
use clap::Args;
use comfy_table::{CellAlignment, Table, presets};
use dyno_store::{Ending, Store};

use crate::files::records;
use crate::support::{child, dyno};

/// Goal: longest time of a report of the file, in seconds.
const REPORT_GOAL_SECONDS: f64 = 2.0;

/// Goal: largest CPU time of recording, as a share of one core while the trial runs.
const RECORDING_GOAL_PERCENT: f64 = 1.0;

#[derive(Args)]
pub(crate) struct Options {
    /// Trials in the file.
    #[arg(long, default_value_t = 1000)]
    trials: u32,
    /// Seconds per trial.
    #[arg(long, default_value_t = 300)]
    seconds: u32,
    /// Counters that are read each second.
    #[arg(long, default_value_t = 100)]
    series: u32,
    /// Reports of each kind. The table shows their median. An additional first report, read from the disk, is shown
    /// separately.
    #[arg(long, default_value_t = 5)]
    rounds: usize,
    /// The `dyno` program. By default the one beside this program.
    #[arg(long, value_name = "FILE")]
    dyno: Option<PathBuf>,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let dyno = options.dyno.clone().map_or_else(dyno::beside, Ok)?;
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("dyno.db");
    let recording = record(options, &path)?;
    let size = fs::metadata(&path)?.len();
    println!(
        "{} trials of {} s with {} series: {:.0} MB",
        options.trials,
        options.seconds,
        options.series,
        size as f64 / 1e6
    );
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN).set_header([
        "what",
        "goal",
        "measured",
        "first, nothing cached",
    ]);
    table.add_row(recording.row(options));
    for format in ["text", "html"] {
        table.add_row(report(&dyno, &path, format, options.rounds)?);
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    println!("{table}");
    Ok(())
}

/// Cost of writing the results file.
struct Recording {
    trials: u32,
    cpu_seconds: f64,
    wall_seconds: f64,
}

impl Recording {
    fn row(&self, options: &Options) -> Vec<String> {
        let trial_seconds = f64::from(self.trials) * f64::from(options.seconds);
        let percent = 100.0 * self.cpu_seconds / trial_seconds;
        let each_ms = |seconds: f64| 1000.0 * seconds / f64::from(self.trials);
        vec![
            format!(
                "recording a trial: CPU {:.1} ms, until it is on disk {:.1} ms",
                each_ms(self.cpu_seconds),
                each_ms(self.wall_seconds)
            ),
            format!("{RECORDING_GOAL_PERCENT} % of a core"),
            format!("{percent:.3} %"),
            String::new(),
        ]
    }
}

/// Writes the results file one trial at a time, as a run does.
fn record(options: &Options, path: &Path) -> anyhow::Result<Recording> {
    let mut store = Store::open(path)?;
    let run = store.create_run(&records::run())?;
    for system in records::systems() {
        store.put_system(run, &system)?;
    }
    for step in records::steps(options.trials, options.seconds) {
        store.add_step(run, &step)?;
    }
    let mut pool = records::Pool::new();
    let mut recording = Recording { trials: options.trials, cpu_seconds: 0.0, wall_seconds: 0.0 };
    for number in 0..options.trials {
        let trial = pool.trial(number, options.seconds, options.series);
        let (cpu, began) = (cpu_seconds()?, Instant::now());
        store.commit_trial(run, &trial)?;
        recording.cpu_seconds += cpu_seconds()? - cpu;
        recording.wall_seconds += began.elapsed().as_secs_f64();
        if (number + 1) % 100 == 0 {
            eprintln!("{} of {} trials recorded", number + 1, options.trials);
        }
    }
    store.finish_run(run, Ending::Finished, records::STARTED_AT_MS + 1)?;
    Ok(recording)
}

/// Returns the CPU time that this process has used, in seconds.
pub(crate) fn cpu_seconds() -> anyhow::Result<f64> {
    // SAFETY: an all-zero timespec is a valid value of that plain C structure.
    let mut time: libc::timespec = unsafe { std::mem::zeroed() };
    // SAFETY: the pointer lives through the call.
    let failed = unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    anyhow::ensure!(failed == 0, "no CPU clock: {}", std::io::Error::last_os_error());
    Ok(time.tv_sec as f64 + time.tv_nsec as f64 / 1e9)
}

/// Measures how long reports in one format take. Before the first report, the file is dropped from the page cache.
fn report(dyno: &Path, results: &Path, format: &str, rounds: usize) -> anyhow::Result<Vec<String>> {
    forget(results)?;
    let first = report_seconds(dyno, results, format)?;
    let warm = (0..rounds).map(|_| report_seconds(dyno, results, format)).collect::<Result<Vec<_>, _>>()?;
    let median = dyno_stats::median(&warm).context("no rounds")?;
    Ok(vec![
        format!("dyno report --format {format}"),
        format!("{REPORT_GOAL_SECONDS} s"),
        format!("{median:.2} s"),
        format!("{first:.2} s"),
    ])
}

fn report_seconds(dyno: &Path, results: &Path, format: &str) -> anyhow::Result<f64> {
    let arguments = ["report", "--full", "--out", "-", "--format", format, "--results"].map(OsStr::new);
    let began = Instant::now();
    let child = Command::new(dyno)
        .args(arguments)
        .arg(results)
        .stdout(Stdio::null())
        .spawn()
        .with_context(|| format!("cannot start {}", dyno.display()))?;
    child::wait(&child)?;
    Ok(began.elapsed().as_secs_f64())
}

/// Drops a file from the page cache, so that the next read comes from the disk, as after a restart.
fn forget(path: &Path) -> anyhow::Result<()> {
    let file = File::open(path)?;
    // Only pages that are on disk can be dropped.
    file.sync_all()?;
    // SAFETY: a system call on an open file; no memory is involved.
    let error = unsafe { libc::posix_fadvise(file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) };
    anyhow::ensure!(error == 0, "cannot drop the cache: {}", std::io::Error::from_raw_os_error(error));
    Ok(())
}
