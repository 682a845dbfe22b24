//! Starts a server from an installation.

use std::net::{IpAddr, Ipv4Addr, TcpListener};
use std::path::Path;
use std::process::{Child, ExitStatus};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use dyno_client::{Client, ClientError};
use dyno_host::{Account, Confined, Entrance, MemoryKills};
use rustix::process::geteuid;

use super::StartOptions;
use super::begin::{Begun, begin, ended};
use crate::cache::home::Home;
use crate::cache::installation::Installation;
use crate::cache::snapshot::copy_folder;
use crate::cache::template;
use crate::catalogue::entry::Entry;
use crate::container::{self, Leash};
use crate::family::procedure;
use crate::family::site::{Procedure, Site};
use crate::machine::path_error::{At as _, PathError};
use crate::machine::shared_memory::SharedMemory;
use crate::replication::Replicating;
use crate::replication::role::Role;
use crate::start::access::{Access, random_word};
use crate::start::connect::{Transport, connect_by};
use crate::start::server::error::StartError;
use crate::start::server_process::{ContainerIs, ServerProcess};

const POLL: Duration = Duration::from_millis(10);
const PORTS_TO_TRY: u32 = 5;
const LOGIN_PATIENCE: Duration = Duration::from_secs(10);

/// Whether a server ends with this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lifetime {
    /// The server ends with this process, however this process ends.
    WithParent,
    /// The server runs until it is stopped.
    Detached,
}

/// A function that is called with each new server process, before the server answers. The start may still fail after
/// the call.
pub(crate) type AtBirth<'a> = &'a dyn Fn(ServerProcess, &Access) -> Result<(), PathError>;

/// A prepared start of a server. It may be used more than once.
pub(crate) struct Launch {
    pub(crate) installation: Installation,
    pub(crate) home: Home,
    pub(crate) procedure: &'static dyn Procedure,
    storage_engine: Option<String>,
    settings: Vec<(String, String)>,
    password: String,
    port: Option<u16>,
    listen: Option<IpAddr>,
    pub(super) role: Role,
    patience: Duration,
    lifetime: Lifetime,
    /// The leash of a server in a container: a pipe that ends the server if Dyno dies.
    leash: Mutex<Option<Leash>>,
    shared_memory: SharedMemory,
    /// This field is declared after the home, so that it is dropped after the home: dropping it removes the volume that
    /// the home may be on.
    confined: Option<Arc<Confined>>,
}

/// Checks everything that can be checked before any file is made.
pub(crate) fn check(entry: &Entry, options: &StartOptions) -> Result<&'static dyn Procedure, StartError> {
    let procedure =
        procedure(entry.family).ok_or_else(|| StartError::NoServer { entry: entry.to_string() })?;
    if let Some(storage_engine) = &options.storage_engine {
        entry
            .check_storage_engine(storage_engine)
            .map_err(|error| StartError::StorageEngine(Box::new(error)))?;
    }
    let is_own = |name: &&String| procedure.own_settings().contains(&name.replace('-', "_").as_str());
    match options.settings.keys().find(is_own) {
        Some(name) => Err(StartError::OwnSetting { name: name.clone() }),
        None => Ok(procedure),
    }
}

impl Launch {
    pub(crate) fn new(
        installation: &Installation,
        options: StartOptions,
        procedure: &'static dyn Procedure,
        mut home: Home,
        lifetime: Lifetime,
    ) -> Result<Self, StartError> {
        if let Some(data) = options.data_folder {
            home.keep_data_at(data)?;
        }
        let entry = &installation.entry;
        let mut settings: Vec<_> = entry.options.clone().into_iter().collect();
        let of_storage_engine =
            options.storage_engine.as_ref().and_then(|name| entry.storage_engine_options.get(name));
        settings.extend(of_storage_engine.cloned().unwrap_or_default());
        settings.extend(options.settings);
        let password = match &options.role {
            Role::Replica { primary, .. } => primary.password.clone(),
            Role::Alone | Role::Primary(_) => random_word().at("read", Path::new("/dev/urandom"))?,
        };
        let launch = Self {
            installation: installation.clone(),
            home,
            procedure,
            storage_engine: options.storage_engine,
            settings,
            password,
            port: options.port,
            listen: options.listen,
            role: options.role,
            patience: options.patience,
            lifetime,
            leash: Mutex::new(None),
            shared_memory: SharedMemory::default(),
            confined: options.confined,
        };
        launch.installation.note_use();
        if let Some(steps) = launch.replication_steps() {
            steps.check(&launch.site(0))?;
        }
        match (options.data_from, options.data_copied_from) {
            (None, None) => {
                template::provide(&launch.site(0), procedure)?;
                launch.adapt_data()?;
            }
            (Some(snapshot), _) => {
                snapshot.restore(&launch.home.data())?;
                launch.adapt_data()?;
            }
            (None, Some(folder)) => {
                copy_folder(&folder, &launch.home.data(), Account::instead_of_root())?;
                procedure.take_over(&launch.site(0))?;
            }
        }
        Ok(launch)
    }

