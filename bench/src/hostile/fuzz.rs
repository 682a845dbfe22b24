//! Feeds mutated input to code that reads bytes from outside. A case depends only on the seed and its number, so it
//! can be reproduced.
//!
//! ```console
//! $ cargo run --profile fuzz -p dyno-bench -- fuzz mysql --cases 30000000
//! ```

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fs;
use std::num::NonZeroUsize;
use std::panic::{self, PanicHookInfo};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use clap::Args;
use dyno_fuzz::{Corpus, Mutator, Target, cells_of};

/// Interval between progress messages.
const TOLD_EVERY: Duration = Duration::from_secs(30);
/// A case that takes more CPU time than this is reported, because a hostile server or file could delay a run with
/// such input.
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
    /// Number of threads. The cases are the same with any number.
    #[arg(long, default_value_t = cores())]
    jobs: NonZeroUsize,
    /// Write the first case into this file and exit.
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,
}

fn target(name: &str) -> Result<Target, String> {
    let names: Vec<_> = Target::ALL.iter().map(|target| target.name()).collect();
    let target = Target::ALL.into_iter().find(|target| target.name() == name);
    target.ok_or_else(|| format!("there are {}", names.join(", ")))
}

fn cores() -> NonZeroUsize {
    thread::available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

/// The findings. The key is the source location of a panic, or the word `slow`. The values are the number of the first
/// case that had this finding, and how many cases had it.
type Found = BTreeMap<String, (u64, u64)>;

/// The findings so far. `cells` counts the changed values in results files.
#[derive(Default)]
struct Tried {
    found: Found,
    cells: u64,
}

/// The cases, which several threads share.
struct Cases<'a> {
    target: Target,
    mutator: &'a Mutator,
    /// Number of the next case.
    next: AtomicU64,
    end: u64,
    tried: Mutex<Tried>,
    /// When progress was last reported.
    told: Mutex<Instant>,
}

thread_local! {
    /// The source location of the thread's last panic.
    static PLACE: RefCell<String> = const { RefCell::new(String::new()) };
}

pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let &Options { target, cases, seed, first, jobs, .. } = options;
    let mutator = Mutator::new(Corpus::of(target), seed);
    if let Some(path) = &options.write {
        return fs::write(path, mutator.case(first))
            .with_context(|| format!("cannot write {}", path.display()));
    }
    // If only one case is run, the standard panic message is enough.
    if cases > 1 {
        panic::set_hook(Box::new(keep_place));
    }
    let began = Instant::now();
    let shared = Cases {
        target,
        mutator: &mutator,
        next: AtomicU64::new(first),
        end: first + cases,
        tried: Mutex::default(),
        told: Mutex::new(began),
    };
    thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs.get()).map(|_| scope.spawn(|| shared.try_all())).collect();
        // A thread's local data, which some targets use, is certainly dropped only when the thread has been joined.
        workers.into_iter().try_for_each(thread::ScopedJoinHandle::join)
    })
    .map_err(|_| anyhow::anyhow!("a thread of cases panicked"))?;
    let _ = panic::take_hook();
    let Tried { found, cells } = shared.tried.into_inner().unwrap_or_else(PoisonError::into_inner);
    let seconds = began.elapsed().as_secs_f64();
    println!(
        "{}: {cases} cases of seed {seed} in {seconds:.0} s (--jobs {jobs}), {:.0} a second: {} faults",
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

fn keep_place(info: &PanicHookInfo<'_>) {
    let at = info.location().map(|at| format!("{}:{}", at.file(), at.line())).unwrap_or_default();
    PLACE.set(format!("panic at {at}"));
}

impl Cases<'_> {
    /// Tries cases until there are no more.
    fn try_all(&self) {
        let target = self.target;
        let mut cells = 0;
        loop {
            let number = self.next.fetch_add(1, Ordering::Relaxed);
            if number >= self.end {
                break;
            }
            let input = self.mutator.case(number);
            if target == Target::Cells {
                cells += cells_of(&input) as u64;
            }
            let began = cpu_time();
            if panic::catch_unwind(|| target.run(&input)).is_err() {
                self.add(number, PLACE.take());
            }
            if cpu_time().saturating_sub(began) > SLOW {
                self.add(number, "slow".to_owned());
            }
            self.tell(number);
        }
        self.tried().cells += cells;
    }

    /// Adds a finding. A new finding is printed immediately.
    fn add(&self, number: u64, what: String) {
        let mut tried = self.tried();
        let found = &mut tried.found;
        if !found.contains_key(&what) {
            eprintln!("{}: case {number}: {what}", self.target.name());
        }
        let (first, count) = found.entry(what).or_insert((number, 0));
        *first = number.min(*first);
        *count += 1;
    }

    fn tried(&self) -> MutexGuard<'_, Tried> {
        self.tried.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Reports progress from time to time, unless another thread is doing so.
    fn tell(&self, number: u64) {
        if let Ok(mut told) = self.told.try_lock()
            && told.elapsed() > TOLD_EVERY
        {
            eprintln!("{}: at case {number}", self.target.name());
            *told = Instant::now();
        }
    }
}

/// Returns the CPU time of this thread. Unlike elapsed time, it does not grow when other processes delay the
/// thread.
fn cpu_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the time lives through the call.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}
