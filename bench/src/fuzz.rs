//! Mutated input for what reads bytes of others. A case is made of its seed and number, so it can be made again.
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

/// How often it is told how far it is.
const TOLD_EVERY: Duration = Duration::from_secs(30);
/// A case that takes more of a CPU is told: a server, or a file, could hold up a run with it.
const SLOW: Duration = Duration::from_secs(2);

#[derive(Args)]
pub(crate) struct Options {
    /// What reads the input: `mysql`, `mysql_compressed`, `pgsql`, `dsn`, `plan`, `results`, `cells`.
    #[arg(value_parser = target)]
    target: Target,
    /// Number of cases.
    #[arg(long, default_value_t = 1_000_000)]
    cases: u64,
    /// What cases are drawn by.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Number of the first case, to make one again.
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// Write the first case into this file, and run none.
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
}

fn target(name: &str) -> Result<Target, String> {
    let names: Vec<_> = Target::ALL.iter().map(|target| target.name()).collect();
    let target = Target::ALL.into_iter().find(|target| target.name() == name);
    target.ok_or_else(|| format!("there are {}", names.join(", ")))
}

/// What was found: the place of a panic or the word for something slow, with the first case and how many.
type Found = BTreeMap<String, (u64, u64)>;

/// What was found, and how many cells of results files were changed.
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
    // A thread of its own, so that what the target keeps is gone before the process ends.
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
    // One alone shows all that there is to know of it.
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
            // Who looks on need not wait for the end.
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

/// What this thread has had of a CPU: others on the machine make no case slow.
fn cpu_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the time lives through the call.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}
