//! A server that this process started.

pub(crate) mod begin;
pub(crate) mod error;
mod fault;
mod help;
mod launch;
mod options;
mod tools;

use std::time::Duration;

use dyno_client::{Client, ClientError, ResultSet};
use dyno_host::MemoryKills;

pub use self::error::{GaleraObstacle, RestartError, ShutdownError, StartError};
pub use self::fault::ServerFault;
pub(crate) use self::launch::{Launch, Lifetime, check};
pub use self::options::StartOptions;
use crate::cache::home::Home;
use crate::cache::installation::Installation;
use crate::catalogue::entry::{Entry, Family};
use crate::family::site::Site;
use crate::machine::folder;
use crate::machine::path_error::PathError;
use crate::replication::role::Role;
use crate::start::access::Access;
use crate::start::connect::{Transport, connect_by, connect_to, variables_of};
use crate::start::server_process::ServerProcess;

const QUERY_PATIENCE: Duration = Duration::from_secs(60);

/// A running server. When this value is dropped, the server stops and its data is removed. If this process dies,
/// even by `kill -9`, the server stops too.
pub struct Server {
    launch: Launch,
    process: ServerProcess,
    access: Access,
    /// The kernel's counts of processes killed for lack of memory, when the server started.
    kills_before: MemoryKills,
}

/// Starts a server with an empty database [`DATABASE`](crate::DATABASE) and returns once it answers.
///
/// # Errors
/// The options do not fit the engine, or the server ends or does not answer. The error has the end of the server's log.
/// Nothing is left behind.
pub fn start(installation: &Installation, options: StartOptions) -> Result<Server, StartError> {
    let procedure = check(&installation.entry, &options)?;
    let home = Home::create_in(options.place())?;
    let launch = Launch::new(installation, options, procedure, home, Lifetime::WithParent)?;
    let kills_before = launch.memory_kills();
    let (process, access) = launch.start(&|_, _| Ok(()))?;
    Ok(Server { launch, process, access, kills_before })
}

impl Server {
    /// How to connect.
    pub fn access(&self) -> &Access {
        &self.access
    }

    /// Returns the server's role in replication.
    pub(crate) fn role(&self) -> &Role {
        &self.launch.role
    }

