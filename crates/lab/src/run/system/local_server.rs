//! A database server under test that Dyno starts.

use std::net::IpAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use dyno_engine::{
    Cache, Counters, DrainLimits, DrainProgress, DrainReport, Family, Installation, Pooler, Role, Server,
    Snapshot, StartError, StartOptions, Topology, drain, remove_dead_homes,
};
use dyno_host::{Confined, Confinement, ReadBack};
use dyno_load::{Address, Protocol, Target};

use super::replicas::Replicas;
use super::running::RunningSystem;
use crate::plan::{Endpoint, System, SystemData, SystemPooler};
use crate::run::error::SystemError;
use crate::run::record::Work;

/// Number of log lines that are kept with a failure.
const LOG_LINES: usize = 30;
/// Time limit for reading counters.
const COUNTERS_PATIENCE: Duration = Duration::from_secs(10);
/// Time limit for reading a table, which may be larger than memory.
const READ_PATIENCE: Duration = Duration::from_secs(3600);
/// Time limit of a shutdown, in which the server writes all its dirty pages.
const SHUTDOWN_PATIENCE: Duration = Duration::from_secs(600);

/// Settings for servers that start with a user's data. This data may contain scheduled events and the configuration of
/// a replica. The settings keep the server from executing the events and from replicating.
const QUIET_MARIADB: [(&str, &str); 2] = [("event_scheduler", "OFF"), ("skip_slave_start", "ON")];
/// The settings of [`QUIET_MARIADB`] for MySQL. The prefix `loose_` makes a version ignore a name that it does not
/// know.
const QUIET_MYSQL: [(&str, &str); 3] =
    [("event_scheduler", "OFF"), ("loose_skip_slave_start", "ON"), ("loose_skip_replica_start", "ON")];

/// Returns the start options of a system's server, without its limits and data.
pub(crate) fn start_options(system: &System, cache: &Cache) -> StartOptions {
    let mut settings = system.settings.clone();
    let quiet = match system.source.family() {
        _ if system.data.is_none() => &[][..],
        Family::Mysql => &QUIET_MYSQL[..],
        Family::Mariadb => &QUIET_MARIADB[..],
        Family::Postgres | Family::Sqlite => &[],
    };
    for (name, value) in quiet {
        settings.entry((*name).to_owned()).or_insert_with(|| (*value).to_owned());
    }
    StartOptions {
        storage_engine: system.source.storage_engine().map(str::to_owned),
        settings,
        listen: system.listen,
        ..StartOptions::new(cache.runs())
    }
}

/// A server that Dyno started for a run.
pub(crate) struct LocalServer {
    server: Server,
    family: Family,
    storage_engine: Option<String>,
    image: Option<String>,
    driver: Protocol,
    /// The database that loads connect to.
    database: String,
    listen: Option<IpAddr>,
    replicas: Option<Replicas>,
    pooler: Option<Pooler>,
    /// The limits of the server. This field is declared after the server, because fields are dropped in the order of
    /// declaration, and the limits must outlive the server.
    confined: Option<Arc<Confined>>,
}

impl LocalServer {
    pub(crate) fn start(
        system: &System,
        installation: &Installation,
        cache: &Cache,
        data_from: Option<&Snapshot>,
    ) -> Result<Self, SystemError> {
        let confined = confined(system, cache)?;
        let options = StartOptions {
            role: system.replication.map_or(Role::Alone, Role::Primary),
            confined: confined.clone(),
            data_from: data_from.cloned(),
            ..start_options(system, cache)
        };
        let family = installation.entry.family;
        let driver = match family {
            Family::Postgres => Protocol::Pgsql,
            Family::Mysql | Family::Mariadb | Family::Sqlite => Protocol::Mysql,
        };
        let storage_engine = options.storage_engine.clone();
        let server = dyno_engine::start(installation, options)?;
        let replicas = system
            .replication
            .map(|replication| Replicas::start(replication, system, installation, cache, data_from, &server));
        let replicas = replicas.transpose()?.flatten();
        let pooler = system.pooler.as_ref().map(|pooler| start_pooler(pooler, system, cache, &server));
        let pooler = pooler.transpose()?;
        let image = installation.image();
        let database = match &system.data {
            Some(SystemData { database: Some(database), .. }) => database.clone(),
            Some(_) => server.main_database()?,
            None => dyno_engine::DATABASE.to_owned(),
        };
        let listen = system.listen;
        let local = Self {
            server,
            family,
            storage_engine,
            image,
            driver,
            database,
            listen,
            replicas,
            pooler,
            confined,
        };
        local.limit_io(true)?;
        Ok(local)
    }
}

/// Starts a system's connection pooler. The pooler gets the system's CPUs, and the same memory limit as the server.
fn start_pooler(
    pooler: &SystemPooler,
    system: &System,
    cache: &Cache,
    server: &Server,
) -> Result<Pooler, SystemError> {
    let Confinement { server_cpus, memory_bytes, .. } = &system.confinement;
    let limits = Confinement {
        server_cpus: server_cpus.clone(),
        memory_bytes: *memory_bytes,
        ..Confinement::default()
    };
    let confined = (!limits.is_none()).then(|| Confined::create(&limits, &cache.runs())).transpose()?;
    Ok(Pooler::start(pooler.program, &pooler.settings, server, &cache.runs(), confined.map(Arc::new))?)
}

