//! Connection poolers: programs between clients and a server that Dyno started. Each program has a file.
//!
//! A pooler is a process of its own, with its own home. Clients log in to it as they would to the server. It listens on
//! a unix socket only.

mod pgbouncer;
mod pgpool;

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use dyno_client::Client;
use dyno_host::{Confined, Fence};
use rustix::process::Signal;

use crate::cache::home::Home;
use crate::catalogue::entry::Family;
use crate::machine::environment;
use crate::machine::path_error::At as _;
use crate::machine::spawn::{Spawn, spawn};
use crate::start::access::Access;
use crate::start::connect::{Transport, connect};
use crate::start::server::Server;
use crate::start::server::error::StartError;
use crate::start::server_process::ServerProcess;

/// Time limit for the pooler to pass a login on to the server.
const PATIENCE: Duration = Duration::from_secs(60);
const LOGIN_PATIENCE: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(10);
/// Folders of programs that a user's search path (`PATH`) may lack.
const SYSTEM_FOLDERS: [&str; 2] = ["/usr/sbin", "/usr/local/sbin"];

/// A pooler's program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PoolerProgram {
    /// `PgBouncer`, for PostgreSQL.
    Pgbouncer,
    /// Pgpool-II, for PostgreSQL.
    Pgpool,
}

impl PoolerProgram {
    /// The name of the program's file, which is also its name in plans.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pgbouncer => "pgbouncer",
            Self::Pgpool => "pgpool",
        }
    }

    /// Debian's package that contains the program.
    fn package(self) -> &'static str {
        match self {
            Self::Pgbouncer => "pgbouncer",
            Self::Pgpool => "pgpool2",
        }
    }

    /// The signal that ends the pooler fast. Pgpool-II then removes its shared memory and semaphores.
    fn end_signal(self) -> Signal {
        match self {
            Self::Pgbouncer => Signal::KILL,
            Self::Pgpool => Signal::INT,
        }
    }

    /// Whether the pooler speaks the protocol of a family's servers.
    pub fn speaks_to(self, family: Family) -> bool {
        match self {
            Self::Pgbouncer | Self::Pgpool => family == Family::Postgres,
        }
    }

    /// Settings that Dyno sets itself.
    pub fn own_settings(self) -> &'static [&'static str] {
        match self {
            Self::Pgbouncer => pgbouncer::OWN_SETTINGS,
            Self::Pgpool => pgpool::OWN_SETTINGS,
        }
    }

    /// Writes the pooler's files, and returns the command that runs the pooler.
    fn command(
        self,
        program: &Path,
        home: &Home,
        server: &Access,
        settings: &BTreeMap<String, String>,
    ) -> Result<Command, StartError> {
        match self {
            Self::Pgbouncer => pgbouncer::command(program, home, server, settings),
            Self::Pgpool => pgpool::command(program, home, server, settings),
        }
    }

    /// Checks that the running pooler knows the settings that it was given.
    fn check(self, client: &mut Client, settings: &BTreeMap<String, String>) -> Result<(), StartError> {
        match self {
            // `PgBouncer` ends at its start if it does not know a setting.
            Self::Pgbouncer => Ok(()),
            Self::Pgpool => pgpool::check(client, settings),
        }
    }
}

/// A running pooler. It ends when this value is dropped, or when this process ends.
pub struct Pooler {
    program: PoolerProgram,
    process: ServerProcess,
    access: Access,
    home: Home,
    /// This field is declared last, so that it is dropped last: dropping it removes the control groups and the volume
    /// that the pooler and its home use.
    _confined: Option<Arc<Confined>>,
}

impl Pooler {
    /// Starts a pooler in front of a server, and returns once a login through the pooler succeeds. Makes the pooler's
    /// home in `place`.
    ///
    /// # Errors
    /// The program is not installed, ends, or does not pass logins on. The error has the end of its log.
    pub fn start(
        program: PoolerProgram,
        settings: &BTreeMap<String, String>,
        server: &Server,
        place: &Path,
        confined: Option<Arc<Confined>>,
    ) -> Result<Self, StartError> {
        let path = find(program)
            .ok_or(StartError::NoPooler { program: program.as_str(), package: program.package() })?;
        let home = Home::create_in(place)?;
        let command = program.command(&path, &home, server.access(), settings)?;
        let mut child = begin(program, command, &home, server.access(), confined.as_deref())?;
        let process = ServerProcess::of_child(&child).at("look at", Path::new("/proc"))?;
        let of_server = server.access();
        let name = of_server.socket.file_name().unwrap_or_default();
        let access = Access { socket: home.sockets().join(name), pid: process.pid(), ..of_server.clone() };
        let pooler = Self { program, process, access, home, _confined: confined };
        let mut client = pooler.wait(&mut child, server.entry().family)?;
        program.check(&mut client, settings)?;
        Ok(pooler)
    }

    /// The pooler's socket.
    pub fn socket(&self) -> &Path {
        &self.access.socket
    }

    pub fn pid(&self) -> u32 {
        self.access.pid
    }

    pub fn program(&self) -> PoolerProgram {
        self.program
    }

    pub fn is_alive(&self) -> bool {
        self.process.is_alive()
    }

    /// The last lines of the pooler's log. The oldest comes first.
    pub fn log_tail(&self, lines: usize) -> Vec<String> {
        self.home.log_tail(lines)
    }

    /// Waits until a login through the pooler succeeds.
    fn wait(&self, child: &mut Child, family: Family) -> Result<Client, StartError> {
        let entry = self.program.as_str().to_owned();
        let deadline = Instant::now() + PATIENCE;
        loop {
            let reason = match connect(family, &self.access, Transport::Socket, LOGIN_PATIENCE) {
                Ok(client) => return Ok(client),
                Err(error) => error.to_string(),
            };
            let log = self.home.last_words();
            if let Some(status) = child.try_wait().at("wait for", Path::new(&entry))? {
                return Err(StartError::Ended { entry, status: status.to_string(), log });
            }
            if Instant::now() >= deadline {
                return Err(StartError::Silent { entry, seconds: PATIENCE.as_secs(), reason, log });
            }
            thread::sleep(POLL);
        }
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        // The fast signal is used, because the pooler has no data to save.
        self.process.end(self.program.end_signal(), &self.home.places());
    }
}

/// Begins the program inside a fence: it has no capabilities, and runs as an unprivileged account instead of root. It
/// can reach its home and the server's socket.
fn begin(
    pooler: PoolerProgram,
    mut command: Command,
    home: &Home,
    server: &Access,
    confined: Option<&Confined>,
) -> Result<Child, StartError> {
    environment::restrict(&mut command);
    environment::settle(&mut command, &home.temporary());
    command.current_dir(home.folder()).stdin(Stdio::null()).stdout(home.open_log()?).stderr(home.open_log()?);
    let program = command.get_program().to_string_lossy().into_owned();
    let of_server = server.socket.parent().unwrap_or(Path::new("/"));
    let fence = Fence::around(&[home.folder(), home.sockets(), of_server])?;
    let entrance = confined.map(Confined::entrance).transpose()?;
    let inherited = Some(home.lock_to_inherit()?);
    let death_signal = Some(pooler.end_signal());
    spawn(Spawn { command, death_signal, fence: Some(fence), inherited, entrance })
        .map_err(|source| StartError::Program { program, source })
}

/// The program's file.
fn find(program: PoolerProgram) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&path).chain(SYSTEM_FOLDERS.map(PathBuf::from));
    folders.map(|folder| folder.join(program.as_str())).find(|file| file.is_absolute() && file.is_file())
}
