//! Begins programs of an image in containers.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::process::ExitStatusExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use dyno_host::Fence;
use rustix::process::Signal;

use super::control::{Control, Leash};
use super::error::ImageError;
use super::image::Image;
use super::{leftover, options};
use crate::cache::home::Home;
use crate::machine::folder;
use crate::machine::path_error::{At as _, PathError};
use crate::machine::process::ProcessId;
use crate::machine::spawn::{Spawn, spawn};
use crate::start::access::random_word;

/// The script that a container runs first.
pub(super) const SCRIPT: &str = include_str!("begin.sh");

const POLL: Duration = Duration::from_millis(10);
/// Time limit until a container has begun.
const PATIENCE: Duration = Duration::from_secs(120);

/// A container whose program has not begun yet.
pub(crate) struct Waiting {
    /// The process of `podman` or `docker` that runs the container. It ends together with the container, and with the
    /// same status.
    pub(crate) tool: Child,
    control: Control,
    /// The server's home folder, in which a file records the container, so that it can be removed later.
    home: PathBuf,
    name: String,
    image: Image,
}

impl Waiting {
    /// Creates a container for a program, and holds the program back until [`let_go`](Self::let_go). The program sees
    /// `folders` of the host under the same paths. The program ends with this process unless `death_signal` is `None`.
    ///
    /// # Errors
    /// The tool does not run, or the home cannot be written.
    pub(crate) fn make(
        image: &Image,
        home: &Home,
        folders: &[&Path],
        program: &Command,
        input: Option<&Path>,
        death_signal: Option<Signal>,
    ) -> Result<Self, ImageError> {
        leftover::remove_leftover(home.folder())?;
        let control = Control::make(home, death_signal.is_some())?;
        let log = home.log_for_server()?;
        if let Some(input) = input {
            folder::give_to_server(input)?;
        }
        let name = name(home)?;
        leftover::note(home.folder(), &image.tool, &name, None)?;
        let mut command = options::run(image);
        command.arg(format!("--name={name}"));
        surround(&mut command, folders, program);
        command.arg("--entrypoint=/bin/sh").arg(&image.id).args(["-c", SCRIPT, "sh"]);
        command.arg(control.folder()).arg(input.unwrap_or(Path::new("/dev/null"))).arg(log);
        command.arg(program.get_program()).args(program.get_args());
        // If the tool cannot run the program, the tool's complaint is at the end of the log.
        command.stdin(Stdio::null()).stdout(home.open_log()?).stderr(home.open_log()?);
        // Only a server that may outlive this process inherits the home's lock. For any other server, the lock of this
        // process suffices.
        let inherited = if death_signal.is_none() { Some(home.lock_to_inherit()?) } else { None };
        let death_signal = death_signal.map(|_| Signal::KILL);
        let tool = spawn(Spawn { command, death_signal, fence: None, inherited, entrance: None })
            .map_err(|source| ImageError::Tool { tool: image.tool.program().to_owned(), source })?;
        Ok(Self { tool, control, home: home.folder().to_owned(), name, image: image.clone() })
    }

    /// Waits until the program is ready to begin, and records its process in the home. Returns its process id, or
    /// `None` if the container has ended.
    ///
    /// # Errors
    /// The tool does not report the process.
    pub(crate) fn pid(&mut self) -> Result<Option<u32>, ImageError> {
        let deadline = Instant::now() + PATIENCE;
        let failed = |complaint: String| ImageError::Failed {
            tool: self.image.tool.name(),
            action: format!("run the image {}", self.image.reference()),
            complaint,
        };
        while !self.control.is_waiting() {
            if self.tool.try_wait().at("wait for", self.image.tool.program())?.is_some() {
                return Ok(None);
            }
            if Instant::now() >= deadline {
                return Err(failed(format!("it has not begun within {} s", PATIENCE.as_secs())));
            }
            thread::sleep(POLL);
        }
        let inspect = ["container", "inspect", "--format={{.State.Pid}}", &self.name];
        let told = self.image.tool.succeed(self.image.tool.command(&inspect), "look at its container")?;
        match told.trim().parse() {
            Ok(pid) if pid > 1 => {
                leftover::note(&self.home, &self.image.tool, &self.name, ProcessId::of(pid))?;
                Ok(Some(pid))
            }
            _ => Err(failed(format!("its process is not known ({})", told.trim()))),
        }
    }