/// Makes the limits of a system's server; `None` if the system has no limits.
pub(super) fn confined(system: &System, cache: &Cache) -> Result<Option<Arc<Confined>>, SystemError> {
    if system.confinement.is_none() {
        return Ok(None);
    }
    // The folders of dead runs' servers are removed first, because `Confined::create` removes the volumes of dead
    // runs with their contents.
    remove_dead_homes(&cache.runs()).map_err(StartError::from)?;
    Ok(Some(Arc::new(Confined::create(&system.confinement, &cache.runs())?)))
}

impl RunningSystem for LocalServer {
    fn target(&self) -> Target {
        let access = self.server.access();
        Target {
            user: access.user.clone(),
            password: access.password.clone(),
            database: self.database.clone(),
            ..Target::new(self.driver, vec![Address::Unix(access.socket.clone())])
        }
    }

    fn target_at(&self, endpoint: Endpoint) -> Target {
        let addresses = match (endpoint, &self.replicas, &self.pooler) {
            (Endpoint::Replicas, Some(replicas), _) => replicas.addresses(),
            (_, _, Some(pooler)) => vec![Address::Unix(pooler.socket().to_owned())],
            _ => return self.target(),
        };
        Target { addresses, ..self.target() }
    }

    fn pooler(&self) -> Option<u32> {
        self.pooler.as_ref().map(Pooler::pid)
    }

    fn topology(&self) -> Option<Topology> {
        // The primary's process id changes when the primary is started again, so it is read anew.
        let primary = self.server.access().clone();
        self.replicas.as_ref().map(|replicas| Topology { primary, ..replicas.topology().clone() })
    }

    fn network_address(&self) -> Option<Address> {
        let port = self.server.access().port;
        self.listen.map(|listen| Address::Tcp { host: listen.to_string(), port })
    }

    fn public_key(&self) -> Option<String> {
        // MySQL generates a key since 8.0. Other servers neither have nor need a key.
        dyno_load::read_public_key(&self.server.access().datadir.join("public_key.pem")).ok()
    }

    fn work(&self) -> Work {
        Work::Server(self.server.access().pid)
    }

    fn family(&self) -> Option<Family> {
        Some(self.family)
    }

    fn data(&self) -> Option<&Path> {
        Some(&self.server.access().datadir)
    }

    fn version(&self) -> String {
        self.server.access().version.clone()
    }

    fn encryption(&self) -> Option<String> {
        self.listen.map(|_| "none".to_owned())
    }

    fn image(&self) -> Option<String> {
        self.image.clone()
    }

    fn variables(&self) -> Result<Vec<(String, String)>, SystemError> {
        Ok(self.server.variables()?)
    }

    fn is_alive(&self) -> bool {
        self.server.is_alive()
    }

    fn answers(&self, patience: Duration) -> bool {
        self.server.check(patience).is_ok()
    }

    fn met_limit(&self) -> Option<String> {
        let of_replicas = || self.replicas.as_ref().and_then(Replicas::met_limit);
        self.server.memory_kill().or_else(|| self.server.full_volume()).or_else(of_replicas)
    }

    fn log_tail(&self) -> String {
        let of_replicas = self.replicas.as_ref().map(|replicas| replicas.log_tail(LOG_LINES));
        let of_pooler = self.pooler.as_ref().map(|pooler| {
            let state = if pooler.is_alive() { "" } else { ", which has died" };
            format!("\n{}{state}:\n{}", pooler.program().as_str(), pooler.log_tail(LOG_LINES).join("\n"))
        });
        let of_server = self.server.log_tail(LOG_LINES).join("\n");
        [of_server, of_replicas.unwrap_or_default(), of_pooler.unwrap_or_default()].concat()
    }

    fn counters(&self) -> Option<Counters> {
        Counters::connect(self.family, self.server.access(), COUNTERS_PATIENCE).ok()
    }

    fn drain(
        &self,
        limits: &DrainLimits<'_>,
        progress: &mut dyn FnMut(DrainProgress<'_>),
    ) -> Result<DrainReport, SystemError> {
        Ok(drain(self.family, self.server.access(), self.storage_engine.as_deref(), limits, progress)?)
    }

    fn read_tables(&self) -> Result<(), SystemError> {
        Ok(self.server.read_tables(&self.database, READ_PATIENCE)?)
    }

    fn read_log(&self) -> Result<(), SystemError> {
        Ok(self.server.read_log()?)
    }

    fn limit_io(&self, limited: bool) -> Result<(), SystemError> {
        self.replicas.as_ref().map_or(Ok(()), |replicas| replicas.limit_io(limited))?;
        match &self.confined {
            Some(confined) if limited => Ok(confined.impose_io_limits()?),
            Some(confined) => Ok(confined.lift_io_limits()?),
            None => Ok(()),
        }
    }

    fn delay_disk(&self, latency: Option<Duration>) -> bool {
        let Some(confined) = &self.confined else { return false };
        latency.map_or_else(|| confined.restore_latency(), |latency| confined.set_latency(latency))
    }

    fn limits(&self) -> Option<ReadBack> {
        self.confined.as_ref().map(|confined| confined.read_back(self.server.access().pid))
    }

    fn kill(&self) {
        self.server.crash(&mut || {});
    }

    fn restart(&mut self) -> Result<(), SystemError> {
        if self.replicas.is_some() || self.pooler.is_some() {
            // The replicas and the pooler must be able to find the server again.
            return self.restart_in_place();
        }
        Ok(self.server.restart()?)
    }

    fn restart_in_place(&mut self) -> Result<(), SystemError> {
        Ok(self.server.restart_in_place()?)
    }

    fn shut_down_cleanly(&mut self) -> Result<(), SystemError> {
        Ok(self.server.shut_down_cleanly(SHUTDOWN_PATIENCE)?)
    }
}
