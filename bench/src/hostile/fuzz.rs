//! Mutated input for code that reads bytes from outside. A case depends only on its seed and number, so it
//! can be reproduced.
//!
//! ```console
//! $ cargo run --profile fuzz -p dyno-bench -- fuzz mysql --cases 30000000
//! ```

use std::collections::BTreeMap;
use std::fs;
use std::panic::{self, PanicHookInfo};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use clap::Args;
use dyno_fuzz::{Corpus, Mutator, Target, cells_of};

/// Interval between progress messages.
const TOLD_EVERY: Duration = Duration::from_secs(30);
/// A case that takes more CPU time is reported, because a server or a file could delay a run with it.
const SLOW: Duration = Duration::from_secs(2);

#[derive(Args)]
pub(crate) struct Options {
    /// The reader to test: `mysql`, `mysql_compressed`, `pgsql`, `dsn`, `plan`, `traffic`, `results`, `cells`.
    #[arg(value_parser = target)]
    target: Target,
    /// Number of cases.
    #[arg(long, default_value_t = 1_000_000)]
    cases: u64,
    /// Seed of the random choice of cases.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Number of the first case. Use it to reproduce a case.
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// Write the first case into this file and exit.
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
}

fn target(name: &str) -> Result<Target, String> {
    let names: Vec<_> = Target::ALL.iter().map(|target| target.name()).collect();
    let target = Target::ALL.into_iter().find(|target| target.name() == name);
    target.ok_or_else(|| format!("there are {}", names.join(", ")))
}

/// Findings: the place of a panic, or the word for a slow case, with the number of the first case and the
/// count.
type Found = BTreeMap<String, (u64, u64)>;

/// The findings, and the number of changed cells of results files.
#[derive(Default)]
struct Tried {
    found: Found,
    cells: u64,
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let &Options { target, cases, seed, first, .. } = options;
    let mutator = Mutator::new(Corpus::of(target), seed);
    if let Some(path) = &options.write {
        return fs::write(path, mutator.case(first))
            .with_context(|| format!("cannot write {}", path.display()));
    }
    let began = Instant::now();
    // A separate thread drops what the target keeps before the process ends.
    let worker = thread::spawn(move || try_all(target, &mutator, first..first + cases));
    let Tried { found, cells } =
        worker.join().map_err(|_| anyhow::anyhow!("the thread of cases panicked"))?;
    let seconds = began.elapsed().as_secs_f64();
    println!(
        "{}: {cases} cases of seed {seed} in {seconds:.0} s, {:.0} a second: {} faults",
        target.name(),
        cases as f64 / seconds,
        found.len()
    );
    if cells > 0 {
        println!("  {cells} cells of results files had another value");
    }
    for (what, (case, count)) in &found {
        println!(
            "  {what}: {count} times, first: fuzz {} --seed {seed} --first {case} --cases 1",
            target.name()
        );
    }
    if !found.is_empty() {
        bail!("{} faults", found.len());
    }
    Ok(())
}

fn try_all(target: Target, mutator: &Mutator, numbers: std::ops::Range<u64>) -> Tried {
    let place = Arc::new(Mutex::new(String::new()));
    let seen = place.clone();
    let hook = move |info: &PanicHookInfo<'_>| {
        let at = info.location().map(|at| format!("{}:{}", at.file(), at.line())).unwrap_or_default();
        *seen.lock().unwrap_or_else(PoisonError::into_inner) = format!("panic at {at}");
    };
    // For a single case, the findings say everything.
    if numbers.end - numbers.start > 1 {
        panic::set_hook(Box::new(hook));
    }
    let Tried { mut found, mut cells } = Tried::default();
    let mut told = Instant::now();
    for number in numbers {
        let input = mutator.case(number);
        if target == Target::Cells {
            cells += cells_of(&input) as u64;
        }
        let mut add = |what: String| {
            // Each new finding is printed at once, before the end.
            if !found.contains_key(&what) {
                eprintln!("{}: case {number}: {what}", target.name());
            }
            found.entry(what).or_insert((number, 0)).1 += 1;
        };
        let began = cpu_time();
        if panic::catch_unwind(|| target.run(&input)).is_err() {
            add(place.lock().unwrap_or_else(PoisonError::into_inner).clone());
        }
        if cpu_time().saturating_sub(began) > SLOW {
            add("slow".to_owned());
        }
        if told.elapsed() > TOLD_EVERY {
            eprintln!("{}: at case {number}", target.name());
            told = Instant::now();
        }
    }
    let _ = panic::take_hook();
    Tried { found, cells }
}

/// CPU time of this thread. Other processes on the machine do not make a case slow.
fn cpu_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the time lives through the call.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}
