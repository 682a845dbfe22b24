//! Freezes the processes of a server: none of them runs until they are thawed.
//!
//! The processes are stopped by SIGSTOP. A cgroup's freezer would need root and a group for each server, and a
//! process that version 1 has frozen does not even die of SIGKILL. A stopped process dies of SIGKILL, so a frozen
//! server cannot outlive its run.

use std::collections::BTreeSet;
use std::fs;
use std::os::fd::{AsFd as _, OwnedFd};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, kill_process, pidfd_open, pidfd_send_signal, waitid,
};

use crate::processes::counters::descendants;

/// Number of searches for descendants. The second search finds a process that was being forked during the first.
const LOOKS: usize = 2;

/// Time limit for processes to stop. A thread stops when it next gets a core, or later if the kernel is working for
/// it.
const STOPPING: Duration = Duration::from_millis(5);
const POLL: Duration = Duration::from_micros(50);

/// A process with its descendants, which either run or are frozen. Dropping the freezer thaws them.
#[derive(Debug)]
pub struct Freezer {
    pid: u32,
    /// A handle that never refers to another process, even if the id is reused.
    root: OwnedFd,
    is_frozen: bool,
    /// The descendants that were stopped. Their parents are stopped too and cannot reap them, so their process ids
    /// are not reused.
    descendants: BTreeSet<u32>,
}

impl Freezer {
    /// A freezer for a running process. `None` if the process has ended, or if the kernel has no handles of
    /// processes (before Linux 5.3).
    pub fn of(pid: u32) -> Option<Self> {
        let root = pidfd_open(Pid::from_raw(pid.cast_signed())?, PidfdFlags::empty()).ok()?;
        Some(Self { pid, root, is_frozen: false, descendants: BTreeSet::new() })
    }

    /// Stops all processes, and waits at most a few ms until they have stopped. Returns false if the process at the
    /// root has ended, or if this user may not stop one of the processes. In these cases no process stays stopped.
    ///
    /// A process may have requested work from the kernel before, such as syncing a file. The kernel continues this
    /// work.
    pub fn freeze(&mut self) -> bool {
        if pidfd_send_signal(&self.root, Signal::STOP).is_err() {
            return false;
        }
        self.is_frozen = true;
        for _ in 0..LOOKS {
            for pid in descendants(self.pid) {
                if self.descendants.insert(pid) && !send(pid, Signal::STOP) {
                    self.thaw();
                    return false;
                }
            }
        }
        let deadline = Instant::now() + STOPPING;
        let stop_by = |has_stopped: &dyn Fn() -> bool| {
            while !has_stopped() && Instant::now() < deadline {
                thread::sleep(POLL);
            }
        };
        stop_by(&|| self.root_has_stopped());
        self.descendants.iter().for_each(|pid| stop_by(&|| !matches!(state(*pid), Some('R' | 'S' | 'D'))));
        true
    }

    /// Whether the process at the root has stopped with all of its threads. The kernel reports this only to the
    /// parent of that process. Any other process sees only the state of the first thread.
    fn root_has_stopped(&self) -> bool {
        let look = WaitIdOptions::STOPPED | WaitIdOptions::NOHANG;
        match waitid(WaitId::PidFd(self.root.as_fd()), look) {
            Ok(stopped) => stopped.is_some(),
            Err(_) => state(self.pid) == Some('T'),
        }
    }

    /// Lets all processes continue. Does nothing if they are not frozen.
    pub fn thaw(&mut self) {
        if !std::mem::take(&mut self.is_frozen) {
            return;
        }
        for pid in std::mem::take(&mut self.descendants) {
            send(pid, Signal::CONT);
        }
        // An error is ignored, because it means that the process was killed meanwhile.
        let _ = pidfd_send_signal(&self.root, Signal::CONT);
    }
}

impl Drop for Freezer {
    fn drop(&mut self) {
        self.thaw();
    }
}

/// Sends a signal to a process, which may have ended. Returns false if this user may not send it.
fn send(pid: u32, signal: Signal) -> bool {
    let sent = Pid::from_raw(pid.cast_signed()).map(|pid| kill_process(pid, signal));
    sent != Some(Err(rustix::io::Errno::PERM))
}

/// The state of a process, or of its first thread if it has several: `T` is stopped (proc(5)). `None` if it
/// has ended.
fn state(pid: u32) -> Option<char> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(") ")?.1.chars().next()
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader};
    use std::process::{Child, ChildStdout, Command, Stdio};

    use super::*;

    /// A shell and its child. Each prints a word, then computes without end.
    struct Busy {
        shell: Child,
        output: BufReader<ChildStdout>,
    }

    const SCRIPT: &str = "(echo child; while :; do :; done) & echo shell; while :; do :; done";

    impl Busy {
        fn start() -> Self {
            let mut command = Command::new("sh");
            let mut shell = command.args(["-c", SCRIPT]).stdout(Stdio::piped()).spawn().unwrap();
            let mut output = BufReader::new(shell.stdout.take().unwrap());
            for _ in 0..2 {
                assert!(output.read_line(&mut String::new()).unwrap() > 0);
            }
            Self { shell, output }
        }

        fn all(&self) -> Vec<u32> {
            let mut all = descendants(self.shell.id());
            all.push(self.shell.id());
            assert_eq!(all.len(), 2);
            all
        }

        /// Waits until both processes are in one of some states of `/proc/pid/stat` (proc(5)).
        fn become_any_of(&self, states: &[char]) {
            while !self.all().iter().all(|pid| states.contains(&state(*pid).unwrap())) {
                std::thread::yield_now();
            }
        }
    }

    impl Drop for Busy {
        fn drop(&mut self) {
            for pid in descendants(self.shell.id()) {
                send(pid, Signal::KILL);
            }
            let _ = self.shell.kill();
            self.shell.wait().unwrap();
            // The child also holds the writing end of the pipe. The pipe ends here, so the child has ended.
            assert_eq!(self.output.read_line(&mut String::new()).unwrap(), 0);
        }
    }

    #[test]
    fn a_process_and_its_child_stop_until_they_are_thawed() {
        let busy = Busy::start();
        let mut freezer = Freezer::of(busy.shell.id()).unwrap();
        for _ in 0..20 {
            assert!(freezer.freeze());
            busy.become_any_of(&['T']);
            freezer.thaw();
            busy.become_any_of(&['R', 'S']);
        }
    }

    #[test]
    fn what_is_frozen_is_thawed_when_its_freezer_is_dropped() {
        let busy = Busy::start();
        let mut freezer = Freezer::of(busy.shell.id()).unwrap();
        assert!(freezer.freeze() && freezer.freeze());
        busy.become_any_of(&['T']);
        drop(freezer);
        busy.become_any_of(&['R', 'S']);
    }

    #[test]
    fn a_frozen_process_can_be_killed_and_its_child_goes_on() {
        let mut busy = Busy::start();
        let mut freezer = Freezer::of(busy.shell.id()).unwrap();
        assert!(freezer.freeze());
        busy.become_any_of(&['T']);
        let [child] = descendants(busy.shell.id())[..] else { panic!("{:?}", busy.all()) };
        busy.shell.kill().unwrap();
        busy.shell.wait().unwrap();
        assert_eq!(state(child), Some('T'));
        freezer.thaw();
        while state(child) == Some('T') {
            std::thread::yield_now();
        }
        assert!(send(child, Signal::KILL));
        assert!(!freezer.freeze(), "it has ended");
        assert!(Freezer::of(busy.shell.id()).is_none());
    }
}
