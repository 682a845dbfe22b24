//! Hosts that generate the load of a run: a load process is started on each over ssh.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use dyno_lab::DriverHosts;

use super::RemoteDyno;
use super::host::ssh;
use super::prepare::program;

/// Hosts by their names for ssh, such as `ssh://a`. Each gets its program when it is first used.
#[derive(Debug)]
pub struct SshDrivers {
    /// The program to copy.
    program: PathBuf,
    dyno: RemoteDyno,
    /// The word of the host's shell for its program.
    prepared: Mutex<BTreeMap<String, String>>,
}

impl SshDrivers {
    /// Hosts that were not contacted yet. `program` is this `dyno`.
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
