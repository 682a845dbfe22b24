//! Runs `dyno` as a user does, and passes ^C on to it.

use std::fs::File;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::Context as _;

/// Interval between checks whether `dyno` has ended. `dyno` itself measures times.
const POLL: Duration = Duration::from_millis(50);

/// The program, with a cache of its own.
pub(super) struct Program {
    pub(super) dyno: PathBuf,
    pub(super) cache: PathBuf,
    pub(super) stop: Arc<AtomicBool>,
}

impl Program {
    pub(super) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Runs a command in a folder. Its standard output goes to a file there; its standard error is appended
    /// to `dyno.log`.
    pub(super) fn run(&self, folder: &Path, arguments: &[&str], output: &str) -> anyhow::Result<ExitStatus> {
        let log = folder.join("dyno.log");
        let said = File::options().create(true).append(true).open(&log);
        let said = said.with_context(|| format!("cannot write {}", log.display()))?;
        let mut child = Command::new(&self.dyno)
            .args(arguments)
            .args(["--results", "results.db"])
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
                // As a terminal does. A second ^C would end `dyno` without cleanup.
                // SAFETY: kill takes no pointer, and nobody has waited for the child, so its pid is still its
                // own.
                unsafe { libc::kill(-(child.id() as libc::pid_t), libc::SIGINT) };
                is_told = true;
            }
            thread::sleep(POLL);
        }
    }
}
