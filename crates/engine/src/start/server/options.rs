//! Options of a server's start.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use dyno_host::Confined;

use crate::cache::snapshot::Snapshot;

const PATIENCE: Duration = Duration::from_secs(120);

/// Options of a server's start.
#[derive(Clone, Debug)]
pub struct StartOptions {
    /// Parent of the server's own folder, which is removed when the server ends. The disk that it is
    /// on is the disk that is measured.
    pub data_root: PathBuf,
    /// Default storage engine; none for the server's own.
    pub storage_engine: Option<String>,
    /// Server variables, by name.
    pub settings: BTreeMap<String, String>,
    /// Its port; none for a free one.
    pub port: Option<u16>,
    /// The address of this host on which it takes connections of other hosts; none for those of this host only. A server
    /// in a container takes none.
    pub listen: Option<IpAddr>,
    /// Time limit until the server answers.
    pub patience: Duration,
    /// Limits of the server. Its data goes to their volume, if there is one. The programs that create
    /// its data folder are not confined.
    pub confined: Option<Arc<Confined>>,
    /// The data folder itself, which must not exist, where it is to be elsewhere than the rest; none for a place in the
    /// server's own folder.
    pub data_folder: Option<PathBuf>,
    /// A snapshot to start on, written by the same version; none for an empty database.
    pub data_from: Option<Snapshot>,
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
        }
    }

    /// The folder in which the server gets a folder of its own.
    pub(crate) fn place(&self) -> &Path {
        self.confined.as_ref().and_then(|confined| confined.volume()).unwrap_or(&self.data_root)
    }
}
