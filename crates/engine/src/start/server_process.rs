//! The process of a server, perhaps in a container.

use std::io;
use std::path::Path;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde::{Deserialize, Serialize};

use crate::container::status_inside;
use crate::machine::process::{Ended, ProcessId, becomes};

/// Time limit for the tool of a container to remove the container after its server has ended.
const CLEARING: Duration = Duration::from_secs(20);

/// Exit status of podman and docker if the tool itself has failed, rather than the program in the container
/// (docker-run(1)).
const TOOL_FAILED: i32 = 125;

/// The process of a server. For a server in a container, also the process of the container's tool, which waits for the
/// server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ServerProcess {
    #[serde(flatten)]
    server: ProcessId,
    #[serde(default)]
    tool: Option<ProcessId>,
}

impl ServerProcess {
    /// Returns the process of a child that nobody has waited for.
    pub(crate) fn of_child(child: &Child) -> io::Result<Self> {
        Ok(Self { server: ProcessId::of_child(child)?, tool: None })
    }

    /// Returns the process of a server in a container. `tool` is the `podman` or `docker` that runs the container. Dyno
    /// must have started it as a child.
    pub(crate) fn in_container(pid: u32, tool: &Child) -> io::Result<Self> {
        let server = ProcessId::of(pid).ok_or(io::ErrorKind::NotFound)?;
        Ok(Self { server, tool: Some(ProcessId::of_child(tool)?) })
    }

    pub(crate) fn pid(self) -> u32 {
        self.server.pid()
    }

    pub(crate) fn is_alive(self) -> bool {
        self.server.is_alive()
    }

    /// Sends a signal to end a server that works in `folders` or below them. If the server does not end in time, kills
    /// it by SIGKILL. Also waits for the server's children, and for the removal of its container, unless the
    /// container's tool hangs.
    pub(crate) fn end(self, signal: Signal, folders: &[&Path]) -> ContainerIs {
        self.server.end(signal, folders);
        let Some(tool) = self.tool else { return ContainerIs::Gone };
        becomes(CLEARING, || !tool.is_alive());
        // A tool that failed or was killed has not removed the container.
        let is_removed = tool.exit().and_then(|status| status.code()).is_some_and(|code| code != TOOL_FAILED);
        // If the tool is a child of this process, `ends_within` also removes its entry in the process table.
        let has_ended = tool.ends_within(Duration::ZERO);
        if has_ended && is_removed { ContainerIs::Gone } else { ContainerIs::Left }
    }

    /// Sends SIGKILL to a server that works in `folders` or below them, and to its children. Does not wait for their
    /// end.
    pub(crate) fn kill_with_children(self, folders: &[&Path]) {
        self.server.kill_with_children(folders);
    }

    /// Sends a signal to a server that works in `folders` or below them, and waits until it has ended. Returns `None`
    /// if it has not ended in time.
    pub(crate) fn ends_by(self, signal: Signal, folders: &[&Path], patience: Duration) -> Option<Ended> {
        let deadline = Instant::now() + patience;
        let ended = self.server.ends_by(signal, folders, patience)?;
        let Some(tool) = self.tool else { return Some(ended) };
        let left = deadline.saturating_duration_since(Instant::now()).max(CLEARING);
        becomes(left, || !tool.is_alive());
        Some(Ended { is_clean: tool.exit().is_none_or(|status| status.success()) })
    }

    /// Returns the exit status of the server. It is known only if the server, or its container's tool, is a child of
    /// this process, and nobody has waited for it yet.
    pub(crate) fn exit(self) -> Option<ExitStatus> {
        let Some(tool) = self.tool else { return self.server.exit() };
        becomes(CLEARING, || !tool.is_alive());
        tool.exit().map(status_inside)
    }
}

/// The state of the container after its server was ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ContainerIs {
    /// There is no container, or it is removed.
    Gone,
    /// The container must be removed.
    Left,
}
