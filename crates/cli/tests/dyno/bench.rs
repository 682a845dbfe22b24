//! Helpers of these tests: they run `dyno` as a user does and inspect what it leaves behind.

use std::fs;
use std::io;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use dyno_engine::Cache;
pub(crate) use dyno_engine::testing::send;
use rusqlite::{Connection, OpenFlags};
use rustix::process::{Pid, Signal, geteuid, kill_process, kill_process_group};
use tempfile::TempDir;

const POLL: Duration = Duration::from_millis(20);
/// Time limit of a wait. Only a test that fails reaches it.
const LONG: Duration = Duration::from_secs(120);

/// The text, in which one blank replaces every sequence of blanks and line breaks.
pub(crate) fn unwrapped(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// An empty folder in which `dyno` runs. The environment of every process that a test starts here contains the path of
/// the folder, so that these processes can be found.
pub(crate) struct Bench {
    folder: TempDir,
    cache: PathBuf,
}

/// The result of a `dyno` that has ended.
pub(crate) struct Ended {
    /// Exit status; `None` if the process was killed.
    pub(crate) status: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Ended {
    /// Returns `self` if the exit status is `status`. Otherwise the test fails.
    #[track_caller]
    pub(crate) fn with(self, status: i32) -> Self {
        assert_eq!(self.status, Some(status), "{}{}", self.stdout, self.stderr);
        self
    }
}

/// A process that uses all the CPU that it gets.
pub(crate) struct Busy(Child);

impl Busy {
    pub(crate) fn start() -> Self {
        Self(Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap())
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Bench {
    /// Creates a bench with an empty cache, which shares only the engines and empty data folders that this machine
    /// has fetched.
    pub(crate) fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let cache = folder.path().join("cache");
        fs::create_dir(&cache).unwrap();
        let bench = Self { folder, cache };
        bench.share("engines");
        bench.share("templates");
        bench
    }

    /// Also shares the tools that this machine has fetched, such as `eu-stack`.
    pub(crate) fn share_tools(&self) {
        self.share("tools");
    }

    fn share(&self, name: &str) {
        let shared = Cache::default_location().root().join(name);
        fs::create_dir_all(&shared).unwrap();
        symlink(shared, self.cache.join(name)).unwrap();
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    /// Writes two profiles with which servers start faster, for tests that start dozens of servers. Neither profile has
    /// a performance schema, because its memory is most of the cost when MySQL 5.6 starts. `lean.toml` also makes the
    /// log of InnoDB small, because the log is part of the data that is copied for each instance. The log has 96 MB or
    /// more by default, and 1 GB with the profile like-56.
    pub(crate) fn write_lean_profiles(&self) {
        let profile = |name: &str, more: &str| {
            let text = format!(
                "name = '{name}'\ntitle = 'Quick starts'\n[mysql]\nperformance_schema = false\n{more}"
            );
            self.write(&format!("{name}.toml"), &text);
        };
        profile("lean", "[innodb]\ninnodb_redo_log_capacity = '16M'\n");
        profile("lean-with-stock-log", "");
    }

    /// Gives everybody the right to write into the bench's folder. Scripts of plans and builds need this, because
    /// Dyno runs them under another account if it is root.
    pub(crate) fn let_all_write(&self) {
        fs::set_permissions(self.folder.path(), fs::Permissions::from_mode(0o1777)).unwrap();
    }

    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dyno"));
        command.args(arguments).current_dir(self.folder.path()).stdin(Stdio::null());
        command.env("DYNO_CACHE", &self.cache).env("DYNO_TEST", self.folder.path());
        command.env_remove("DYNO_RESULTS");
        // Other tests run at the same time, so rounds are disturbed.
        command.env("DYNO_COUNT_DISTURBED", "1");
        // Servers have their sockets in this folder.
        command.env("XDG_RUNTIME_DIR", self.folder.path());
        command
    }

    /// Runs `dyno` to its end.
    pub(crate) fn dyno(&self, arguments: &[&str]) -> Ended {
        self.command(arguments).output().unwrap().into()
    }

    /// Runs `dyno` with a small disk. This disk is the folder `small`, a file system of 400 kB that only this `dyno`
    /// sees. Afterwards, the results files in `small` are copied to the bench's folder. Returns `None` if this user may
    /// not mount a file system.
    pub(crate) fn on_a_small_disk(&self, arguments: &str) -> io::Result<Option<Ended>> {
        if !geteuid().is_root() {
            return Ok(None);
        }
        fs::create_dir(self.path("small"))?;
        let script = format!(
            "mount -t tmpfs -o size=400k none small || exit 77
             \"$0\" {arguments}
             status=$?
             cp small/dyno.db* . 2> /dev/null
             exit $status"
        );
        let dyno = self.command(&[]);
        let mut command = Command::new("unshare");
        command.args(["--mount", "sh", "-c", &script]).arg(dyno.get_program()).current_dir(&self.folder);
        command.envs(dyno.get_envs().filter_map(|(name, value)| Some((name, value?))));
        let ended = Ended::from(command.output()?);
        fs::remove_dir(self.path("small"))?;
        Ok((ended.status != Some(77)).then_some(ended))
    }

    /// Starts `dyno` and waits until the results file has `trials` trials.
    pub(crate) fn start_until(&self, arguments: &[&str], trials: usize) -> Child {
        self.start_command_until(self.command(arguments), trials)
    }

    /// Does the same as [`Self::start_until`] with a command that the caller has prepared.
    pub(crate) fn start_command_until(&self, mut command: Command, trials: usize) -> Child {
        // The process gets a group of its own, as it would from a shell.
        command.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let began = Instant::now();
        while self.count("trial") < trials {
            assert!(began.elapsed() < LONG, "never: {trials} trials");
            let has_ended = child.try_wait().unwrap().is_some();
            assert!(!has_ended, "dyno ended early: {}", finish(child).stderr);
            thread::sleep(POLL);
        }
        child
    }

    /// Number of rows of a table of `dyno.db`; 0 if there is no such file or table.
    pub(crate) fn count(&self, table: &str) -> usize {
        self.value(&format!("SELECT count(*) FROM {table}")).unwrap_or(0)
    }

    /// A value from `dyno.db`; `None` if there is no such file, table or row.
    pub(crate) fn value<T: rusqlite::types::FromSql>(&self, sql: &str) -> Option<T> {
        let file =
            Connection::open_with_flags(self.path("dyno.db"), OpenFlags::SQLITE_OPEN_READ_ONLY).ok()?;
        file.query_row(sql, [], |row| row.get(0)).ok()
    }

    /// Live processes of this bench: `dyno` and all processes that it has started. They are found by their environment,
    /// which contains the path of the bench's folder. Servers do not have the environment of `dyno`, but theirs
    /// contains the path too.
    pub(crate) fn processes(&self) -> Vec<u32> {
        Self::processes_with("environ", &self.folder.path().display().to_string())
    }

    /// The servers whose data is in this bench's cache.
    pub(crate) fn servers(&self) -> Vec<u32> {
        Self::processes_with("cmdline", &format!("--datadir={}", self.cache.display()))
    }

    /// Load processes that run in this bench.
    pub(crate) fn load_processes(&self) -> Vec<u32> {
        let is_load = |pid: &u32| {
            let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            words.ends_with(b"\0drive\0")
        };
        self.processes().into_iter().filter(is_load).collect()
    }

    fn processes_with(file: &str, words: &str) -> Vec<u32> {
        let holds = |pid: &u32| {
            let text = fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
            String::from_utf8_lossy(&text).contains(words)
        };
        let entries = fs::read_dir("/proc").unwrap().flatten();
        entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(holds).collect()
    }

    /// Folders of data and sockets that runs left behind.
    pub(crate) fn leftovers(&self) -> Vec<PathBuf> {
        let folders = |parent: &Path| -> Vec<PathBuf> {
            let entries = fs::read_dir(parent).into_iter().flatten().flatten();
            entries.map(|entry| entry.path()).filter(|path| path.is_dir() && *path != self.cache).collect()
        };
        [folders(&self.cache.join("runs")), folders(self.folder.path())].concat()
    }
}

/// Kills the processes of a failing test.
impl Drop for Bench {
    fn drop(&mut self) {
        for pid in self.processes() {
            // The process may have ended already.
            let _ = kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), Signal::KILL);
        }
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

/// Sends ^C as a terminal does: every process that `dyno` has started gets the signal too.
pub(crate) fn press_ctrl_c(dyno: &Child) {
    kill_process_group(Pid::from_child(dyno), Signal::INT).unwrap();
}

/// Waits for a started `dyno` and returns its remaining output.
pub(crate) fn finish(child: Child) -> Ended {
    child.wait_with_output().unwrap().into()
}

/// Waits until a condition holds.
pub(crate) fn eventually(what: &str, is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < LONG, "never: {what}");
        thread::sleep(POLL);
    }
}

/// A plan that compares two ways to run SQLite. It has a load, a short step, and a step of `last_seconds`.
pub(crate) fn sqlite_plan(last_seconds: f64) -> String {
    let head = include_str!("plans/sqlite.toml");
    format!("{head}seconds = {last_seconds}\n")
}
