//! Controls a program in a container: a gate stops it before its first instruction, and a leash ends it if Dyno dies.
//!
//! Both are named pipes in a folder that the container sees. `begin.sh` waits at the gate until Dyno has moved the
//! process of `begin.sh` into the server's groups. A shell beside the server reads the leash. If the leash ends before
//! the shell has read a line, Dyno is dead, and the shell ends the server.

use std::fs::File;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::cache::home::Home;
use crate::machine::folder;
use crate::machine::path_error::{At as _, PathError};
use crate::machine::process;

/// Time limit for the shell that reads a leash to end.
const PATIENCE: Duration = Duration::from_secs(5);
const FOLDER: &str = "control";
const GATE: &str = "gate";
const LEASH: &str = "leash";

/// The pipes of one container.
pub(super) struct Control {
    folder: PathBuf,
    gate: File,
    leash: Option<File>,
}

/// Holds the pipes of a program that has begun. A program with a leash ends when this value is dropped without
/// [`let_go`](Self::let_go), for example when this process dies.
#[derive(Debug)]
pub(crate) struct Leash {
    path: PathBuf,
    pipe: Option<File>,
    /// The pipe of the gate, kept open. If no process has a pipe open, its content is lost, and the program may not
    /// have read the gate yet.
    _gate: File,
}

impl Control {
    /// Makes the pipes. `has_leash` is true for a server that must end with this process.
    pub(super) fn make(home: &Home, has_leash: bool) -> Result<Self, PathError> {
        let folder = home.folder().join(FOLDER);
        folder::remove(&folder)?;
        folder::create_private(&folder)?;
        let gate = pipe(&folder.join(GATE))?;
        let leash = if has_leash { Some(pipe(&folder.join(LEASH))?) } else { None };
        // The folder is given to the server's account only after the pipes are made, because its owner can replace a
        // pipe.
        folder::give_to_server(&folder)?;
        Ok(Self { folder, gate, leash })
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether the program waits at the gate.
    pub(super) fn is_waiting(&self) -> bool {
        self.folder.join("waiting").exists()
    }

    /// Lets the program begin.
    pub(super) fn open(self) -> Result<Leash, PathError> {
        let Self { folder, mut gate, leash } = self;
        gate.write_all(b"go\n").at("write", &folder.join(GATE))?;
        Ok(Leash { path: folder.join(LEASH), pipe: leash, _gate: gate })
    }
}

impl Leash {
    /// Ends the shell that watches the leash of a dead server. Otherwise the shell could kill a later process with the
    /// server's id. After this call, no process of the container keeps the container's file systems mounted.
    pub(crate) fn let_go(self) {
        let Self { path, pipe, .. } = self;
        let Some(mut pipe) = pipe else { return };
        // If nobody reads the pipe, there is no shell to end.
        let _ = pipe.write_all(b"done\n");
        drop(pipe);
        process::becomes(PATIENCE, || !is_read(&path));
    }
}

/// Whether a process has a pipe open for reading. If no process has, opening the pipe for writing with `O_NONBLOCK`
/// fails (fifo(7)).
fn is_read(path: &Path) -> bool {
    File::options().write(true).custom_flags(libc::O_NONBLOCK | libc::O_NOFOLLOW).open(path).is_ok()
}

/// Makes a pipe and opens it in both directions. So the open does not wait for another process, and the pipe does
/// not end while this process lives.
fn pipe(path: &Path) -> Result<File, PathError> {
    mknodat(CWD, path, FileType::Fifo, Mode::from_raw_mode(0o600), 0)
        .map_err(Into::into)
        .at("create", path)?;
    folder::give_to_server(path)?;
    File::options().read(true).write(true).open(path).at("open", path)
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt as _;
    use std::process::{Child, Command, Stdio};

    use super::*;
    use crate::container::begin::SCRIPT;

    /// Runs the first program of a container, but outside of a container.
    fn begin(folder: &Path, log: &Path) -> Child {
        let mut command = Command::new("sh");
        command.args(["-c", SCRIPT, "sh"]).args([folder, Path::new("/dev/null"), log]);
        command.args(["sh", "-c", "echo begun; exec sleep 1000"]).stdout(Stdio::null()).spawn().unwrap()
    }

    fn becomes(what: &str, is_so: impl Fn() -> bool) {
        assert!(process::becomes(Duration::from_secs(60), is_so), "never: {what}");
    }

    fn has_begun(log: &Path) -> bool {
        std::fs::read_to_string(log).is_ok_and(|text| text == "begun\n")
    }

    #[test]
    fn a_program_begins_when_the_gate_opens_and_ends_with_its_leash() {
        let parent = tempfile::tempdir().unwrap();
        let (home, log) = (Home::create_in(parent.path()).unwrap(), parent.path().join("log"));
        let control = Control::make(&home, true).unwrap();
        let mut child = begin(control.folder(), &log);
        becomes("the program waits", || control.is_waiting());
        assert!(!has_begun(&log));
        let leash = control.open().unwrap();
        becomes("the program begins", || has_begun(&log));
        assert!(child.try_wait().unwrap().is_none());
        drop(leash);
        let status = child.wait().unwrap();
        assert_eq!(status.signal(), Some(9), "{status}");
    }

    #[test]
    fn a_gate_that_is_open_before_the_program_comes_is_open_for_it() {
        let parent = tempfile::tempdir().unwrap();
        let (home, log) = (Home::create_in(parent.path()).unwrap(), parent.path().join("log"));
        let control = Control::make(&home, true).unwrap();
        let folder = control.folder().to_owned();
        let leash = control.open().unwrap();
        let mut child = begin(&folder, &log);
        becomes("the program begins", || has_begun(&log));
        drop(leash);
        assert_eq!(child.wait().unwrap().signal(), Some(9));
    }

    #[test]
    fn a_program_that_waits_at_the_gate_ends_with_it() {
        let parent = tempfile::tempdir().unwrap();
        let (home, log) = (Home::create_in(parent.path()).unwrap(), parent.path().join("log"));
        let control = Control::make(&home, false).unwrap();
        let mut child = begin(control.folder(), &log);
        becomes("the program waits", || control.is_waiting());
        drop(control);
        assert_eq!(child.wait().unwrap().code(), Some(125));
        assert!(!has_begun(&log));
    }

    #[test]
    fn a_program_that_comes_after_the_end_of_dyno_does_not_begin() {
        let parent = tempfile::tempdir().unwrap();
        let (home, log) = (Home::create_in(parent.path()).unwrap(), parent.path().join("log"));
        for has_leash in [true, false] {
            let control = Control::make(&home, has_leash).unwrap();
            let folder = control.folder().to_owned();
            drop(control);
            // When `control` was dropped, the gate and the leash were closed. So the program ends without having begun.
            assert!(!begin(&folder, &log).wait().unwrap().success());
            assert!(!has_begun(&log));
        }
    }

    #[test]
    fn a_server_that_is_let_go_is_not_killed() {
        let parent = tempfile::tempdir().unwrap();
        let (home, log) = (Home::create_in(parent.path()).unwrap(), parent.path().join("log"));
        let control = Control::make(&home, true).unwrap();
        let leash = control.folder().join(LEASH);
        let mut child = begin(control.folder(), &log);
        becomes("the program waits", || control.is_waiting());
        control.open().unwrap().let_go();
        assert!(!is_read(&leash));
        becomes("the program begins", || has_begun(&log));
        assert!(child.try_wait().unwrap().is_none());
        child.kill().unwrap();
        child.wait().unwrap();
    }
}
