//! The process of a server, which may be in a container.

use std::io;
use std::path::Path;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde::{Deserialize, Serialize};

use crate::container::status_inside;
use crate::machine::process::{Ended, ProcessId, becomes};

/// Time limit for the tool of a container to remove it after its server has ended.
const CLEARING: Duration = Duration::from_secs(20);

/// Exit status of podman and docker when they, not the program in the container, have failed (docker-run(1)).
const TOOL_FAILED: i32 = 125;

/// The process of a server, and the tool that waits for it if it is in a container.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ServerProcess {
    #[serde(flatten)]
    server: ProcessId,
    #[serde(default)]
    tool: Option<ProcessId>,
}

impl ServerProcess {
    /// A child that was not waited for.
    pub(crate) fn of_child(child: &Child) -> io::Result<Self> {
        Ok(Self { server: ProcessId::of_child(child)?, tool: None })
    }

    /// A process in a container, of which this process's child is the tool.
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

    /// Stops a server that works below some folders: by a signal, then by SIGKILL. Then its children have ended too, and
    /// its container is gone unless its tool hangs.
    pub(crate) fn end(self, signal: Signal, folders: &[&Path]) -> ContainerIs {
        self.server.end(signal, folders);
        let Some(tool) = self.tool else { return ContainerIs::Gone };
        becomes(CLEARING, || !tool.is_alive());
        // A tool that failed by itself, or was killed, has not removed it.
        let is_removed = tool.exit().and_then(|status| status.code()).is_some_and(|code| code != TOOL_FAILED);
        // Waits for it as a child.
        let has_ended = tool.ends_within(Duration::ZERO);
        if has_ended && is_removed { ContainerIs::Gone } else { ContainerIs::Left }
    }

    /// Sends SIGKILL to a server that works below some folders and to its children, without waiting.
    pub(crate) fn kill_with_children(self, folders: &[&Path]) {
        self.server.kill_with_children(folders);
    }

    /// Sends a signal to a server that works below some folders, and waits for its end; none if it has not ended in time.
    pub(crate) fn ends_by(self, signal: Signal, folders: &[&Path], patience: Duration) -> Option<Ended> {
        let deadline = Instant::now() + patience;
        let ended = self.server.ends_by(signal, folders, patience)?;
        let Some(tool) = self.tool else { return Some(ended) };
        let left = deadline.saturating_duration_since(Instant::now()).max(CLEARING);
        becomes(left, || !tool.is_alive());
        Some(Ended { is_clean: tool.exit().is_none_or(|status| status.success()) })
    }

    /// How it ended, if it is a child of this process that was not waited for, or its tool is.
    pub(crate) fn exit(self) -> Option<ExitStatus> {
        let Some(tool) = self.tool else { return self.server.exit() };
        becomes(CLEARING, || !tool.is_alive());
        tool.exit().map(status_inside)
    }
}

/// What became of the container of a server that was ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ContainerIs {
    /// There is none, or none any more.
    Gone,
    /// It has to be removed.
    Left,
}
