//! Starts processes that end with this process, however it ends.

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
    /// The signal that it gets when this process ends. `None` lets it live on in its own session.
    pub(crate) death_signal: Option<Signal>,
    /// The fence around it. `None` for a tool that this process trusts like itself.
    pub(crate) fence: Option<Fence>,
    /// A file that it keeps open, and thus locked, while it lives.
    pub(crate) inherited: Option<File>,
    /// The limits that it enters before its first instruction.
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
            // The requester waits for this answer.
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
            // ^C at the terminal goes to Dyno, which stops its servers itself.
            Some(_) => process::setpgid(None, None)?,
            None => process::setsid().map(drop)?,
        }
        if let Some(file) = &inherited {
            fcntl_setfd(file.as_fd(), FdFlags::empty())?;
        }
        raise_open_files();
        // This precedes the fence, because the limits cannot be entered from inside it.
        if let Some(entrance) = &entrance {
            entrance.enter()?;
        }
        if let Some(fence) = &mut fence {
            fence.enter()?;
        }
        // This follows the fence, because a change of account clears the death signal.
        tie(death_signal, parent)
    };
    // SAFETY: between fork and exec the closure makes system calls and allocates nothing.
    unsafe { command.pre_exec(in_child) };
    command.spawn()
}

/// Raises the limit of open files. With a shell's usual 1,024, servers lower their numbers of tables and connections,
/// and report missing tables when descriptors run out. If this fails, the server itself complains.
fn raise_open_files() {
    let limit = process::getrlimit(Resource::Nofile);
    let _ = process::setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit });
}

fn tie(death_signal: Option<Signal>, parent: Pid) -> io::Result<()> {
    if death_signal.is_none() {
        return Ok(());
    }
    process::set_parent_process_death_signal(death_signal)?;
    // The parent may have died before the signal was set.
    if process::getppid() == Some(parent) { Ok(()) } else { Err(io::ErrorKind::BrokenPipe.into()) }
}
