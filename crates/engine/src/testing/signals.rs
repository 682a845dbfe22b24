//! Signals to servers.

use std::fs;
use std::path::{Path, PathBuf};

pub use rustix::process::Signal;
use rustix::process::{Pid, kill_process};

use super::wait::wait_until;

/// Sends a signal to a process.
///
/// # Panics
/// There is no such process.
pub fn send(pid: u32, signal: Signal) {
    kill_process(Pid::from_raw(pid.cast_signed()).expect("a process"), signal).expect("it lives");
}

/// Stops a server and its children, and waits until every thread has stopped. PostgreSQL has a child for each
/// connection.
///
/// # Panics
/// The server does not stop.
pub fn pause(server: u32) {
    send(server, Signal::STOP);
    wait_until_stopped(server);
    for child in children(server) {
        // An error is ignored, because the child may have ended.
        let _ = kill_process(Pid::from_raw(child.cast_signed()).expect("a process"), Signal::STOP);
        wait_until_stopped(child);
    }
}

/// Continues a paused server and its children.
///
/// # Panics
/// The server has ended.
pub fn go_on(server: u32) {
    for child in children(server) {
        send(child, Signal::CONT);
    }
    send(server, Signal::CONT);
}

fn children(pid: u32) -> Vec<u32> {
    let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children")).unwrap_or_default();
    children.split_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}

fn wait_until_stopped(pid: u32) {
    wait_until("every thread has stopped", || threads(pid).iter().all(|thread| is_stopped(thread)));
}

/// The threads of a process. A process that has ended has none.
fn threads(pid: u32) -> Vec<PathBuf> {
    let folder = fs::read_dir(format!("/proc/{pid}/task"));
    folder.into_iter().flatten().filter_map(|thread| Some(thread.ok()?.path())).collect()
}

/// Whether a thread is stopped, dead, or gone.
fn is_stopped(thread: &Path) -> bool {
    let status = fs::read_to_string(thread.join("status")).unwrap_or_default();
    let state = status.lines().find_map(|line| line.strip_prefix("State:\t"));
    state.is_none_or(|state| state.starts_with(['T', 't', 'Z', 'X']))
}
