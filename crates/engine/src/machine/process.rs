//! Processes known by process id.

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

/// A process, safe against reuse of its id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ProcessId {
    pid: u32,
    /// When it started, in clock ticks since boot.
    started_ticks: u64,
}

impl ProcessId {
    /// The process with an id. `None` if it is dead.
    pub(crate) fn of(pid: u32) -> Option<Self> {
        let stat = Stat::read(pid).ok()?;
        (!stat.is_dead()).then_some(Self { pid, started_ticks: stat.started_ticks })
    }

    /// A child that nobody has waited for yet. Until then its id cannot be reused.
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

    /// Waits for its end without a signal, and returns whether it ended in time. Removes its entry if it is a child of
    /// this process.
    pub(crate) fn ends_within(self, patience: Duration) -> bool {
        let has_ended = becomes(patience, || !self.is_alive());
        let _ = waitpid(Pid::from_raw(self.pid as i32), WaitOptions::NOHANG);
        has_ended
    }

    /// Stops a server that works below some folders, by a signal, then by SIGKILL. Also waits for its children: if
    /// PostgreSQL crashes, they outlive it for a moment.
    pub(crate) fn end(self, signal: Signal, folders: &[&Path]) {
        self.send(signal);
        // A stopped process takes a signal only when it continues.
        self.send(Signal::CONT);
        if !becomes_true(|| !self.is_alive()) {
            self.send(Signal::KILL);
            // A process that hangs in the kernel cannot be killed. This does not wait for it.
            becomes_true(|| !self.is_alive());
        }
        // If it is a child of this process, this removes its entry.
        let _ = waitpid(Pid::from_raw(self.pid as i32), WaitOptions::NOHANG);
        becomes_true(|| !is_worked_in_any(folders));
    }

    /// Sends SIGKILL to a server that works below some folders and to its children, without waiting.
    pub(crate) fn kill_with_children(self, folders: &[&Path]) {
        let program = program_of(self.pid);
        self.send(Signal::KILL);
        // Dead processes start no children. A second look finds children that were being started during the first.
        for child in (0..2).flat_map(|_| workers(folders)) {
            // Somebody's shell may be in the folder too. It runs another program.
            if program_of(child.as_raw_nonzero().get() as u32) == program {
                let _ = kill_process(child, Signal::KILL);
            }
        }
    }

    /// Sends a signal to a server that works below some folders, and waits for its end. `None` if it has not ended in
    /// time. The exit status is known only if the server is a child of this process and nothing else has waited for it.
    pub(crate) fn ends_by(self, signal: Signal, folders: &[&Path], patience: Duration) -> Option<Ended> {
        let deadline = Instant::now() + patience;
        self.send(signal);
        becomes_true_by(deadline, || !self.is_alive()).then_some(())?;
        let waited = waitpid(Pid::from_raw(self.pid as i32), WaitOptions::NOHANG).ok().flatten();
        let exit = waited.map(|(_, status)| status);
        let is_clean = exit.is_none_or(|status| status.exit_status() == Some(0));
        becomes_true_by(deadline, || !is_worked_in_any(folders)).then_some(Ended { is_clean })
    }

    /// How it ended, if it is a child that nobody has waited for. Its entry stays, so it can still be waited for.
    pub(crate) fn exit(self) -> Option<ExitStatus> {
        let pid = Pid::from_raw(self.pid as i32)?;
        let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let ended = waitid(WaitId::Pid(pid), look).ok().flatten()?;
        // As wait(2) writes it: the exit status in the second byte, a signal in the first.
        let code = ended.exit_status().map(|status| status << 8).or(ended.terminating_signal())?;
        Some(ExitStatus::from_raw(code))
    }

    fn send(self, signal: Signal) {
        if let Some(pid) = Pid::from_raw(self.pid as i32)
            && self.is_alive()
        {
            // It may have ended meanwhile.
            let _ = kill_process(pid, signal);
        }
    }
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ended {
    /// It ended with success, or its exit status is unknown.
    pub(crate) is_clean: bool,
}

/// Waits for a condition, with a long limit.
fn becomes_true(condition: impl Fn() -> bool) -> bool {
    becomes_true_by(Instant::now() + PATIENCE, condition)
}

/// Waits for a condition, with a short limit.
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

/// Whether a process has its working directory at or below a folder, such as a server's data folder.
pub(crate) fn is_worked_in(folder: &Path) -> bool {
    is_linked("cwd", folder)
}

/// Whether a server works in a folder or below it. A shell there does not count.
pub(crate) fn is_served(folder: &Path) -> bool {
    // Dyno starts some servers by a loader of their own.
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

/// Processes whose working directory is at or below one of some folders.
pub(crate) fn workers(folders: &[&Path]) -> Vec<Pid> {
    folders.iter().flat_map(|folder| linked("cwd", folder)).collect()
}

/// Whether a process is stopped by a signal, and not dead.
pub(crate) fn is_stopped(pid: Pid) -> bool {
    Stat::read(pid.as_raw_nonzero().get().cast_unsigned()).is_ok_and(|stat| stat.state == 'T')
}

/// Whether a process runs a program that is below a folder.
pub(crate) fn is_run_from(folder: &Path) -> bool {
    is_linked("exe", folder)
}

/// Whether a link of some process, see proc(5), leads to a folder or below it.
fn is_linked(link: &str, folder: &Path) -> bool {
    linked(link, folder).next().is_some()
}

/// Processes whose link, see proc(5), leads to a folder or below it.
fn linked(link: &str, folder: &Path) -> impl Iterator<Item = Pid> {
    // These links have symbolic links resolved.
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

    /// The second field is the program's name in parentheses. The name itself may have spaces and parentheses. State,
    /// threads and start are fields 3, 20 and 22.
    fn parse(line: &str) -> Option<Self> {
        let mut fields = line.rsplit_once(')')?.1.split_ascii_whitespace();
        let state = fields.next()?.chars().next()?;
        let threads = fields.nth(16)?.parse().ok()?;
        let started_ticks = fields.nth(1)?.parse().ok()?;
        Some(Self { state, threads, started_ticks })
    }

    /// Whether it is dead and has released its files and locks. While threads of a zombie are still ending, it has not.
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
        // A shell gives what it runs in the background another standard input.
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
        // The child has the other end of the pipe.
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
