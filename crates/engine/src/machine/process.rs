//! Finds, watches and ends processes by process id.

use std::fs;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, WaitOptions, kill_process, waitid, waitpid};
use serde::{Deserialize, Serialize};

const POLL: Duration = Duration::from_millis(10);
const PATIENCE: Duration = Duration::from_secs(20);

/// A process. The time of its start tells it apart from a later process with the same id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ProcessId {
    pid: u32,
    /// When the process started, in clock ticks since boot.
    started_ticks: u64,
}

impl ProcessId {
    /// Returns the process with an id, or `None` if that process is dead.
    pub(crate) fn of(pid: u32) -> Option<Self> {
        let stat = Stat::read(pid).ok()?;
        (!stat.is_dead()).then_some(Self { pid, started_ticks: stat.started_ticks })
    }

    /// Returns the process of a child that nobody has waited for. Its id cannot be reused until somebody waits for it,
    /// even if it has ended.
    pub(crate) fn of_child(child: &Child) -> io::Result<Self> {
        let pid = child.id();
        Ok(Self { pid, started_ticks: Stat::read(pid)?.started_ticks })
    }

    pub(crate) fn pid(self) -> u32 {
        self.pid
    }

    pub(crate) fn is_alive(self) -> bool {
        Self::of(self.pid) == Some(self)
    }

    /// Waits for the end of the process, without sending it a signal. Returns whether it ended in time. If the process
    /// is a child of this process, also removes its entry in the process table.
    pub(crate) fn ends_within(self, patience: Duration) -> bool {
        let has_ended = becomes(patience, || !self.is_alive());
        let _ = waitpid(Pid::from_raw(self.pid as i32), WaitOptions::NOHANG);
        has_ended
    }

    /// Sends this process a signal to end. The process is a server that works in `folders` or below them. If it does
    /// not end in time, kills it by SIGKILL. Also waits for its children, because the children of a crashed PostgreSQL
    /// live for a moment longer.
    pub(crate) fn end(self, signal: Signal, folders: &[&Path]) {
        self.send(signal);
        // A stopped process takes a signal only when it continues.
        self.send(Signal::CONT);
        if !becomes_true(|| !self.is_alive()) {
            self.send(Signal::KILL);
            // A process that hangs in the kernel cannot be killed, so the time of this wait is limited too.
            becomes_true(|| !self.is_alive());
        }
        // If the process is a child of this process, waitpid(2) removes its entry in the process table. Otherwise the
        // call fails, which is ignored.
        let _ = waitpid(Pid::from_raw(self.pid as i32), WaitOptions::NOHANG);
        becomes_true(|| !is_worked_in_any(folders));
    }

    /// Sends SIGKILL to this process, a server that works in `folders` or below them, and to its children. Does not
    /// wait for their end.
    pub(crate) fn kill_with_children(self, folders: &[&Path]) {
        let program = program_of(self.pid);
        self.send(Signal::KILL);
        // After the server is dead, it starts no more children. The second search finds children that were being
        // started during the first search.
        for child in (0..2).flat_map(|_| workers(folders)) {
            // A user's shell may work in the folder too, but it runs another program.
            if program_of(child.as_raw_nonzero().get() as u32) == program {
                let _ = kill_process(child, Signal::KILL);
            }
        }
    }

    /// Sends a signal to this process, a server that works in `folders` or below them, and waits until it and its
    /// children have ended. Returns `None` if they have not ended in time. The exit status is known only if the server
    /// is a child of this process and nothing else has waited for it.
    pub(crate) fn ends_by(self, signal: Signal, folders: &[&Path], patience: Duration) -> Option<Ended> {
        let deadline = Instant::now() + patience;
        self.send(signal);
        becomes_true_by(deadline, || !self.is_alive()).then_some(())?;
        let waited = waitpid(Pid::from_raw(self.pid as i32), WaitOptions::NOHANG).ok().flatten();
        let exit = waited.map(|(_, status)| status);
        let is_clean = exit.is_none_or(|status| status.exit_status() == Some(0));
        becomes_true_by(deadline, || !is_worked_in_any(folders)).then_some(Ended { is_clean })
    }

