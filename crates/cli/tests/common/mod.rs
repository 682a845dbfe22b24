//! The vocabulary of tests that run `dyno` as a user does.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::{Connection, OpenFlags};
use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// An empty folder to run `dyno` in. Every process started from it can be told by its environment.
pub struct Bench {
    folder: TempDir,
    cache: PathBuf,
}

/// What a `dyno` that ended left.
pub struct Ended {
    /// Exit status; none for one that was killed.
    pub status: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Bench {
    /// With a cache of its own, so without engines.
    pub fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let cache = folder.path().join("cache");
        Self { folder, cache }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dyno"));
        command.args(arguments).current_dir(self.folder.path()).stdin(Stdio::null());
        command.env("DYNO_CACHE", &self.cache).env("DYNO_TEST", self.folder.path());
        command
    }

    /// Runs `dyno` to its end.
    pub fn dyno(&self, arguments: &[&str]) -> Ended {
        self.command(arguments).output().unwrap().into()
    }

    /// Starts `dyno` and waits until the results file has so many trials.
    pub fn start_until(&self, arguments: &[&str], trials: usize) -> Child {
        let mut command = self.command(arguments);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        eventually("trials are committed", || self.count("trial") >= trials);
        child
    }

    /// Rows of a table of `dyno.db`, which need not be there yet.
    pub fn count(&self, table: &str) -> usize {
        self.value(&format!("SELECT count(*) FROM {table}")).unwrap_or(0)
    }

    /// A value from `dyno.db`; none if there is no such file, table or row.
    pub fn value<T: rusqlite::types::FromSql>(&self, sql: &str) -> Option<T> {
        let file = Connection::open_with_flags(self.path("dyno.db"), OpenFlags::SQLITE_OPEN_READ_ONLY).ok()?;
        file.query_row(sql, [], |row| row.get(0)).ok()
    }

    /// Processes that were started from here and live.
    pub fn processes(&self) -> Vec<u32> {
        let mark = format!("DYNO_TEST={}", self.folder.path().display());
        let is_ours = |pid: &u32| {
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment.split(|byte| *byte == 0).any(|variable| variable == mark.as_bytes())
        };
        let entries = fs::read_dir("/proc").unwrap().flatten();
        entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(is_ours).collect()
    }

    /// Folders of data that runs left.
    pub fn leftovers(&self) -> Vec<PathBuf> {
        let entries = fs::read_dir(self.cache.join("runs")).unwrap().flatten();
        entries.map(|entry| entry.path()).filter(|path| path.is_dir()).collect()
    }
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        Self {
            status: output.status.code(),
            stdout: String::from_utf8(output.stdout).unwrap(),
            stderr: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

/// Sends a signal to a process.
pub fn send(signal: Signal, pid: u32) {
    kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), signal).unwrap();
}

/// The rest of what a started `dyno` does.
pub fn finish(child: Child) -> Ended {
    child.wait_with_output().unwrap().into()
}

/// Waits until something is so. The limit only keeps a broken test from waiting for ever.
pub fn eventually(what: &str, is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < Duration::from_secs(120), "never: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// A plan that compares two ways to run SQLite: a load, then a short step, then one of `last_seconds`.
pub fn sqlite_plan(last_seconds: f64) -> String {
    let head = include_str!("sqlite.toml");
    format!("{head}seconds = {last_seconds}\n")
}

/// Whether a text file below a folder, or that file, holds some words.
pub fn holds(path: &Path, words: &str) -> bool {
    String::from_utf8_lossy(&fs::read(path).unwrap()).contains(words)
}
