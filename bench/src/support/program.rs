//! Runs `dyno` as a user does, and forwards ^C to it.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use dyno_engine::Cache;
use signal_hook::consts::{SIGINT, SIGTERM};

use super::dyno;

/// How often to check whether `dyno` has ended. The exact moment does not matter, because `dyno` itself measures
/// times.
const POLL: Duration = Duration::from_millis(50);

/// A `dyno` program with its own cache.
pub(crate) struct Program {
    dyno: PathBuf,
    cache: PathBuf,
    stop: Arc<AtomicBool>,
}

impl Program {
    /// Takes the given program, or the `dyno` in the folder of this program. Its cache is in `out`. From now on, ^C
    /// no longer ends this process. It only sets the flag that [`is_stopped`](Self::is_stopped) returns.
    pub(crate) fn new(given: Option<&Path>, out: &Path) -> anyhow::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        for signal in [SIGINT, SIGTERM] {
            signal_hook::flag::register(signal, Arc::clone(&stop))?;
        }
        let dyno = given.map_or_else(dyno::beside, |given| Ok(given.to_owned()))?;
        let dyno = dyno.canonicalize().with_context(|| format!("cannot find {}", dyno.display()))?;
        Ok(Self { dyno, cache: cache(out)?, stop })
    }

    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Runs a command as [`run_as_it_is`](Self::run_as_it_is) does, with `results.db` in the folder as its results
    /// file.
    pub(crate) fn run(&self, folder: &Path, arguments: &[&str], output: &str) -> anyhow::Result<ExitStatus> {
        self.run_as_it_is(folder, &[arguments, &["--results", "results.db"]].concat(), output)
    }

    /// Runs a command in a folder. Its standard output goes to a file in the folder. Its standard error is appended
    /// to `dyno.log`.
    pub(crate) fn run_as_it_is(
        &self,
        folder: &Path,
        arguments: &[&str],
        output: &str,
    ) -> anyhow::Result<ExitStatus> {
        let log = folder.join("dyno.log");
        let said = File::options().create(true).append(true).open(&log);
        let said = said.with_context(|| format!("cannot write {}", log.display()))?;
        let mut child = Command::new(&self.dyno)
            .args(arguments)
            .current_dir(folder)
            .env("DYNO_CACHE", &self.cache)
            .stdin(Stdio::null())
            .stdout(File::create(folder.join(output))?)
            .stderr(said)
            .process_group(0)
            .spawn()
            .with_context(|| format!("cannot start {}", self.dyno.display()))?;
        let mut is_told = false;
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(status);
            }
            if self.is_stopped() && !is_told {
                // The signal goes to the whole process group, as ^C in a terminal does. It is sent only once, because a
                // second SIGINT would end `dyno` without cleanup.
                // SAFETY: kill takes no pointer. Nobody has waited for the child, so the pid still belongs to it.
                unsafe { libc::kill(-(child.id() as libc::pid_t), libc::SIGINT) };
                is_told = true;
            }
            thread::sleep(POLL);
        }
    }

    /// Removes loaded data that is no longer used.
    pub(crate) fn forget_data(&self) -> anyhow::Result<()> {
        let snapshots = self.cache.join("snapshots");
        if snapshots.exists() {
            fs::remove_dir_all(&snapshots)
                .with_context(|| format!("cannot remove {}", snapshots.display()))?;
        }
        Ok(())
    }
}

/// Makes a cache that shares the engines of this machine's usual cache.
fn cache(out: &Path) -> anyhow::Result<PathBuf> {
    let cache = out.join("cache");
    fs::create_dir_all(&cache).with_context(|| format!("cannot make {}", cache.display()))?;
    let engines = Cache::default_location().root().join("engines");
    fs::create_dir_all(&engines)?;
    if !cache.join("engines").exists() {
        symlink(engines.canonicalize()?, cache.join("engines"))?;
    }
    Ok(cache.canonicalize()?)
}
