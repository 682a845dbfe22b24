//! Ends servers whose owner was killed, even if the servers are stopped (`SIGSTOP`).
//!
//! A server gets a signal when its owner dies. PostgreSQL does not get SIGKILL, because SIGKILL would leave its shared
//! memory behind. A stopped process reacts to other signals only after it continues. The kernel continues the stopped
//! processes of a session if the session has no parent process left to continue them (`kill_orphaned_pgrp` of
//! `kernel/exit.c`). In some containers the session still has such a parent, so Dyno continues the processes itself.

use std::fs;
use std::path::Path;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};

use crate::cache::home::Home;
use crate::machine::path_error::{At as _, PathError};
use crate::machine::process::{ProcessId, becomes, is_stopped, workers};

const OWNER: &str = "owner.json";

/// Time limit for a server to end after it continues. PostgreSQL kills its own processes after 5 s.
const PATIENCE: Duration = Duration::from_secs(10);

/// Records in a home that this process owns the home and its server. The server ends when this process ends.
pub(crate) fn note_owner(home: &Home) -> Result<(), PathError> {
    let owner = ProcessId::of(std::process::id());
    let text = serde_json::to_string(&owner).map_err(Into::into).at("write", home.folder())?;
    home.write_secret(OWNER, &text).map(drop)
}

/// Ends the stopped processes of a server whose owner is dead, and waits until the server has ended. Returns true if
/// the owner is dead and a server worked in the home, and this server has now ended.
pub(crate) fn end_orphan(home: &Path, data: &Path) -> bool {
    let owner =
        fs::read(home.join(OWNER)).ok().and_then(|text| serde_json::from_slice::<ProcessId>(&text).ok());
    if owner.is_none_or(ProcessId::is_alive) {
        return false;
    }
    let places = [home, data];
    let working = workers(&places);
    let stopped: Vec<Pid> = working.iter().copied().filter(|pid| is_stopped(*pid)).collect();
    let is_over = || !workers(&places).iter().any(|pid| stopped.contains(pid));
    for signal in [Signal::CONT, Signal::KILL] {
        for pid in &stopped {
            // An error is ignored, because the process may have ended meanwhile.
            let _ = kill_process(*pid, signal);
        }
        if becomes(PATIENCE, is_over) {
            break;
        }
    }
    // Processes of the server that were not stopped got a signal when their owner died, so they end by themselves.
    !working.is_empty() && becomes(PATIENCE, || workers(&places).is_empty())
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command};

    use super::*;
    use crate::cache::home::remove_dead_homes;

    /// Starts a process in a home, stops it (`SIGSTOP`), and sends it the signal that a server gets when its owner
    /// dies.
    fn stopped(home: &Path) -> Child {
        let server = Command::new("sleep").arg("1000").current_dir(home).spawn().unwrap();
        let pid = Pid::from_child(&server);
        kill_process(pid, Signal::STOP).unwrap();
        while !is_stopped(pid) {
            std::thread::yield_now();
        }
        kill_process(pid, Signal::TERM).unwrap();
        server
    }

    #[test]
    fn a_stopped_server_without_an_owner_is_ended_and_its_home_removed() {
        let parent = tempfile::tempdir().unwrap();
        let home = Home::create_in(parent.path()).unwrap();
        let mut owner = Command::new("sleep").arg("1000").spawn().unwrap();
        let note = serde_json::to_string(&ProcessId::of(owner.id())).unwrap();
        home.write_secret(OWNER, &note).unwrap();
        let mut server = stopped(home.folder());
        remove_dead_homes(parent.path()).unwrap();
        assert!(
            server.try_wait().unwrap().is_none() && is_stopped(Pid::from_child(&server)),
            "it has an owner"
        );

        owner.kill().unwrap();
        owner.wait().unwrap();
        remove_dead_homes(parent.path()).unwrap();
        assert!(!server.wait().unwrap().success());
        assert!(!home.folder().exists());
    }

    #[test]
    fn a_server_that_is_ending_without_an_owner_is_waited_for() {
        let parent = tempfile::tempdir().unwrap();
        let home = Home::create_in(parent.path()).unwrap();
        let mut owner = Command::new("true").spawn().unwrap();
        let note = serde_json::to_string(&ProcessId::of_child(&owner).unwrap()).unwrap();
        home.write_secret(OWNER, &note).unwrap();
        owner.wait().unwrap();
        let is_removed_with_server = || {
            let mut server = Command::new("sleep").arg("1").current_dir(home.folder()).spawn().unwrap();
            std::thread::spawn(move || server.wait());
            remove_dead_homes(parent.path()).unwrap();
            !home.folder().exists()
        };
        // On a busy host, a server may end before `end_orphan` finds it. Then its home is not removed, because this
        // process holds the home's lock.
        assert!((0..10).any(|_| is_removed_with_server()));
    }

    #[test]
    fn the_home_of_a_process_is_its_own() {
        let parent = tempfile::tempdir().unwrap();
        let home = Home::create_in(parent.path()).unwrap();
        let mut server = stopped(home.folder());
        assert!(!end_orphan(home.folder(), &home.data()));
        assert!(is_stopped(Pid::from_child(&server)));
        server.kill().unwrap();
        server.wait().unwrap();
    }
}
