//! What a server is to be started with.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use dyno_host::Confined;

use crate::snapshot::Snapshot;

const PATIENCE: Duration = Duration::from_secs(120);

/// How to start a server.
#[derive(Clone, Debug)]
pub struct StartOptions {
    /// The folder in which the server gets a folder of its own, removed when the server ends. What disk this is
    /// on is the disk that is measured.
    pub data_root: PathBuf,
    /// What tables are to be kept in unless they say otherwise; none leaves the server's default.
    pub storage_engine: Option<String>,
    /// Server variables, by name.
    pub settings: BTreeMap<String, String>,
    /// Its port; none takes a free one.
    pub port: Option<u16>,
    /// How long the server may take until it answers.
    pub patience: Duration,
    /// What the server is to run inside of; its data goes to the volume, where there is one. The programs that make
    /// its data folder are not confined.
    pub confined: Option<Arc<Confined>>,
    /// The data to start on, which the same version must have written; none makes an empty database.
    pub data_from: Option<Snapshot>,
}

impl StartOptions {
    /// A server as it is, with its data below a folder.
    pub fn new(data_root: impl Into<PathBuf>) -> Self {
        Self {
            data_root: data_root.into(),
            storage_engine: None,
            settings: BTreeMap::new(),
            port: None,
            patience: PATIENCE,
            confined: None,
            data_from: None,
        }
    }

    /// The folder in which the server gets a folder of its own.
    pub(crate) fn place(&self) -> &Path {
        self.confined.as_ref().and_then(|confined| confined.volume()).unwrap_or(&self.data_root)
    }
}
