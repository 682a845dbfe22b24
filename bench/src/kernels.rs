//! `dyno sysbench cpu`, `memory`, `mutex` and `threads` beside sysbench: CPU time of the same work.

use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, bail};

/// What is compared.
#[derive(clap::Args)]
pub(super) struct Options {
    /// The sysbench to compare with.
    #[arg(long, default_value = "sysbench")]
    sysbench: String,
    /// The dyno to compare.
    #[arg(long, default_value = "target/release/dyno")]
    dyno: String,
    /// Runs of each, in turn; the least CPU time counts.
    #[arg(long, default_value_t = 5)]
    rounds: u32,
}

/// The same work for both.
const WORK: &[&str] = &[
    "cpu --events=300 --time=0",
    "memory --memory-total-size=4G --time=0",
    "memory --memory-total-size=4G --time=0 --memory-oper=read",
    "memory --memory-total-size=4G --time=0 --memory-oper=none",
    "memory --memory-total-size=1G --time=0 --memory-access-mode=rnd",
    "memory --memory-total-size=1G --time=0 --memory-access-mode=rnd --memory-oper=read",
    "memory --memory-total-size=1G --time=0 --memory-access-mode=rnd --memory-oper=none",
    "memory --memory-total-size=8G --time=0 --memory-block-size=1M",
    "mutex --mutex-locks=50000 --time=0",
    "mutex --mutex-locks=5000000 --mutex-loops=0 --time=0",
    "threads --events=2000 --time=0",
];

pub(super) fn run(options: &Options) -> anyhow::Result<()> {
    println!("{:>10} {:>10} {:>7}  work", "sysbench", "dyno", "ratio");
    for work in WORK {
        let words: Vec<&str> = work.split(' ').chain(["run"]).collect();
        let (mut theirs, mut ours) = (Duration::MAX, Duration::MAX);
        for _ in 0..options.rounds {
            theirs = theirs.min(cpu_time(Command::new(&options.sysbench).args(&words))?);
            ours = ours.min(cpu_time(Command::new(&options.dyno).arg("sysbench").args(&words))?);
        }
        let ratio = ours.as_secs_f64() / theirs.as_secs_f64();
        println!("{:>8.3} s {:>8.3} s {ratio:>7.3}  {work}", theirs.as_secs_f64(), ours.as_secs_f64());
    }
    Ok(())
}

/// The CPU time of a program in user mode, which other programs hardly change.
fn cpu_time(command: &mut Command) -> anyhow::Result<Duration> {
    let before = of_children()?;
    let status = command.stdout(Stdio::null()).status().with_context(|| format!("cannot run {command:?}"))?;
    if !status.success() {
        bail!("{command:?} failed: {status}");
    }
    Ok(of_children()?.saturating_sub(before))
}

/// The CPU time in user mode of children that have ended.
fn of_children() -> anyhow::Result<Duration> {
    let mut usage = std::mem::MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the kernel fills the structure, which is ours.
    let usage = unsafe {
        if libc::getrusage(libc::RUSAGE_CHILDREN, usage.as_mut_ptr()) != 0 {
            return Err(std::io::Error::last_os_error().into());
        }
        usage.assume_init()
    };
    let time = usage.ru_utime;
    Ok(Duration::from_secs(time.tv_sec as u64) + Duration::from_micros(time.tv_usec as u64))
}
