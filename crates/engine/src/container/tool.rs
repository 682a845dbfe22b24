//! The program of this machine that runs containers: podman or docker.

use std::env;
use std::fs::File;
use std::io::{self, Read as _, Seek as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};

use super::error::ImageError;
use crate::machine::lines;
use crate::machine::spawn::{Spawn, spawn};
use crate::source::is_installed;

const NAMED_BY: &str = "DYNO_CONTAINER_TOOL";

/// `podman` or `docker`, or another program that takes the same arguments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ContainerTool {
    program: PathBuf,
}

/// The output of a command of the tool, and whether the command succeeded.
pub(super) struct Output {
    status: ExitStatus,
    /// The command's standard output.
    pub(super) text: String,
    /// The command's standard error.
    pub(super) errors: String,
}

impl ContainerTool {
    /// Finds the tool: the program that the environment names, otherwise podman, otherwise docker.
    pub(super) fn find() -> Result<Self, ImageError> {
        let named = env::var_os(NAMED_BY).filter(|name| !name.is_empty()).map(PathBuf::from);
        let installed = || ["podman", "docker"].into_iter().find(|name| is_installed(name));
        let found = named.or_else(|| installed().map(PathBuf::from));
        found.map(|program| Self { program }).ok_or(ImageError::NoTool)
    }

    pub(super) fn at(program: PathBuf) -> Self {
        Self { program }
    }

    pub(super) fn program(&self) -> &Path {
        &self.program
    }

    /// The name of the program's file, such as `podman`.
    pub(super) fn name(&self) -> String {
        self.program.file_name().unwrap_or(self.program.as_os_str()).to_string_lossy().into_owned()
    }

    /// Whether the tool has the options that only podman has.
    pub(super) fn is_podman(&self) -> bool {
        !self.name().contains("docker")
    }

    pub(super) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments);
        command
    }

    /// Runs a command of the tool to its end.
    pub(super) fn output(&self, mut command: Command) -> Result<Output, ImageError> {
        let unusable = |source| ImageError::Tool { tool: self.program.clone(), source };
        let (text, errors) =
            (tempfile::tempfile().map_err(unusable)?, tempfile::tempfile().map_err(unusable)?);
        command.stdin(Stdio::null());
        command.stdout(text.try_clone().map_err(unusable)?).stderr(errors.try_clone().map_err(unusable)?);
        let status = spawn(Spawn::tied(command)).and_then(|mut child| child.wait()).map_err(unusable)?;
        Ok(Output { status, text: read(text).map_err(unusable)?, errors: read(errors).map_err(unusable)? })
    }

    /// Runs a command and returns its output. If the command fails, the error names the command's purpose (`action`).
    pub(super) fn succeed(&self, command: Command, action: &str) -> Result<String, ImageError> {
        let output = self.output(command)?;
        if output.is_success() { Ok(output.text) } else { Err(self.failed(action, &output)) }
    }

    pub(super) fn failed(&self, action: &str, output: &Output) -> ImageError {
        let complaint = lines::last(output.errors.as_bytes(), 1).pop();
        ImageError::Failed {
            tool: self.name(),
            action: action.to_owned(),
            complaint: complaint.unwrap_or_else(|| output.status.to_string()),
        }
    }
}

impl Output {
    pub(super) fn is_success(&self) -> bool {
        self.status.success()
    }
}

fn read(mut file: File) -> io::Result<String> {
    file.rewind()?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tool_that_fails_has_its_last_line_shown() {
        let tool = ContainerTool::at("sh".into());
        let failing = tool.command(&["-c", "echo one >&2; echo 'Error: no such host' >&2; exit 125"]);
        let error = tool.succeed(failing, "pull the image x").unwrap_err();
        assert_eq!(error.to_string(), "sh cannot pull the image x: Error: no such host");
        let silent = tool.succeed(tool.command(&["-c", "exit 3"]), "x").unwrap_err();
        assert_eq!(silent.to_string(), "sh cannot x: exit status: 3");
        assert_eq!(tool.succeed(tool.command(&["-c", "echo found"]), "x").unwrap(), "found\n");
    }

    #[test]
    fn a_tool_that_is_not_there_is_named() {
        let tool = ContainerTool::at("/nowhere/podman".into());
        let error = tool.succeed(tool.command(&["version"]), "x").unwrap_err().to_string();
        assert!(error.contains("/nowhere/podman") && error.contains("DYNO_CONTAINER_TOOL"), "{error}");
    }
}