    /// The exit status of a child that has ended and that nobody has waited for. Its entry in the process table
    /// stays, so it can still be waited for.
    pub(crate) fn exit(self) -> Option<ExitStatus> {
        let pid = Pid::from_raw(self.pid as i32)?;
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let ended = waitid(WaitId::Pid(pid), look).ok().flatten()?;
        // The encoding of wait(2): the exit status is in the second byte, a signal in the first.
        let code = ended.exit_status().map(|status| status << 8).or(ended.terminating_signal())?;
        Some(ExitStatus::from_raw(code))
    }

    fn send(self, signal: Signal) {
        if let Some(pid) = Pid::from_raw(self.pid as i32)
            && self.is_alive()
        {
            // An error is ignored, because the process may have ended meanwhile.
            let _ = kill_process(pid, signal);
        }
    }
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    /// The process ended with success, or its exit status is unknown.
    pub(crate) is_clean: bool,
}

/// Waits at most [`PATIENCE`] until a condition is true. Returns whether it became true.
fn becomes_true(condition: impl Fn() -> bool) -> bool {
    becomes_true_by(Instant::now() + PATIENCE, condition)
}

/// Waits at most `patience` until a condition is true. Returns whether it became true.
pub(crate) fn becomes(patience: Duration, condition: impl Fn() -> bool) -> bool {
    becomes_true_by(Instant::now() + patience, condition)
}

fn becomes_true_by(deadline: Instant, condition: impl Fn() -> bool) -> bool {
    while !condition() {
        if Instant::now() >= deadline {
            return false;
        }
        std::thread::sleep(POLL);
    }
    true
}

/// Whether any process has its working directory at or below a folder, such as a server's data folder.
pub(crate) fn is_worked_in(folder: &Path) -> bool {
    is_linked("cwd", folder)
}

/// Whether a process of a database server has its working directory in a folder or below it. Other programs, such as a
/// shell, do not count.
pub(crate) fn is_served(folder: &Path) -> bool {
    // Dyno starts some servers by their own dynamic loader. These processes run the loader's file.
    const PROGRAMS: [&str; 4] = ["mysqld", "mariadbd", "postgres", "ld-"];
    workers(&[folder]).into_iter().any(|pid| {
        let program = program_of(pid.as_raw_nonzero().get().cast_unsigned());
        let name =
            program.as_deref().and_then(Path::file_name).and_then(|name| name.to_str()).unwrap_or_default();
        PROGRAMS.iter().any(|known| name.starts_with(known))
    })
}

/// The program that a process runs. `None` for a dead process.
fn program_of(pid: u32) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{pid}/exe")).ok()
}

fn is_worked_in_any(folders: &[&Path]) -> bool {
    folders.iter().any(|folder| is_worked_in(folder))
}

/// Returns the processes whose working directory is one of `folders`, or below one of them.
pub(crate) fn workers(folders: &[&Path]) -> Vec<Pid> {
    folders.iter().flat_map(|folder| linked("cwd", folder)).collect()
}

/// Whether a process is stopped by a signal, and not dead.
pub(crate) fn is_stopped(pid: Pid) -> bool {
    Stat::read(pid.as_raw_nonzero().get().cast_unsigned()).is_ok_and(|stat| stat.state == 'T')
}

/// Whether any process runs a program that is in a folder or below it.
pub(crate) fn is_run_from(folder: &Path) -> bool {
    is_linked("exe", folder)
}

/// Whether the link `link` of any process leads to a folder or below it. Each process has links, such as `cwd`, in its
/// folder of `/proc` (proc(5)).
fn is_linked(link: &str, folder: &Path) -> bool {
    linked(link, folder).next().is_some()
}

/// Returns the processes whose link `link` leads to a folder or below it. Each process has links, such as `cwd`, in its
/// folder of `/proc` (proc(5)).
fn linked(link: &str, folder: &Path) -> impl Iterator<Item = Pid> {
    // The targets of the links in `/proc` contain no symbolic links, so `folder` must not contain any either.
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes.filter_map(move |process| {
        let place = fs::read_link(process.path().join(link)).ok()?;
        let pid = process.file_name().to_str()?.parse().ok()?;
        place.starts_with(&folder).then(|| Pid::from_raw(pid)).flatten()
    })
}

