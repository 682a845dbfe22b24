//! Compares the CPU time of `dyno sysbench cpu` and sysbench for the same work.

use std::ops::RangeInclusive;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, bail};
use dyno_stats::{CONFIDENCE, centre_of_rounds};

/// Options of the benchmark.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// The `sysbench` program to compare with.
    #[arg(long, default_value = "sysbench")]
    sysbench: String,
    /// The `dyno` program to compare.
    #[arg(long, default_value = "target/release/dyno")]
    dyno: String,
    /// Runs of each program. The programs take turns.
    #[arg(long, default_value_t = 15)]
    rounds: u32,
}

/// Work that both programs do: many tests whether small numbers are prime, with short loops, and few such tests of
/// large numbers.
const WORK: &[&str] = &["cpu --events=4000 --time=0", "cpu --cpu-max-prime=200000 --events=60 --time=0"];

/// The ratios of CPU times that count as equal.
const GOAL: RangeInclusive<f64> = 0.95..=1.05;

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    for work in WORK {
        let words: Vec<&str> = work.split(' ').chain(["run"]).collect();
        let mut ratios = Vec::new();
        for _ in 0..options.rounds {
            let theirs = cpu_time(Command::new(&options.sysbench).args(&words))?;
            let ours = cpu_time(Command::new(&options.dyno).arg("sysbench").args(&words))?;
            ratios.push(ours.as_secs_f64() / theirs.as_secs_f64());
        }
        let centre = centre_of_rounds(&ratios, CONFIDENCE).context("at least one round is needed")?;
        let interval = centre.interval.context("at least two rounds are needed")?;
        let is_met = GOAL.contains(&interval.low) && GOAL.contains(&interval.high);
        let is_missed = interval.high < *GOAL.start() || interval.low > *GOAL.end();
        println!(
            "{work}: {:.3} [{:.3}, {:.3}] of sysbench's CPU time; goal {:.2} to {:.2}: {}",
            centre.value,
            interval.low,
            interval.high,
            GOAL.start(),
            GOAL.end(),
            match (is_met, is_missed) {
                (true, _) => "met",
                (_, true) => "missed",
                _ => "not shown",
            }
        );
    }
    Ok(())
}

/// Returns the CPU time in user mode that a program used. Unlike elapsed time, this hardly depends on other programs
/// that run at the same time.
fn cpu_time(command: &mut Command) -> anyhow::Result<Duration> {
    let before = of_children()?;
    let status = command.stdout(Stdio::null()).status().with_context(|| format!("cannot run {command:?}"))?;
    if !status.success() {
        bail!("{command:?} failed: {status}");
    }
    Ok(of_children()?.saturating_sub(before))
}

/// Returns the user-mode CPU time of all children that have ended so far.
fn of_children() -> anyhow::Result<Duration> {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the kernel fills the structure, which belongs to this function.
    let usage = unsafe {
        if libc::getrusage(libc::RUSAGE_CHILDREN, usage.as_mut_ptr()) != 0 {
            return Err(std::io::Error::last_os_error().into());
        }
        usage.assume_init()
    };
    let time = usage.ru_utime;
    Ok(Duration::from_secs(time.tv_sec as u64) + Duration::from_micros(time.tv_usec as u64))
}
