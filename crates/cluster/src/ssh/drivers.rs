//! Hosts that generate the load of a run. A load process is started on each of them over ssh.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use dyno_lab::DriverHosts;

use super::RemoteDyno;
use super::host::ssh;
use super::prepare::program;

/// Hosts that generate load. A host is addressed by the name under which `ssh` reaches it, such as `ssh://a`. The
/// program is copied to a host when the host is first used.
#[derive(Debug)]
pub struct SshDrivers {
    /// The program to copy.
    program: PathBuf,
    dyno: RemoteDyno,
    /// For each host that was already used, the path of the program there, quoted for the host's shell.
    prepared: Mutex<BTreeMap<String, String>>,
}

impl SshDrivers {
    /// Does not contact a host yet. `program` is the path of the running `dyno`.
    pub fn new(program: PathBuf, dyno: RemoteDyno) -> Self {
        Self { program, dyno, prepared: Mutex::default() }
    }
}

impl DriverHosts for SshDrivers {
    fn command(&self, host: &str) -> Result<Command, String> {
        let mut prepared = self.prepared.lock().unwrap_or_else(PoisonError::into_inner);
        if !prepared.contains_key(host) {
            prepared.insert(host.to_owned(), program(host, &self.program, &self.dyno)?);
        }
        Ok(ssh(host, &format!("exec {} drive", prepared[host])))
    }
}
