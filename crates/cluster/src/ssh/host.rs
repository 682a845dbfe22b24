//! A task on a host.

use std::fs::{self, File};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};

use crate::error::ClusterError;
use crate::folder::{Folder, last_line};
use dyno_printable::quote;

/// ssh's own exit status when a connection fails or breaks; ssh(1), "EXIT STATUS".
const CONNECTION_FAILED: i32 = 255;

/// Options of ssh. ssh must not ask on the terminal, and must notice within a minute that a host is gone.
const OPTIONS: [&str; 9] = [
    "-T",
    "-o",
    "BatchMode=yes",
    "-o",
    "ConnectTimeout=15",
    "-o",
    "ServerAliveInterval=15",
    "-o",
    "ServerAliveCountMax=3",
];

/// The `ssh` command that runs a script on a host with a POSIX shell.
pub(super) fn ssh(host: &str, script: &str) -> Command {
    let mut command = Command::new("ssh");
    // After `--`, ssh does not read a host's name as an option, whatever the name begins with.
    command.args(OPTIONS).args(["--", host]).arg(remote(script));
    // ^C on the terminal is meant for this process, which then stops the tasks in an orderly way.
    command.process_group(0);
    command
}

/// The command of [`ssh`] as text, to show to users.
pub(super) fn shown(host: &str, script: &str) -> String {
    format!("ssh {} -- {} {}", OPTIONS.join(" "), quote(host), quote(&remote(script)))
}

/// Returns a command that runs the script with `sh`. ssh passes the command to the user's shell on the host, which
/// may be any shell.
fn remote(script: &str) -> String {
    format!("exec sh -c {}", quote(script))
}

/// A round that a host is running.
#[derive(Debug)]
pub(super) struct Running {
    pub(super) round: u32,
    child: Child,
    /// The task ends when this pipe is closed.
    stdin: Option<ChildStdin>,
    /// The file that receives the results. It is renamed to `file` when it is complete.
    part: PathBuf,
    file: PathBuf,
    log: PathBuf,
}

/// How a task ended.
pub(super) enum Ended {
    Delivered {
        file: PathBuf,
    },
    /// The connection failed or broke.
    Gone {
        reason: String,
    },
    Failed {
        reason: String,
    },
}

impl Running {
    /// Starts a task. `line` is the task's command for the host's shell.
    pub(super) fn start(host: &str, line: &str, round: u32, folder: &Folder) -> Result<Self, ClusterError> {
        let file = folder.round(&round.to_string());
        let part = file.with_extension(format!("{}.part", host.replace('/', "_")));
        let log = folder.logs().join(format!("round-{round}.{}.log", host.replace('/', "_")));
        let create = |path: &PathBuf| {
            File::create(path).map_err(|source| ClusterError::Folder { path: path.clone(), source })
        };
        let mut child = ssh(host, line)
            .stdin(Stdio::piped())
            .stdout(create(&part)?)
            .stderr(create(&log)?)
            .spawn()
            .map_err(|source| ClusterError::NoTool { program: "ssh", source })?;
        let stdin = child.stdin.take();
        Ok(Self { round, child, stdin, part, file, log })
    }

    /// Returns how the task ended. `None` while it runs.
    pub(super) fn ended(&mut self) -> Option<Ended> {
        let status = match self.child.try_wait() {
            Ok(status) => status?,
            Err(error) => {
                return Some(Ended::Failed { reason: format!("ssh cannot be waited for: {error}") });
            }
        };
        if status.success() {
            return Some(match fs::rename(&self.part, &self.file) {
                Ok(()) => Ended::Delivered { file: self.file.clone() },
                Err(error) => Ended::Failed { reason: format!("its file cannot be kept: {error}") },
            });
        }
        let _ = fs::remove_file(&self.part);
        let reason = last_line(&self.log).unwrap_or_else(|| status.to_string());
        Some(if is_gone(status) { Ended::Gone { reason } } else { Ended::Failed { reason } })
    }

    /// Tells the task to end, by closing its standard input.
    pub(super) fn stop(&mut self) {
        self.stdin = None;
    }

    pub(super) fn has_ended(&mut self) -> bool {
        !matches!(self.child.try_wait(), Ok(None))
    }

    /// Kills ssh, which ends the connection, and removes the incomplete results file.
    pub(super) fn kill(&mut self) {
        // An error is ignored, because ssh may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = fs::remove_file(&self.part);
    }
}

/// Whether ssh lost its host: ssh has exited with [`CONNECTION_FAILED`], or a signal has killed it.
fn is_gone(status: ExitStatus) -> bool {
    status.code().is_none_or(|code| code == CONNECTION_FAILED)
}
