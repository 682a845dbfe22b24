//! Child processes and their resource usage.

use std::io;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};

/// The session in which a client runs. The kernel divides the cores among sessions, not processes (`sched_autogroup`,
/// `sched(7)`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Session {
    /// A new session. If a server runs as a service, its clients are in another session, too.
    Own,
    /// The server's session, as under `dyno run`.
    Servers,
}

impl Session {
    pub(crate) fn text(self) -> &'static str {
        match self {
            Self::Own => "own",
            Self::Servers => "the server's",
        }
    }
}

/// The work and the resource usage of one process of a load generator.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sample {
    pub(crate) queries: u64,
    pub(crate) queries_per_second: f64,
    pub(crate) latency_p99_ms: f64,
    pub(crate) cpu_us: u64,
    /// CPU time that the server used while the process ran, in µs; 0 if it was not measured.
    pub(crate) server_us: u64,
    pub(crate) memory_bytes_max: u64,
}

impl Sample {
    pub(crate) fn cpu_us_per_query(&self) -> f64 {
        self.cpu_us as f64 / self.queries.max(1) as f64
    }

    pub(crate) fn server_us_per_query(&self) -> f64 {
        self.server_us as f64 / self.queries.max(1) as f64
    }

    pub(crate) fn memory_mb(&self) -> f64 {
        self.memory_bytes_max as f64 / 1e6
    }
}

/// Starts a child whose memory usage does not include its parent's.
///
/// With `posix_spawn(3)` and `vfork(2)` a child shares its parent's memory until it executes its own program. The
/// kernel then counts the parent's memory as the child's, so no child could use less memory than this benchmark.
pub(crate) fn spawn(command: &mut Command, session: Session) -> io::Result<Child> {
    let in_child = move || match session {
        // SAFETY: setsid takes no pointers.
        Session::Own if unsafe { libc::setsid() } < 0 => Err(io::Error::last_os_error()),
        Session::Own | Session::Servers => Ok(()),
    };
    // SAFETY: the closure makes one system call and allocates nothing. A `pre_exec` closure also makes the standard
    // library use fork instead of `posix_spawn`.
    unsafe { command.pre_exec(in_child) }.spawn()
}

/// Waits for a child. Returns its CPU time in user mode and in the kernel (µs), and its largest resident memory
/// (bytes).
pub(crate) fn wait_split(child: &Child) -> anyhow::Result<(u64, u64, u64)> {
    let mut status = 0;
    // SAFETY: an all-zero rusage is a valid value of that plain C structure.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both pointers live through the call; the child has not been waited for.
    let pid = unsafe { libc::wait4(child.id() as libc::pid_t, &raw mut status, 0, &raw mut usage) };
    anyhow::ensure!(pid > 0, "cannot wait for a child process: {}", std::io::Error::last_os_error());
    anyhow::ensure!(status == 0, "a child process failed (status {status:#x})");
    let us = |time: libc::timeval| time.tv_sec as u64 * 1_000_000 + time.tv_usec as u64;
    Ok((us(usage.ru_utime), us(usage.ru_stime), usage.ru_maxrss as u64 * 1024))
}

/// Waits for a child. Returns its CPU time (µs) and its largest resident memory (bytes), start-up included. Both
/// sides of a comparison are measured in this way (`wait4(2)`).
pub(crate) fn wait(child: &Child) -> anyhow::Result<(u64, u64)> {
    let (user_us, kernel_us, memory_bytes_max) = wait_split(child)?;
    Ok((user_us + kernel_us, memory_bytes_max))
}