    /// Lets the program begin.
    ///
    /// # Errors
    /// The pipe at which the program waits cannot be written.
    pub(crate) fn let_go(self) -> Result<(Child, Leash), PathError> {
        let leash = self.control.open()?;
        Ok((self.tool, leash))
    }

    /// Ends the container before the program has begun.
    pub(crate) fn give_up(self) {
        let Self { mut tool, control, home, .. } = self;
        // This closes the pipe at which the program waits, and so ends the program.
        drop(control);
        // An error is ignored: the home still records the container, and a later removal tries again.
        let _ = leftover::remove_leftover(&home);
        let _ = tool.kill();
        let _ = tool.wait();
    }
}

/// Returns a name that no other container has.
fn name(home: &Home) -> Result<String, PathError> {
    let of_home = home.folder().file_name().unwrap_or_default().to_string_lossy().into_owned();
    // The home's name may contain characters that are not allowed in a container's name.
    let plain = of_home.replace(|c: char| !c.is_ascii_alphanumeric() && c != '-', "-");
    let word = random_word().at("read", Path::new("/dev/urandom"))?;
    Ok(format!("{plain}-{}", &word[..6]))
}

/// Gives a container the working folder, the environment variables and the folders that the program would have on the
/// host.
fn surround(command: &mut Command, folders: &[&Path], program: &Command) {
    if let Some(folder) = program.get_current_dir() {
        command.arg(joined("--workdir=", folder.as_os_str()));
    }
    for (name, value) in program.get_envs() {
        if let Some(value) = value {
            let mut option = joined("--env=", name);
            option.push("=");
            option.push(value);
            command.arg(option);
        }
    }
    let closed: BTreeSet<PathBuf> =
        folders.iter().filter_map(|folder| Fence::closed_on_the_way_to(folder)).collect();
    for folder in closed {
        // This folder, such as `/root`, is closed to other users, both on the host and in the image. So the container
        // gets an empty folder at this path, which all users can enter.
        let mut option = joined("--tmpfs=", folder.as_os_str());
        option.push(":mode=755,size=1m");
        command.arg(option);
    }
    for folder in folders {
        let mut option = joined("--mount=type=bind,source=", folder.as_os_str());
        option.push(",target=");
        option.push(folder);
        command.arg(option);
    }
}

fn joined(option: &str, value: &OsStr) -> OsString {
    let mut joined = OsString::from(option);
    joined.push(value);
    joined
}

/// Returns the exit status of a program in a container. After a signal, `podman` and `docker` exit as a shell does,
/// with 128 plus the number of the signal.
pub(crate) fn status_inside(of_tool: ExitStatus) -> ExitStatus {
    match of_tool.code() {
        Some(code) if (129..160).contains(&code) => ExitStatus::from_raw(code - 128),
        _ => of_tool,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_inside_is_told_as_one() {
        let exited = |code: i32| ExitStatus::from_raw(code << 8);
        assert_eq!(status_inside(exited(137)).to_string(), "signal: 9 (SIGKILL)");
        assert_eq!(status_inside(exited(1)).to_string(), "exit status: 1");
        assert_eq!(status_inside(exited(0)).to_string(), "exit status: 0");
    }

    #[test]
    fn a_program_keeps_its_surroundings() {
        let mut program = Command::new("/usr/sbin/mysqld");
        program.current_dir("/data/home").env("LC_ALL", "C").env_remove("TZ");
        let mut command = Command::new("podman");
        surround(&mut command, &[Path::new("/data/home"), Path::new("/tmp/sockets")], &program);
        let arguments: Vec<_> = command.get_args().map(|it| it.to_string_lossy().into_owned()).collect();
        assert_eq!(
            arguments,
            [
                "--workdir=/data/home",
                "--env=LC_ALL=C",
                "--mount=type=bind,source=/data/home,target=/data/home",
                "--mount=type=bind,source=/tmp/sockets,target=/tmp/sockets",
            ]
        );
    }
}