/// Fields of `/proc/PID/stat`, see proc(5).
#[derive(Debug, PartialEq, Eq)]
struct Stat {
    state: char,
    threads: u32,
    started_ticks: u64,
}

impl Stat {
    fn read(pid: u32) -> io::Result<Self> {
        let line = fs::read_to_string(format!("/proc/{pid}/stat"))?;
        Self::parse(&line).ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    /// Parses the text of `/proc/PID/stat`. The second field is the program's name in parentheses, and the name itself
    /// may contain spaces and parentheses. State, threads and start are fields 3, 20 and 22.
    fn parse(line: &str) -> Option<Self> {
        let mut fields = line.rsplit_once(')')?.1.split_ascii_whitespace();
        let state = fields.next()?.chars().next()?;
        let threads = fields.nth(16)?.parse().ok()?;
        let started_ticks = fields.nth(1)?.parse().ok()?;
        Some(Self { state, threads, started_ticks })
    }

    /// Whether the process is dead and has released its files and locks. A zombie still holds them while threads of
    /// it are ending.
    fn is_dead(&self) -> bool {
        matches!(self.state, 'Z' | 'X') && self.threads <= 1
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader};
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_process_is_known_until_it_is_ended() {
        let mut child = Command::new("sleep").arg("1000").spawn().unwrap();
        let process = ProcessId::of(child.id()).unwrap();
        assert!(process.is_alive());
        process.end(Signal::TERM, &[]);
        assert!(!process.is_alive());
        assert_eq!(ProcessId::of(child.id()), None);
        assert!(child.wait().is_err(), "its entry in the process table was not cleared");
    }

    #[test]
    fn a_name_with_parentheses_does_not_confuse() {
        let line = "12 (a) b (c)) S 1 12 12 0 -1 0 0 0 0 0 0 0 0 0 20 0 7 0 4242 0 0";
        let stat = Stat::parse(line).unwrap();
        assert_eq!(stat, Stat { state: 'S', threads: 7, started_ticks: 4242 });
        assert_eq!(Stat::parse("12 (a"), None);
    }

    #[test]
    fn a_zombie_is_dead_when_its_last_thread_has_ended() {
        let zombie = |threads| Stat { state: 'Z', threads, started_ticks: 0 };
        assert!(!zombie(2).is_dead());
        assert!(zombie(1).is_dead());
    }

    #[test]
    fn children_of_a_server_are_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let mut server = Command::new("sh")
            .args(["-c", "sleep 0.2 & echo child started; exec sleep 1000"])
            .current_dir(folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(server.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(is_worked_in(folder.path()));
        ProcessId::of(server.id()).unwrap().end(Signal::KILL, &[folder.path()]);
        assert!(!is_worked_in(folder.path()));
        assert!(server.wait().is_err());
    }

    #[test]
    fn a_server_is_killed_with_its_children_and_nobody_else() {
        let folder = tempfile::tempdir().unwrap();
        let mut other = Command::new("sleep").arg("1000").current_dir(folder.path()).spawn().unwrap();
        // A shell replaces the standard input of a background command, so the child reads from descriptor 3.
        let mut server = Command::new("sh")
            .args(["-c", "exec 3<&0; sh -c 'echo started; read end <&3' & wait"])
            .current_dir(folder.path())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut output = BufReader::new(server.stdout.take().unwrap());
        output.read_line(&mut String::new()).unwrap();
        ProcessId::of(server.id()).unwrap().kill_with_children(&[folder.path()]);
        // The child also holds the other end of the pipe, so the pipe ends only when the child is dead.
        assert_eq!(output.read_line(&mut String::new()).unwrap(), 0);
        server.wait().unwrap();
        assert!(other.try_wait().unwrap().is_none());
        other.kill().unwrap();
        other.wait().unwrap();
    }

    #[test]
    fn a_later_process_of_the_same_number_is_left_alone() {
        let mut child = Command::new("sleep").arg("1000").spawn().unwrap();
        let mut earlier = ProcessId::of(child.id()).unwrap();
        earlier.started_ticks -= 1;
        earlier.end(Signal::KILL, &[]);
        assert!(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
