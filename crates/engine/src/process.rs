//! Processes that are known by number only.

use std::fs;
use std::io;
use std::process::Child;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};
use serde::{Deserialize, Serialize};

const POLL: Duration = Duration::from_millis(10);
const PATIENCE: Duration = Duration::from_secs(20);

/// One process, not to be mistaken for another that got its number later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ProcessId {
    pid: u32,
    /// When it started, in clock ticks since boot: field 22 of `/proc/PID/stat`, see proc(5).
    started_ticks: u64,
}

impl ProcessId {
    /// The process that has a number now; none if it is dead.
    pub(crate) fn of(pid: u32) -> Option<Self> {
        let (state, started_ticks) = stat(pid).ok()?;
        // A zombie only waits for its parent to notice.
        (state != 'Z').then_some(Self { pid, started_ticks })
    }

    /// A child that was just started and not waited for, so that its number cannot be another's.
    pub(crate) fn of_child(child: &Child) -> io::Result<Self> {
        let pid = child.id();
        Ok(Self { pid, started_ticks: stat(pid)?.1 })
    }

    pub(crate) fn is_alive(self) -> bool {
        Self::of(self.pid) == Some(self)
    }

    /// Ends the process: with a signal, and if that does not help in time, by force.
    pub(crate) fn end(self, signal: Signal) {
        self.send(signal);
        if !self.is_gone_within(PATIENCE) {
            self.send(Signal::KILL);
            // What hangs in the kernel cannot be killed; the caller should not hang with it.
            self.is_gone_within(PATIENCE);
        }
    }

    fn send(self, signal: Signal) {
        if let Some(pid) = Pid::from_raw(self.pid as i32)
            && self.is_alive()
        {
            // It may have ended in the meantime, which is what is wanted.
            let _ = kill_process(pid, signal);
        }
    }

    fn is_gone_within(self, patience: Duration) -> bool {
        let deadline = Instant::now() + patience;
        while self.is_alive() {
            if Instant::now() >= deadline {
                return false;
            }
            std::thread::sleep(POLL);
        }
        // Where it is a child of this process, which is not always so, its entry is cleared.
        let _ = waitpid(Pid::from_raw(self.pid as i32), WaitOptions::NOHANG);
        true
    }
}

/// A process's state and start, fields 3 and 22 of its line.
fn stat(pid: u32) -> io::Result<(char, u64)> {
    let line = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    parse(&line).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// The second field is the program's name in parentheses and may hold spaces and parentheses itself.
fn parse(line: &str) -> Option<(char, u64)> {
    let mut fields = line.rsplit_once(')')?.1.split_ascii_whitespace();
    let state = fields.next()?.chars().next()?;
    Some((state, fields.nth(18)?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn a_process_is_known_until_it_is_ended() {
        let mut child = Command::new("sleep").arg("1000").spawn().unwrap();
        let process = ProcessId::of(child.id()).unwrap();
        assert!(process.is_alive());
        process.end(Signal::TERM);
        assert!(!process.is_alive());
        assert_eq!(ProcessId::of(child.id()), None);
        assert!(child.wait().is_err(), "its entry in the process table was not cleared");
    }

    #[test]
    fn a_later_process_of_the_same_number_is_left_alone() {
        let mut child = Command::new("sleep").arg("1000").spawn().unwrap();
        let mut earlier = ProcessId::of(child.id()).unwrap();
        earlier.started_ticks -= 1;
        earlier.end(Signal::KILL);
        assert!(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
