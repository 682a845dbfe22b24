//! Starts processes that end with this process, however this process ends.

use std::fs::File;
use std::io;
use std::os::fd::AsFd as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, Command};
use std::sync::{LazyLock, mpsc};
use std::thread;

use dyno_host::{Entrance, Fence};
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{self, Pid, Resource, Rlimit, Signal};

/// A process to start.
pub(crate) struct Spawn {
    pub(crate) command: Command,
    /// The signal that the started process gets when this process ends. If `None`, the started process lives on, in its
    /// own session.
    pub(crate) death_signal: Option<Signal>,
    /// The restrictions of the started process: no capabilities, and an unprivileged account instead of root. `None`
    /// for a tool that this process trusts like itself.
    pub(crate) fence: Option<Fence>,
    /// A file that the started process keeps open, and thus locked, while it lives.
    pub(crate) inherited: Option<File>,
    /// The control groups and cores that the started process joins before its first instruction.
    pub(crate) entrance: Option<Entrance>,
}

impl Spawn {
    /// A helper program that must not outlive this process.
    pub(crate) fn tied(command: Command) -> Self {
        Self { command, death_signal: Some(Signal::KILL), fence: None, inherited: None, entrance: None }
    }

    /// A server's program that must not outlive this process.
    pub(crate) fn fenced(command: Command, fence: Fence) -> Self {
        Self { fence: Some(fence), ..Self::tied(command) }
    }
}

/// A request to start a process, and where to send the result.
type Order = (Spawn, mpsc::Sender<io::Result<Child>>);

/// The kernel sends the death signal when the *thread* that forked ends (prctl(2), `PR_SET_PDEATHSIG`), so all
/// forks are done by one thread that lives as long as the process.
static SPAWNER: LazyLock<mpsc::Sender<Order>> = LazyLock::new(|| {
    let (sender, orders) = mpsc::channel::<Order>();
    thread::spawn(move || {
        for (spawn, answer) in orders {
            // An error is ignored: it is possible only if the requester no longer waits for this answer.
            let _ = answer.send(fork(spawn));
        }
    });
    sender
});

pub(crate) fn spawn(spawn: Spawn) -> io::Result<Child> {
    let (answer, outcome) = mpsc::channel();
    let lost = || io::Error::other("the thread that starts processes is gone");
    SPAWNER.send((spawn, answer)).map_err(|_| lost())?;
    outcome.recv().map_err(|_| lost())?
}

fn fork(spawn: Spawn) -> io::Result<Child> {
    let Spawn { mut command, death_signal, mut fence, inherited, entrance } = spawn;
    let parent = process::getpid();
    let in_child = move || {
        match death_signal {
            // A new process group, so that ^C at the terminal reaches only Dyno. Dyno stops its servers itself.
            Some(_) => process::setpgid(None, None)?,
            None => process::setsid().map(drop)?,
        }
        if let Some(file) = &inherited {
            fcntl_setfd(file.as_fd(), FdFlags::empty())?;
        }
        raise_open_files();
        // The process enters its limits before the fence, because it has no right to do so inside the fence.
        if let Some(entrance) = &entrance {
            entrance.enter()?;
        }
        if let Some(fence) = &mut fence {
            fence.enter()?;
        }
        // The death signal is set last. Entering the fence may change the process's account, and the kernel then clears
        // the signal.
        tie(death_signal, parent)
    };
    // SAFETY: between fork and exec the closure makes system calls and allocates nothing.
    unsafe { command.pre_exec(in_child) };
    command.spawn()
}

/// Raises the limit of open files. With a shell's usual 1,024, servers lower their numbers of tables and connections,
/// and report missing tables when descriptors run out. An error is ignored, because the server itself then complains.
fn raise_open_files() {
    let limit = process::getrlimit(Resource::Nofile);
    let _ = process::setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

fn tie(death_signal: Option<Signal>, parent: Pid) -> io::Result<()> {
    if death_signal.is_none() {
        return Ok(());
    }
    process::set_parent_process_death_signal(death_signal)?;
    // If the parent died before the signal was set, the signal never comes. So this process must fail instead of
    // starting the program.
    if process::getppid() == Some(parent) { Ok(()) } else { Err(io::ErrorKind::BrokenPipe.into()) }
}
