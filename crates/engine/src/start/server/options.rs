//! Options of a server's start.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use dyno_host::Confined;

use crate::cache::snapshot::Snapshot;
use crate::replication::role::Role;

const PATIENCE: Duration = Duration::from_secs(120);

/// Options of a server's start.
#[derive(Clone, Debug)]
pub struct StartOptions {
    /// Parent of the server's own folder, which is removed when the server ends. The parent must be on the disk that is
    /// to be measured.
    pub data_root: PathBuf,
    /// Default storage engine. `None` for the server's own default.
    pub storage_engine: Option<String>,
    /// Server variables, by name.
    pub settings: BTreeMap<String, String>,
    /// The server's port. `None` for a free port.
    pub port: Option<u16>,
    /// The address of this host on which the server takes connections from other hosts. `None` if only this host
    /// may connect. A server in a container takes connections from this host only.
    pub listen: Option<IpAddr>,
    /// Time limit until the server answers.
    pub patience: Duration,
    /// Limits of the server. If they have a volume, the data is on it. The programs that create the data folder are not
    /// confined.
    pub confined: Option<Arc<Confined>>,
    /// The path of the data folder, which must not exist yet. `None` for a folder inside the server's own folder.
    pub data_folder: Option<PathBuf>,
    /// A snapshot to start on. It must be from the same version, or from a version whose data the server upgrades.
    /// `None` for an empty database.
    pub data_from: Option<Snapshot>,
    /// The data folder of another server, which must not run. The server starts on a copy, without the settings that
    /// would connect it to other servers.
    pub data_copied_from: Option<PathBuf>,
    /// The server's role in replication. A replica needs the engine, settings and data of its primary.
    pub role: Role,
}

impl StartOptions {
    /// A server with default options and its data below a folder.
    pub fn new(data_root: impl Into<PathBuf>) -> Self {
        Self {
            data_root: data_root.into(),
            storage_engine: None,
            settings: BTreeMap::new(),
            port: None,
            listen: None,
            patience: PATIENCE,
            confined: None,
            data_folder: None,
            data_from: None,
            data_copied_from: None,
            role: Role::Alone,
        }
    }

    /// Returns the folder in which the server's own folder is made.
    pub(crate) fn place(&self) -> &Path {
        self.confined.as_ref().and_then(|confined| confined.volume()).unwrap_or(&self.data_root)
    }
}
