//! Runs a package manager and watches its downloads.

use std::env;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use crate::machine::folder;
use crate::machine::lines;
use crate::machine::path_error::{At as _, PathError};
use crate::machine::spawn::{Spawn, spawn};
use crate::source::download::network;
use crate::source::download::progress::{Phase, Progress};
use crate::source::error::FetchError;
use crate::source::workspace::Workspace;

const POLL: Duration = Duration::from_millis(50);
const SHOWN_LINES: usize = 8;

/// A command of the machine's package tools.
pub(in crate::source) struct Tool {
    name: &'static str,
    command: Command,
    watched: Option<PathBuf>,
}

/// Whether a command is in the search path.
pub(crate) fn is_installed(name: &str) -> bool {
    let search_path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&search_path).any(|folder| folder.join(name).is_file())
}

impl Tool {
    pub(in crate::source) fn new(name: &'static str) -> Self {
        Self { name, command: Command::new(name), watched: None }
    }

    pub(in crate::source) fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.command.args(args);
        self
    }

    pub(in crate::source) fn current_dir(mut self, folder: &Path) -> Self {
        self.command.current_dir(folder);
        self
    }

    /// Reports a folder's growth as download progress.
    pub(in crate::source) fn watching(mut self, folder: &Path) -> Self {
        self.watched = Some(folder.to_owned());
        self
    }

    /// Runs the command to its end and returns what it prints.
    pub(in crate::source) fn run(mut self, workspace: &mut Workspace<'_>) -> Result<Vec<u8>, FetchError> {
        let (log_path, log) = self.open_log(workspace)?;
        let errors = log.try_clone().at("open", &log_path)?;
        let mut child = self.start(log.into(), errors)?;
        let status = loop {
            if let Some(status) = child.try_wait().at("wait for", Path::new(self.name))? {
                break status;
            }
            if let Some(folder) = &self.watched {
                let total = workspace.total_bytes;
                let done_bytes = folder::file_bytes(folder).min(total);
                (workspace.progress)(Progress {
                    phase: Phase::Downloading,
                    done_bytes,
                    total_bytes: Some(total),
                });
            }
            std::thread::sleep(POLL);
        };
        let output = fs::read(&log_path).at("read", &log_path)?;
        if status.success() { Ok(output) } else { Err(self.failure(status, &output)) }
    }

    /// Runs the command to its end while `read` reads what it prints.
    pub(in crate::source) fn stream(
        mut self,
        workspace: &Workspace<'_>,
        read: impl FnOnce(&mut dyn Read) -> Result<(), FetchError>,
    ) -> Result<(), FetchError> {
        let (log_path, log) = self.open_log(workspace)?;
        let mut child = self.start(Stdio::piped(), log)?;
        let outcome = child.stdout.take().map_or(Ok(()), |mut output| {
            let outcome = read(&mut output);
            // The rest of the output must be read too. Otherwise the tool would fail because nobody reads its output,
            // and this failure would hide why `read` failed.
            io::copy(&mut output, &mut io::sink()).at("read", Path::new(self.name))?;
            outcome
        });
        let status = child.wait().at("wait for", Path::new(self.name))?;
        if !status.success() {
            let log = fs::read(&log_path).at("read", &log_path)?;
            return Err(self.failure(status, &log));
        }
        outcome
    }

    fn open_log(&self, workspace: &Workspace<'_>) -> Result<(PathBuf, File), PathError> {
        let path = workspace.downloads.join(format!("{}.log", self.name));
        let file = File::create(&path).at("create", &path)?;
        Ok((path, file))
    }

    fn start(&mut self, output: Stdio, errors: File) -> Result<Child, FetchError> {
        let mut command = std::mem::replace(&mut self.command, Command::new(self.name));
        // Messages are in English, so that users can search for them.
        command.env("LC_ALL", "C.UTF-8").stdin(Stdio::null()).stdout(output).stderr(errors);
        spawn(Spawn::tied(command)).map_err(|error| match error.kind() {
            ErrorKind::NotFound => FetchError::MissingTool { tool: self.name },
            _ => FetchError::ToolFailed { tool: self.name, status: error.to_string(), output: Vec::new() },
        })
    }

    fn failure(&self, status: ExitStatus, output: &[u8]) -> FetchError {
        if let Some(complaint) = network::complaint_of_proxy(output) {
            return FetchError::Proxy { complaint };
        }
        if let Some(complaint) = network::complaint(output) {
            return FetchError::Unreachable { tool: self.name, complaint };
        }
        let (status, output) = (status.to_string(), lines::last(output, SHOWN_LINES));
        FetchError::ToolFailed { tool: self.name, status, output }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cache::location::Cache;

    fn run(tool: Tool) -> Result<Vec<u8>, FetchError> {
        in_workspace(|workspace| tool.run(workspace))
    }

    fn in_workspace<T>(action: impl FnOnce(&mut Workspace<'_>) -> T) -> T {
        let folder = tempfile::tempdir().unwrap();
        action(&mut Workspace {
            cache: &Cache::new(folder.path()),
            downloads: folder.path().to_owned(),
            tree: folder.path().to_owned(),
            total_bytes: 0,
            new_pins: Vec::new(),
            progress: &mut |_| (),
        })
    }

    #[test]
    fn commands_are_looked_for_in_the_search_path() {
        assert!(is_installed("sh"));
        assert!(!is_installed("dyno-has-no-such-tool"));
    }

    #[test]
    fn a_tool_that_is_not_installed_is_named() {
        let error = run(Tool::new("dyno-has-no-such-tool")).unwrap_err();
        assert!(matches!(error, FetchError::MissingTool { tool: "dyno-has-no-such-tool" }), "{error}");
    }

    #[test]
    fn a_tool_that_fails_has_its_last_lines_shown() {
        let error = run(Tool::new("sh").args(["-c", "echo trying; echo no luck >&2; exit 3"])).unwrap_err();
        assert_eq!(error.to_string(), "sh failed (exit status: 3)\n    trying\n    no luck");
        assert_eq!(run(Tool::new("echo").args(["found"])).unwrap(), b"found\n");
    }

    #[test]
    fn a_tool_that_reaches_nobody_has_that_said_first() {
        let error = run(Tool::new("sh").args(["-c", "echo 'npm error code ENOTFOUND'; exit 1"])).unwrap_err();
        assert_eq!(
            error.to_string(),
            "cannot reach where sh downloads from (no network?): npm error code ENOTFOUND"
        );
    }

    #[test]
    fn the_failure_of_a_streaming_tool_comes_before_that_of_its_reader() {
        let stream = |script: &str, read: fn(&mut dyn Read) -> Result<(), FetchError>| {
            in_workspace(|workspace| Tool::new("sh").args(["-c", script]).stream(workspace, read))
        };
        let gives_up = |_: &mut dyn Read| Err(FetchError::NotDownloaded { package: "it".to_owned() });
        let all_of_it = |output: &mut dyn Read| {
            assert_eq!(io::read_to_string(output).unwrap(), "content\n");
            Ok(())
        };
        stream("echo content; echo notes >&2", all_of_it).unwrap();
        let error = stream("echo content; echo broken >&2; exit 2", gives_up).unwrap_err();
        assert_eq!(error.to_string(), "sh failed (exit status: 2)\n    broken");
        let error = stream("head -c 1000000 /dev/zero", gives_up).unwrap_err();
        assert!(matches!(error, FetchError::NotDownloaded { .. }), "{error}");
    }
}