    /// Returns the inputs that the server was started with: installation, home, settings and role.
    pub(crate) fn site(&self) -> Site<'_> {
        self.launch.site(self.access.port)
    }

    pub(crate) fn entry(&self) -> &Entry {
        &self.launch.installation.entry
    }

    /// The address that the server listens on.
    pub(crate) fn host(&self) -> String {
        self.site().address()
    }

    /// The version that the server reports.
    pub fn version(&self) -> &str {
        &self.access.version
    }

    /// Whether the server's process is alive. A live server may still not answer.
    pub fn is_alive(&self) -> bool {
        self.process.is_alive()
    }

    /// Describes the process that the kernel has killed for lack of memory since the server started. If the server's
    /// memory is limited, the killed process is one of the server's processes. Otherwise it is a process of Dyno's
    /// cgroup, or of the host if the kernel does not count kills for each cgroup. Returns `None` if nothing was killed.
    pub fn memory_kill(&self) -> Option<String> {
        self.launch.memory_kill(self.kills_before)
    }

    /// Returns a message if the server's volume is full. Returns `None` if the volume has room, or if there is no
    /// volume. The log is on that volume too, so the server may be unable to log that the volume is full.
    pub fn full_volume(&self) -> Option<String> {
        self.launch.full_volume()
    }

    /// The last lines of the server's log. The oldest comes first.
    pub fn log_tail(&self, lines: usize) -> Vec<String> {
        self.launch.home.log_tail(lines)
    }

    /// All variables with their effective values, as the server prints them.
    ///
    /// # Errors
    /// The server does not answer.
    pub fn variables(&self) -> Result<Vec<(String, String)>, ClientError> {
        Ok(variables_of(self.query(self.launch.procedure.variables_query())?))
    }

    /// Logs in as the superuser. `patience` is the time limit of each answer.
    ///
    /// # Errors
    /// The server refuses the login.
    pub fn connect(&self, patience: Duration) -> Result<Client, ClientError> {
        connect_by(self.launch.procedure, &self.access, Transport::Socket, patience)
    }

    /// Like [`connect`](Self::connect), but in a database other than [`DATABASE`](crate::DATABASE).
    ///
    /// # Errors
    /// The errors of [`connect`](Self::connect).
    pub fn connect_to(&self, database: &str, patience: Duration) -> Result<Client, ClientError> {
        connect_to(self.launch.procedure, &self.access, database, Transport::Socket, patience)
    }

    pub fn family(&self) -> Family {
        self.launch.installation.entry.family
    }

    /// Executes one statement on a connection of its own.
    ///
    /// # Errors
    /// The server refuses the statement, or takes longer than a minute.
    pub fn query(&self, sql: &str) -> Result<ResultSet, ClientError> {
        self.connect(QUERY_PATIENCE)?.query(sql)
    }

    /// Reads every table and index of a database once. As much as fits stays in the caches.
    ///
    /// # Errors
    /// The server does not answer a statement within `patience`, or refuses it.
    pub fn read_tables(&self, database: &str, patience: Duration) -> Result<(), ClientError> {
        let mut client = self.connect_to(database, patience)?;
        let scans = client.query(self.launch.procedure.scans_query())?;
        for scan in scans.rows.into_iter().filter_map(|row| row.into_iter().next().flatten()) {
            client.query(&scan)?;
        }
        Ok(())
    }

    /// Reads the server's log files into the page cache, if the server overwrites its log through the page cache. A
    /// log that has been in use for a while is cached, but the log of newly copied data is not. Skips files that
    /// this process may not read.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn read_log(&self) -> Result<(), PathError> {
        let Some(prefix) = self.launch.procedure.overwritten_logs() else { return Ok(()) };
        folder::read_files(&self.access.datadir, prefix)
    }

    /// Size of the server's data on disk, in bytes.
    pub fn disk_bytes(&self) -> u64 {
        folder::allocated_bytes(&self.access.datadir)
    }

    /// Restarts the server on its data. If it runs, ends it first, without a clean shutdown. Its port and process
    /// change.
    ///
    /// # Errors
    /// The errors of [`start`].
    pub fn restart(&mut self) -> Result<(), StartError> {
        self.end();
        self.kills_before = self.launch.memory_kills();
        (self.process, self.access) = self.launch.start(&|_, _| Ok(()))?;
        Ok(())
    }

    /// Like [`restart`](Self::restart), but on the same port and socket as before, so that clients find the server
    /// again.
    ///
    /// # Errors
    /// The errors of [`start`], or another process has taken the port.
    pub fn restart_in_place(&mut self) -> Result<(), StartError> {
        self.end();
        self.kills_before = self.launch.memory_kills();
        (self.process, self.access) = self.launch.start_on(self.access.port, &|_, _| Ok(()))?;
        Ok(())
    }

    /// Crashes the server: sends SIGKILL to all its processes at once, calls `killed`, and waits for the end of the
    /// processes. `killed` can release what the processes wait for. [`restart`](Self::restart) starts the server
    /// again, which recovers its data.
    pub fn crash(&self, killed: &mut dyn FnMut()) {
        self.launch.note_shared_memory();
        self.process.kill_with_children(&self.launch.home.places());
        killed();
        self.end();
    }

    /// Shuts the server down so that its data needs no recovery. The data stays, and [`restart`](Self::restart)
    /// starts the server again.
    ///
    /// # Errors
    /// The server was already dead, failed while it shut down, or did not end within `patience`. In the last case
    /// it may still be writing, so its data must not be copied.
    pub fn shut_down_cleanly(&mut self, patience: Duration) -> Result<(), ShutdownError> {
        let entry = self.launch.installation.entry.to_string();
        if !self.is_alive() {
            return Err(ShutdownError::Dead { entry, log: self.launch.home.last_words() });
        }
        self.launch.lift_io_limits();
        let signal = self.launch.procedure.shutdown_signal();
        let log = || self.launch.home.last_words();
        match self.process.ends_by(signal, &self.launch.home.places(), patience) {
            Some(ended) if ended.is_clean => Ok(()),
            Some(_) => Err(ShutdownError::Failed { entry, log: log() }),
            None => Err(ShutdownError::Slow { entry, seconds: patience.as_secs(), log: log() }),
        }
    }

    /// Shuts the server down cleanly and restarts it on its data. Its port and process change.
    ///
    /// # Errors
    /// The errors of [`shut_down_cleanly`](Self::shut_down_cleanly) and of [`start`].
    pub fn restart_cleanly(&mut self, patience: Duration) -> Result<(), RestartError> {
        self.shut_down_cleanly(patience)?;
        Ok(self.restart()?)
    }

    /// Stops the server and removes its data.
    ///
    /// # Errors
    /// The data cannot be removed.
    pub fn stop(self) -> Result<(), PathError> {
        self.end();
        self.launch.home.remove()
    }

    fn end(&self) {
        self.launch.end(self.process);
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}
