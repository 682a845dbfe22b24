//! Servers of `engine start`, which live until `engine stop`.
//!
//! Each server's folder contains the server's state, and the lock on that folder shows whether the server is alive. So
//! there is no list that could be out of date.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use dyno_client::{Client, ClientError};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::cache::home::{self, Home};
use crate::cache::installation::Installation;
use crate::cache::location::Cache;
use crate::catalogue::entry::Family;
use crate::catalogue::name::SystemName;
use crate::catalogue::version::is_within;
use crate::family::procedure;
use crate::family::site::Procedure;
use crate::machine::fnv::{self, fnv_1a};
use crate::machine::path_error::{At as _, PathError};
use crate::named::EngineName;
use crate::start::access::Access;
use crate::start::connect::{Transport, connect_by};
use crate::start::server::error::StartError;
use crate::start::server::{Launch, Lifetime, StartOptions, check};
use crate::start::server_process::ServerProcess;

const RECORD: &str = "server.json";

/// The servers of `engine start`.
#[derive(Clone, Debug)]
pub struct Running {
    folder: PathBuf,
}

/// A server of `engine start`.
#[derive(Clone, Debug)]
pub struct RunningServer {
    /// Engine, version and storage engine.
    pub name: SystemName,
    /// The image or the folder that the server comes from. `None` for an engine of the catalogue.
    pub origin: Option<String>,
    /// The family of the engine.
    pub family: Family,
    /// How to connect.
    pub access: Access,
    process: ServerProcess,
    procedure: &'static dyn Procedure,
}

/// The state file of a server. Only this user can read it, because the password is in it.
#[derive(Serialize, Deserialize)]
struct Record {
    name: SystemName,
    #[serde(default)]
    origin: Option<String>,
    family: Family,
    process: ServerProcess,
    access: Access,
}

/// Why a name does not lead to exactly one running server.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RunningError {
    /// No server matches the name.
    #[error("{name} is not running; {}", listed(running))]
    NotRunning {
        /// The name that was asked for.
        name: String,
        running: Vec<String>,
    },
    /// Several servers match the name.
    #[error("{name} may mean several servers; say which: {}", fitting.join(", "))]
    Ambiguous {
        /// The name that was asked for.
        name: String,
        fitting: Vec<String>,
    },
    /// The folder of the servers cannot be used.
    #[error(transparent)]
    Path(#[from] PathError),
}

fn listed(running: &[String]) -> String {
    if running.is_empty() { "no server is".to_owned() } else { format!("running: {}", running.join(", ")) }
}

impl Running {
    /// The servers of a cache.
    pub fn new(cache: &Cache) -> Self {
        Self { folder: cache.servers() }
    }

    /// Starts a server that outlives this process, and returns once it answers. `engine` is the name of the
    /// installation.
    ///
    /// # Errors
    /// The errors of [`start`](crate::start), or a server of the same engine runs already.
    pub fn start(
        &self,
        engine: &EngineName,
        installation: &Installation,
        storage_engine: Option<String>,
        settings: BTreeMap<String, String>,
    ) -> Result<RunningServer, StartError> {
        let options = StartOptions { storage_engine, settings, ..StartOptions::new(&self.folder) };
        let procedure = check(&installation.entry, &options)?;
        let name = SystemName {
            engine: installation.entry.engine.clone(),
            version: Some(installation.entry.version.clone()),
            storage_engine: options.storage_engine.clone(),
        };
        let (family, origin) = (installation.entry.family, engine.origin());
        let home = self.make_home(&name, origin.as_deref())?;
        let launch = Launch::new(installation, options, procedure, home, Lifetime::Detached)?;
        let write = |process, access: &Access| {
            let (name, origin, access) = (name.clone(), origin.clone(), access.clone());
            write(&launch.home, &Record { name, origin, family, process, access })
        };
        // The state is written before the server answers. So `stop` can find the server even if this process is killed
        // before then.
        let (process, access) = launch.start(&write)?;
        write(process, &access)?;
        launch.home.leave();
        Ok(RunningServer { name, origin, family, access, process, procedure })
    }

    fn make_home(&self, name: &SystemName, origin: Option<&str>) -> Result<Home, StartError> {
        // '+' replaces '/', because a folder's name cannot contain '/', and an engine's name cannot contain '+'.
        let mut folder_name = name.to_string().replace('/', "+");
        if let Some(origin) = origin {
            let hash = fnv_1a(fnv::BASIS, origin.bytes());
            let _ = write!(folder_name, "+{hash:016x}");
        }
        if let Some(home) = Home::create_named(&self.folder, &folder_name)? {
            return Ok(home);
        }
        Err(StartError::Running { name: title(name, origin) })
    }

    /// All running servers.
    ///
    /// # Errors
    /// The folder of the servers cannot be read.
    pub fn list(&self) -> Result<Vec<RunningServer>, PathError> {
        let alive = home::homes(&self.folder)?.into_iter().filter(|(_, dead)| dead.is_none());
        let mut servers: Vec<_> = alive.filter_map(|(folder, _)| read(&folder)).collect();
        servers.sort_by(|a, b| (&a.name, &a.origin).cmp(&(&b.name, &b.origin)));
        Ok(servers)
    }