    /// Adapts the copied data to this server. For a replica, configures replication from its primary. For other
    /// servers, sets the password.
    fn adapt_data(&self) -> Result<(), StartError> {
        let site = self.site(0);
        match (&self.role, self.replication_steps()) {
            (Role::Replica { .. }, Some(steps)) => steps.prepare(&site),
            _ => self.procedure.adopt(&site),
        }
    }

    /// Returns the steps of replication that the server's role needs.
    fn replication_steps(&self) -> Option<&'static dyn Replicating> {
        self.role.steps(self.installation.entry.family)
    }

    pub(super) fn site(&self, port: u16) -> Site<'_> {
        Site {
            installation: &self.installation,
            home: &self.home,
            storage_engine: self.storage_engine.as_deref(),
            settings: &self.settings,
            port,
            listen: self.listen,
            role: &self.role,
            password: &self.password,
        }
    }

    /// Starts the server and waits until it answers.
    pub(crate) fn start(&self, at_birth: AtBirth<'_>) -> Result<(ServerProcess, Access), StartError> {
        match self.port {
            Some(port) => self.start_on(port, at_birth),
            None => on_free_port(|port| self.start_on(port, at_birth)),
        }
    }

    /// Like [`start`](Self::start), on a given port.
    pub(super) fn start_on(
        &self,
        port: u16,
        at_birth: AtBirth<'_>,
    ) -> Result<(ServerProcess, Access), StartError> {
        if let Some(steps) = self.replication_steps() {
            steps.before_start(&self.site(port))?;
        }
        let command = self.procedure.server(&self.site(port))?;
        self.home.clear()?;
        let end_signal = self.procedure.end_signal();
        let death_signal = (self.lifetime == Lifetime::WithParent).then_some(end_signal);
        let entrance = self.confine()?;
        let kills_before = self.memory_kills();
        let Begun { mut child, process, leash } = begin(&self.site(port), command, death_signal, entrance)?;
        self.hold(leash);
        let mut access = self.access(port, process.pid());
        let answer = at_birth(process, &access)
            .map_err(StartError::from)
            .and_then(|()| self.wait(&mut child, &access, kills_before))
            .and_then(|client| self.greet(client));
        match answer {
            Ok(version) => {
                self.note_shared_memory();
                access.version = version;
                Ok((process, access))
            }
            Err(error) => {
                self.end(process);
                Err(error)
            }
        }
    }

    /// Switches the limits on. Returns the handle with which processes enter the limits, or `None` if there are no
    /// limits.
    fn confine(&self) -> Result<Option<Entrance>, StartError> {
        let Some(confined) = &self.confined else { return Ok(None) };
        confined.impose_io_limits()?;
        Ok(Some(confined.entrance()?))
    }

    /// Records the shared memory that the server's processes have mapped. The processes must be alive. If they are
    /// killed, [`end`](Self::end) removes this memory.
    pub(super) fn note_shared_memory(&self) {
        self.shared_memory.note(&self.home.places());
    }

    /// Stops the server and lifts its I/O limits, so that removing its files does not take long.
    pub(crate) fn end(&self, process: ServerProcess) {
        self.note_shared_memory();
        let container = process.end(self.procedure.end_signal(), &self.home.places());
        self.shared_memory.remove();
        if let Some(leash) = self.hold(None) {
            leash.let_go();
        }
        match container {
            ContainerIs::Gone => container::forget(self.home.folder()),
            // An error is ignored: the home still records the container, and the removal of the home tries again.
            ContainerIs::Left => drop(container::remove_leftover(self.home.folder())),
        }
        self.lift_io_limits();
    }

    /// Stores the leash of a server, and returns the leash of the previous server. A leash is a pipe that ends a
    /// container's server if Dyno dies.
    fn hold(&self, leash: Option<Leash>) -> Option<Leash> {
        let mut held = self.leash.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *held, leash)
    }

    /// Lifts the server's I/O limits, for work that is not measured.
    pub(crate) fn lift_io_limits(&self) {
        if let Some(confined) = &self.confined {
            // An error is ignored: the limits then last until the volume is removed.
            let _ = confined.lift_io_limits();
        }
    }

    fn access(&self, port: u16, pid: u32) -> Access {
        Access {
            engine: self.installation.entry.engine.clone(),
            version: String::new(),
            socket: self.home.sockets().join(self.procedure.socket_name(port)),
            port,
            user: self.procedure.user().to_owned(),
            password: self.password.clone(),
            pid,
            datadir: self.home.data(),
        }
    }

    /// Removes the files that only the start needed, then asks for the version.
    fn greet(&self, mut client: Client) -> Result<String, StartError> {
        self.procedure.tidy(&self.home)?;
        let result = client.query(self.procedure.version_query())?;
        Ok(result.rows.into_iter().flatten().flatten().next().unwrap_or_default())
    }

    /// How a dead server ended, if known.
    pub(super) fn cause_of_end(&self, process: ServerProcess, before: MemoryKills) -> String {
        process
            .exit()
            .map_or_else(|| "nobody saw how".to_owned(), |status| self.cause_of_death(status, before))
    }

    /// Returns the exit status of the server. `status` is the exit status of this process's child. If the server is in
    /// a container, that child is the container's tool.
    fn status_of_server(&self, status: ExitStatus) -> ExitStatus {
        if self.installation.image.is_some() { container::status_inside(status) } else { status }
    }

    /// How the server ended. If the kernel killed it for lack of memory, says so, because no log does.
    fn cause_of_death(&self, status: ExitStatus, before: MemoryKills) -> String {
        match self.memory_kill(before) {
            Some(killed) => format!("{status}: {killed}"),
            None => status.to_string(),
        }
    }

    /// Describes what the kernel has killed for lack of memory since `before`. Returns `None` if it has killed nothing.
    pub(super) fn memory_kill(&self, before: MemoryKills) -> Option<String> {
        before.since(self.confined.as_deref())
    }

    pub(super) fn full_volume(&self) -> Option<String> {
        self.confined.as_deref()?.full_volume()
    }

    /// Returns how many processes the kernel has killed for lack of memory so far.
    pub(super) fn memory_kills(&self) -> MemoryKills {
        // A container's process is in Dyno's own control groups only if Dyno is root, because only root may move it
        // there.
        let shares_groups = self.installation.image.is_none() || geteuid().is_root();
        MemoryKills::so_far(self.confined.as_deref(), shares_groups)
    }

    fn is_ready(&self, client: &mut Client) -> Result<bool, ClientError> {
        self.replication_steps().map_or(Ok(true), |steps| steps.is_ready(client))
    }

    /// Waits until a login succeeds.
    fn wait(
        &self,
        child: &mut Child,
        access: &Access,
        kills_before: MemoryKills,
    ) -> Result<Client, StartError> {
        let entry = self.installation.entry.to_string();
        let patience = LOGIN_PATIENCE.min(self.patience);
        let deadline = Instant::now() + self.patience;
        loop {
            let client = connect_by(self.procedure, access, Transport::Socket, patience);
            let ready = client.and_then(|mut client| Ok(self.is_ready(&mut client)?.then_some(client)));
            let reason = match ready {
                Ok(Some(client)) => return Ok(client),
                Ok(None) => "it has not joined the others".to_owned(),
                Err(error) => error.to_string(),
            };
            if let Some(status) = child.try_wait().at("wait for", Path::new(&entry))? {
                let cause = self.cause_of_death(self.status_of_server(status), kills_before);
                return Err(ended(&self.site(access.port), cause));
            }
            if Instant::now() >= deadline {
                let log = self.home.last_words();
                return Err(StartError::Silent { entry, seconds: self.patience.as_secs(), reason, log });
            }
            std::thread::sleep(POLL);
        }
    }
}

