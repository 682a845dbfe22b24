//! What may outlive a killed Dyno of a container: the container. It is noted in the server's home before it is made, and
//! whoever removes the home removes it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use rustix::process::Signal;
use serde::{Deserialize, Serialize};

use super::tool::ContainerTool;
use crate::path_error::{At as _, PathError};
use crate::process::ProcessId;
use crate::spawn::{Spawn, spawn};

const NOTE: &str = "container.json";

#[derive(Serialize, Deserialize)]
struct Note {
    tool: PathBuf,
    name: String,
    /// The server, once it is known. The tool would look for it in the container's groups, which it has left.
    server: Option<ProcessId>,
}

/// Notes a container that is about to be made, or to be left by its server.
pub(super) fn note(
    home: &Path,
    tool: &ContainerTool,
    name: &str,
    server: Option<ProcessId>,
) -> Result<(), PathError> {
    let path = home.join(NOTE);
    let note = Note { tool: tool.program().to_owned(), name: name.to_owned(), server };
    let text = serde_json::to_string(&note).map_err(Into::into).at("write", &path)?;
    fs::write(&path, text).at("write", &path)
}

/// Forgets a container that its tool has removed.
pub(crate) fn forget(home: &Path) {
    // If this fails, the tool is asked in vain for a container that is gone.
    let _ = fs::remove_file(home.join(NOTE));
}

/// Removes the container that is noted in a home, with its processes. One that is gone is no error.
pub(crate) fn remove_leftover(home: &Path) {
    let path = home.join(NOTE);
    let Some(note) = fs::read(&path).ok().and_then(|text| serde_json::from_slice::<Note>(&text).ok()) else {
        return;
    };
    if let Some(server) = note.server {
        let data = home.join("data");
        server.kill_with_children(&[home, &data]);
        server.end(Signal::KILL, &[home, &data]);
    }
    let mut command = ContainerTool::at(note.tool).command(&["rm", "--force", &note.name]);
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    // Without the tool nothing can be done, and without the container nothing need be.
    let _ = spawn(Spawn::tied(command)).and_then(|mut child| child.wait());
}
