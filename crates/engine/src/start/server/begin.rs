//! Begins a server's programs. A program in a folder runs inside a [`Fence`](dyno_host::Fence), which takes rights away
//! from it. A program in an image runs in a container.

use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use dyno_host::{ConfineError, Entrance, share_groups};
use rustix::process::{Signal, geteuid};

use crate::container::{Image, Leash, Waiting, forget, remove_leftover, status_inside};
use crate::family::site::Site;
use crate::machine::environment;
use crate::machine::path_error::At as _;
use crate::machine::spawn::{Spawn, spawn};
use crate::start::server::error::StartError;
use crate::start::server_process::ServerProcess;

/// The processes of a server that has begun.
pub(super) struct Begun {
    /// The child process: the server, or the tool that runs its container.
    pub(super) child: Child,
    pub(super) process: ServerProcess,
    /// The leash of a server in a container: a pipe that ends the server if Dyno dies.
    pub(super) leash: Option<Leash>,
}

/// Runs a program to its end, before the server starts. Its standard input is a file, or empty.
pub(crate) fn run(site: &Site<'_>, mut command: Command, input: Option<&Path>) -> Result<(), StartError> {
    let status = if let Some(image) = &site.installation.image {
        let waiting = make(image, site, &command, input, Some(Signal::KILL))?;
        let (mut tool, leash) = waiting.let_go()?;
        let status = status_inside(tool.wait().at("wait for", site.home.folder())?);
        if status.success() {
            leash.let_go();
            forget(site.home.folder());
        } else {
            // If only `podman` or `docker` has failed, the program may still run. Dropping the leash (a pipe that the
            // container reads) ends the program.
            drop(leash);
            remove_leftover(site.home.folder())?;
        }
        status
    } else {
        command.stdin(match input {
            Some(path) => Stdio::from(File::open(path).at("open", path)?),
            None => Stdio::null(),
        });
        let mut child = begin_in_folder(site, command, Some(Signal::KILL), None)?;
        child.wait().at("wait for", site.home.folder())?
    };
    if status.success() {
        return Ok(());
    }
    Err(ended(site, status.to_string()))
}

/// Why a server, or a program that prepares its data, ended instead of starting.
pub(super) fn ended(site: &Site<'_>, status: String) -> StartError {
    let (entry, log) = (site.entry().to_string(), site.home.last_words());
    if says_port_taken(&log) {
        return StartError::PortTaken { entry, port: site.port };
    }
    StartError::Ended { entry, status, log }
}

/// Whether a server has written the system's message of `EADDRINUSE` to its log.
fn says_port_taken(log: &[String]) -> bool {
    log.iter().any(|line| line.contains("Address already in use"))
}

/// Begins a server.
pub(super) fn begin(
    site: &Site<'_>,
    command: Command,
    death_signal: Option<Signal>,
    entrance: Option<Entrance>,
) -> Result<Begun, StartError> {
    if let Some(image) = &site.installation.image {
        let waiting = make(image, site, &command, None, death_signal)?;
        return begin_in_container(site, waiting, entrance.as_ref());
    }
    let child = begin_in_folder(site, command, death_signal, entrance)?;
    let process = ServerProcess::of_child(&child).at("look at", Path::new("/proc"))?;
    Ok(Begun { child, process, leash: None })
}

fn begin_in_folder(
    site: &Site<'_>,
    mut command: Command,
    death_signal: Option<Signal>,
    entrance: Option<Entrance>,
) -> Result<Child, StartError> {
    let log = site.home.open_log()?;
    let errors = site.home.open_log()?;
    command.stdout(log).stderr(errors);
    environment::settle(&mut command, &site.home.temporary());
    let program = command.get_program().to_string_lossy().into_owned();
    let inherited = Some(site.home.lock_to_inherit()?);
    let fence = Some(site.fence()?);
    spawn(Spawn { command, death_signal, fence, inherited, entrance })
        .map_err(|source| StartError::Program { program, source })
}

fn make(
    image: &Image,
    site: &Site<'_>,
    command: &Command,
    input: Option<&Path>,
    death_signal: Option<Signal>,
) -> Result<Waiting, StartError> {
    Ok(Waiting::make(image, site.home, &site.folders(), command, input, death_signal)?)
}

/// Moves a container's process into the control groups that a server outside a container would be in. Then lets the
/// program begin.
fn begin_in_container(
    site: &Site<'_>,
    mut waiting: Waiting,
    entrance: Option<&Entrance>,
) -> Result<Begun, StartError> {
    let process = match admitted(site, &mut waiting, entrance) {
        Ok(process) => process,
        Err(error) => {
            waiting.give_up();
            return Err(error);
        }
    };
    let (child, leash) = waiting.let_go()?;
    Ok(Begun { child, process, leash: Some(leash) })
}

/// Moves the process of a container into the control groups of this process, and into those of the server's limits.
fn admitted(
    site: &Site<'_>,
    waiting: &mut Waiting,
    entrance: Option<&Entrance>,
) -> Result<ServerProcess, StartError> {
    let Some(pid) = waiting.pid()? else {
        let status = waiting.tool.wait().at("wait for", site.home.folder())?;
        return Err(ended(site, status_inside(status).to_string()));
    };
    // Only root may move the process. For other users the process stays in the control group of `podman` or `docker`.
    // That group has no limits, but the kernel schedules it apart from Dyno's group.
    if let Err(error) = share_groups(pid)
        && geteuid().is_root()
    {
        return Err(error.into());
    }
    if let Some(entrance) = entrance {
        let path = Path::new("/proc").join(pid.to_string());
        entrance.admit(pid).map_err(|source| ConfineError::File { action: "confine", path, source })?;
    }
    Ok(ServerProcess::in_container(pid, &waiting.tool).at("look at", Path::new("/proc"))?)
}
