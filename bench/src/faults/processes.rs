//! Our descendants. What a killed process leaves becomes ours, so nothing of ours is missed, and nothing of others is
//! taken for ours.

use std::fs;
use std::io;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// A process that lives.
#[derive(Clone, Debug)]
pub(super) struct Process {
    pub(super) pid: i32,
    pub(super) parent: i32,
    pub(super) command: String,
}

/// Has orphans of our descendants become our children (prctl(2), `PR_SET_CHILD_SUBREAPER`).
pub(super) fn adopt_orphans() -> io::Result<()> {
    // SAFETY: prctl with these arguments takes no pointer.
    match unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// All that live below a process, parents before their children.
pub(super) fn descendants(of: i32) -> Vec<Process> {
    let all: Vec<Process> = all().collect();
    let mut found: Vec<Process> = Vec::new();
    let mut parents = vec![of];
    while let Some(parent) = parents.pop() {
        for process in all.iter().filter(|process| process.parent == parent) {
            parents.push(process.pid);
            found.push(process.clone());
        }
    }
    found
}

fn all() -> impl Iterator<Item = Process> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| {
        let pid = entry.file_name().to_str()?.parse().ok()?;
        let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
        // proc(5): the name stands in brackets and may contain any.
        let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
        let state = fields.next()?;
        let parent = fields.next()?.parse().ok()?;
        let command = fs::read(entry.path().join("cmdline")).ok()?;
        let command = String::from_utf8_lossy(&command).replace('\0', " ");
        (state != "Z").then_some(Process { pid, parent, command })
    })
}

/// Waits until nothing of ours lives, and gives what does not end.
pub(super) fn gone_within(patience: Duration) -> Vec<Process> {
    let began = Instant::now();
    loop {
        reap();
        let left = descendants(own_pid());
        if left.is_empty() || began.elapsed() > patience {
            return left;
        }
        thread::sleep(Duration::from_millis(20));
    }
}

/// Ends all that we started.
pub(super) fn end_all() {
    for process in descendants(own_pid()) {
        send(libc::SIGKILL, process.pid);
    }
    gone_within(Duration::from_secs(10));
}

/// Takes notice of children that have ended. Only while none is waited for by its handle.
fn reap() {
    // SAFETY: a null status is allowed (waitpid(2)).
    while unsafe { libc::waitpid(-1, std::ptr::null_mut(), libc::WNOHANG) } > 0 {}
}

/// Sends a signal to a process, or to a group if the number is negative. One that has ended is no error.
pub(super) fn send(signal: i32, pid: i32) {
    // SAFETY: kill takes no pointer.
    unsafe { libc::kill(pid, signal) };
}

fn own_pid() -> i32 {
    std::process::id().cast_signed()
}

/// What a process has mapped in a folder.
pub(super) fn mapped_in(pid: i32, folder: &Path) -> Vec<String> {
    let folder = format!("{}/", folder.display());
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
    let paths = maps.lines().filter_map(|line| line.find(&folder).map(|at| line[at..].to_owned()));
    paths.filter(|path| !path.ends_with(" (deleted)")).collect()
}