    /// Finds a server by its name, or by the image or folder that it comes from. If `storage_engine` is given, it
    /// must match too. Parts of a name may be left out if only one server matches.
    ///
    /// # Errors
    /// No server or several servers match.
    pub fn find(
        &self,
        engine: &EngineName,
        storage_engine: Option<&str>,
    ) -> Result<RunningServer, RunningError> {
        let running = self.list()?;
        let names = |servers: &[RunningServer]| servers.iter().map(ToString::to_string).collect();
        let fits = |server: &&RunningServer| server.is_of(engine, storage_engine);
        let mut fitting: Vec<_> = running.iter().filter(fits).cloned().collect();
        match fitting.len() {
            0 => Err(RunningError::NotRunning { name: engine.to_string(), running: names(&running) }),
            1 => Ok(fitting.remove(0)),
            _ => Err(RunningError::Ambiguous { name: engine.to_string(), fitting: names(&fitting) }),
        }
    }

    /// Stops a server, removes its data, and returns its description.
    ///
    /// # Errors
    /// No server or several servers match, or the data cannot be removed.
    pub fn stop(
        &self,
        engine: &EngineName,
        storage_engine: Option<&str>,
    ) -> Result<RunningServer, RunningError> {
        let server = self.find(engine, storage_engine)?;
        if let Some(home) = server.access.datadir.parent() {
            let _ = server.process.end(server.procedure.end_signal(), &[home]);
            home::remove(home)?;
        }
        Ok(server)
    }
}

/// Returns the name for messages: `mariadb@10.11.14`, or `mariadb@10.11.14 (oci:localhost/mine:1)`.
fn title(name: &SystemName, origin: Option<&str>) -> String {
    match origin {
        Some(origin) => format!("{name} ({origin})"),
        None => name.to_string(),
    }
}

impl fmt::Display for RunningServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&title(&self.name, self.origin.as_deref()))
    }
}

impl RunningServer {
    fn is_of(&self, engine: &EngineName, storage_engine: Option<&str>) -> bool {
        let has_storage_engine =
            storage_engine.is_none() || storage_engine == self.name.storage_engine.as_deref();
        has_storage_engine
            && match engine {
                EngineName::Catalogue(name) => fits(&self.name, name),
                EngineName::Basedir(_) | EngineName::Image(_) => self.origin == engine.origin(),
            }
    }

    /// Logs in as the superuser. `patience` is the time limit of each answer.
    ///
    /// # Errors
    /// The server refuses the login.
    pub fn connect(&self, patience: Duration) -> Result<Client, ClientError> {
        connect_by(self.procedure, &self.access, Transport::Socket, patience)
    }
}

fn write(home: &Home, record: &Record) -> Result<(), PathError> {
    let text = serde_json::to_string(record).map_err(Into::into).at("write", home.folder())?;
    home.write_secret(RECORD, &text).map(drop)
}

/// Reads a server's state. `None` for a server that is being created.
fn read(home: &Path) -> Option<RunningServer> {
    let Record { name, origin, family, process, access } =
        serde_json::from_slice(&fs::read(home.join(RECORD)).ok()?).ok()?;
    Some(RunningServer { name, origin, family, access, process, procedure: procedure(family)? })
}

fn fits(server: &SystemName, wanted: &SystemName) -> bool {
    let version = server.version.as_deref().unwrap_or_default();
    server.engine == wanted.engine
        && wanted.version.as_ref().is_none_or(|wanted| is_within(version, wanted))
        && (wanted.storage_engine.is_none() || wanted.storage_engine == server.storage_engine)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_fits_a_server_by_the_parts_that_it_gives() {
        let fits = |server: &str, wanted: &str| fits(&server.parse().unwrap(), &wanted.parse().unwrap());
        assert!(fits("mariadb@10.11/rocksdb", "mariadb"));
        assert!(fits("mariadb@10.11/rocksdb", "mariadb@10"));
        assert!(fits("mariadb@10.11/rocksdb", "mariadb/rocksdb"));
        assert!(!fits("mariadb@10.11/rocksdb", "mariadb@10.1"));
        assert!(!fits("mariadb@10.11", "mariadb/rocksdb"));
        assert!(!fits("mysql@5.6.24", "mariadb"));
    }

    #[test]
    fn a_server_that_does_not_run_cannot_be_stopped() {
        let folder = tempfile::tempdir().unwrap();
        let running = Running::new(&Cache::new(folder.path()));
        assert!(running.list().unwrap().is_empty());
        for name in ["mysql", "./build", "oci:localhost/mine:1"] {
            let error = running.stop(&name.parse().unwrap(), None).unwrap_err();
            assert_eq!(error.to_string(), format!("{name} is not running; no server is"));
        }
    }
}
