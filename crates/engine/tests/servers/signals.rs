//! Signals to servers.

use std::fs;
use std::path::{Path, PathBuf};

use dyno_engine::Server;
use rustix::process::{Pid, Signal, kill_process};

use crate::leftovers::wait_until;

pub(crate) fn send(pid: u32, signal: Signal) {
    kill_process(Pid::from_raw(pid.cast_signed()).unwrap(), signal).unwrap();
}

/// Stops every process of a server, and waits until all their threads have stopped. PostgreSQL's connections are processes
/// of their own.
pub(crate) fn pause(server: &Server) {
    let first = server.access().pid;
    let children = fs::read_to_string(format!("/proc/{first}/task/{first}/children")).unwrap_or_default();
    let children = children.split_whitespace().map(|pid| pid.parse::<u32>().unwrap());
    for pid in children.chain([first]) {
        send(pid, Signal::STOP);
        wait_until("the server has stopped", || threads(pid).iter().all(|thread| is_stopped(thread)));
    }
}

fn threads(pid: u32) -> Vec<PathBuf> {
    fs::read_dir(format!("/proc/{pid}/task")).unwrap().map(|item| item.unwrap().path()).collect()
}

fn is_stopped(thread: &Path) -> bool {
    // A thread that has ended does nothing either.
    fs::read_to_string(thread.join("status")).map_or(true, |status| status.contains("State:\tT"))
}
