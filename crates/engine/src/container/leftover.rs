//! Removes containers that outlived a killed Dyno. Before a container is made, it is recorded in the home folder of its
//! server. Whoever removes that folder removes the container too.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::process::Signal;
use serde::{Deserialize, Serialize};

use super::tool::ContainerTool;
use crate::machine::path_error::{At as _, PathError};
use crate::machine::process::ProcessId;

const NOTE: &str = "container.json";

#[derive(Serialize, Deserialize)]
struct Note {
    tool: PathBuf,
    name: String,
    /// The server's process, once it is known. The tool cannot find this process, because the process has left the
    /// container's control groups.
    server: Option<ProcessId>,
}

/// Records a container before the container is made. A second call adds the server's process, before that process
/// leaves the container's control groups.
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

/// Removes the record of a container that is gone.
pub(crate) fn forget(home: &Path) {
    // An error is ignored: a later removal then asks the tool to remove a container that is gone, which is harmless.
    let _ = fs::remove_file(home.join(NOTE));
}

/// Removes the container that is recorded in a home, its processes, and the record. Also succeeds if there is no such
/// container any more.
///
/// # Errors
/// The container may still exist. Its record is kept.
pub(crate) fn remove_leftover(home: &Path) -> Result<(), PathError> {
    let path = home.join(NOTE);
    let Some(note) = fs::read(&path).ok().and_then(|text| serde_json::from_slice::<Note>(&text).ok()) else {
        return Ok(());
    };
    if let Some(server) = note.server {
        let data = home.join("data");
        server.kill_with_children(&[home, &data]);
        server.end(Signal::KILL, &[home, &data]);
    }
    let tool = ContainerTool::at(note.tool);
    let removed = tool.output(tool.command(&["rm", "--force", &note.name]));
    let refused = match removed {
        Ok(output) if output.is_success() => None,
        // podman and docker print the same message.
        Ok(output) if output.errors.to_ascii_lowercase().contains("no such container") => None,
        Ok(output) => Some(tool.failed(&format!("remove the container {}", note.name), &output)),
        // If the tool cannot be run, the container cannot be removed, and this is not reported as an error.
        Err(_) => None,
    };
    match refused {
        None => {
            forget(home);
            Ok(())
        }
        Some(error) => Err(io::Error::other(error)).at("remove the container of", home),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

    use super::*;

    /// Removes a container with a fake container tool, which runs `script`.
    fn removed_by(script: &str) -> (Result<(), PathError>, bool) {
        let home = tempfile::tempdir().unwrap();
        let program = home.path().join("podman");
        fs::write(&program, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        note(home.path(), &ContainerTool::at(program), "dyno-1", None).unwrap();
        let outcome = remove_leftover(home.path());
        (outcome, home.path().join(NOTE).exists())
    }

    #[test]
    fn a_container_is_forgotten_once_it_is_gone() {
        for script in ["exit 0", "echo 'Error: no such container dyno-1' >&2; exit 1"] {
            let (outcome, is_noted) = removed_by(script);
            assert!(outcome.is_ok() && !is_noted, "{outcome:?}");
        }
    }

    #[test]
    fn a_container_that_cannot_be_removed_stays_noted() {
        let (outcome, is_noted) = removed_by("echo 'Error: the daemon does not answer' >&2; exit 1");
        let error = outcome.unwrap_err().to_string();
        assert!(error.contains("podman cannot remove the container dyno-1: Error: the daemon"), "{error}");
        assert!(is_noted);
    }
}
