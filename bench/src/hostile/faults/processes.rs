//! The descendants of this process. Orphaned descendants become children of this process. Therefore the list is
//! complete, and contains no foreign process.

use std::fs;
use std::io;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// A live process.
#[derive(Clone, Debug)]
pub(super) struct Process {
    pub(super) pid: i32,
    pub(super) parent: i32,
    pub(super) command: String,
}

/// Makes orphaned descendants become children of this process (prctl(2), `PR_SET_CHILD_SUBREAPER`).
pub(super) fn adopt_orphans() -> io::Result<()> {
    // SAFETY: prctl with these arguments takes no pointer.
    match unsafe { libc::prctl(libc::PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Returns all live descendants of a process, parents before their children.
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
        // proc(5): the program's name is in parentheses, and may itself contain any character.
        let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
        let state = fields.next()?;
        let parent = fields.next()?.parse().ok()?;
        let command = fs::read(entry.path().join("cmdline")).ok()?;
        let command = String::from_utf8_lossy(&command).replace('\0', " ");
        (state != "Z").then_some(Process { pid, parent, command })
    })
}

/// Waits until this process has no live descendants, or until the time is over. Returns the descendants that
/// remain.
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

/// Kills all descendants.
pub(super) fn end_all() {
    for process in descendants(own_pid()) {
        send(libc::SIGKILL, process.pid);
    }
    gone_within(Duration::from_secs(10));
}

/// Reaps children that have ended. It must not be called while a [`std::process::Child`] is still to be waited for.
fn reap() {
    // SAFETY: a null status is allowed (waitpid(2)).
    while unsafe { libc::waitpid(-1, std::ptr::null_mut(), libc::WNOHANG) } > 0 {}
}

/// Sends a signal to a process, or to a process group if the number is negative. Does nothing if the process has
/// ended.
pub(super) fn send(signal: i32, pid: i32) {
    // SAFETY: kill takes no pointer.
    unsafe { libc::kill(pid, signal) };
}

fn own_pid() -> i32 {
    std::process::id().cast_signed()
}

/// Returns which files below a folder a process has mapped into its memory.
pub(super) fn mapped_in(pid: i32, folder: &Path) -> Vec<String> {
    let folder = format!("{}/", folder.display());
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
    let paths = maps.lines().filter_map(|line| line.find(&folder).map(|at| line[at..].to_owned()));
    paths.filter(|path| !path.ends_with(" (deleted)")).collect()
}