/// Tries several free ports, because another process may take a port before the server binds it.
fn on_free_port<T>(mut start: impl FnMut(u16) -> Result<T, StartError>) -> Result<T, StartError> {
    for _ in 1..PORTS_TO_TRY {
        match start(free_port()?) {
            Err(StartError::PortTaken { .. }) => {}
            outcome => return outcome,
        }
    }
    start(free_port()?)
}

fn free_port() -> Result<u16, StartError> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0));
    let address = listener.and_then(|listener| listener.local_addr());
    Ok(address.at("bind", Path::new("127.0.0.1:0"))?.port())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::Catalogue;

    fn refusal(engine: &str, storage_engine: Option<&str>, setting: &str) -> StartError {
        let catalogue = Catalogue::builtin();
        let mut options = StartOptions::new("/nowhere");
        options.storage_engine = storage_engine.map(ToOwned::to_owned);
        options.settings.insert(setting.to_owned(), "1".to_owned());
        check(&catalogue.find(&engine.parse().unwrap()).unwrap(), &options).unwrap_err()
    }

    #[test]
    fn what_cannot_be_started_is_refused_before_anything_is_made() {
        assert!(matches!(refusal("sqlite", None, "x"), StartError::NoServer { .. }));
        assert!(matches!(refusal("mysql", Some("rocksdb"), "x"), StartError::StorageEngine(_)));
        for (engine, setting) in
            [("mariadb", "bind-address"), ("mysql", "port"), ("postgres", "listen_addresses")]
        {
            assert!(
                matches!(refusal(engine, None, setting), StartError::OwnSetting { name } if name == setting)
            );
        }
    }

    fn taken(port: u16) -> Result<u16, StartError> {
        Err(StartError::PortTaken { entry: "mysql@5.6.24".to_owned(), port })
    }

    #[test]
    fn a_port_that_was_taken_meanwhile_is_changed_for_another() {
        let mut tries = 0;
        let port = on_free_port(|port| {
            tries += 1;
            if tries < PORTS_TO_TRY { taken(port) } else { Ok(port) }
        });
        assert!(port.unwrap() > 0);
    }

    #[test]
    fn trying_ports_ends() {
        let mut tries = 0;
        let outcome = on_free_port(|port| {
            tries += 1;
            taken(port)
        });
        assert!(matches!(outcome, Err(StartError::PortTaken { .. })));
        assert_eq!(tries, PORTS_TO_TRY);
    }
}
