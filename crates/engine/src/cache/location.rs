//! The folder of fetched engines, data and running servers.

use std::env;
use std::path::{self, Path, PathBuf};

use dyno_host::Fence;

/// Dyno's cache folder: installations, running servers and their data.
#[derive(Clone, Debug)]
pub struct Cache {
    root: PathBuf,
}

impl Cache {
    /// A cache in a folder, which may not exist yet.
    pub fn new(root: impl AsRef<Path>) -> Self {
        let root = root.as_ref();
        // The path must not depend on the working directory, because servers have other working directories.
        Self { root: path::absolute(root).unwrap_or_else(|_| root.to_owned()) }
    }

    /// Returns the default cache: `$DYNO_CACHE`, otherwise `$XDG_CACHE_HOME/dyno`, otherwise `~/.cache/dyno`. For root
    /// it is `/var/cache/dyno` if servers cannot reach root's home folder, as in most containers.
    pub fn default_location() -> Self {
        let of = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let of_home = || {
            let folder = env::home_dir().unwrap_or_else(env::temp_dir).join(".cache").join("dyno");
            if Fence::is_unreachable(&folder) { PathBuf::from("/var/cache/dyno") } else { folder }
        };
        let root = of("DYNO_CACHE")
            .or_else(|| of("XDG_CACHE_HOME").map(|dir| dir.join("dyno")))
            .unwrap_or_else(of_home);
        Self::new(root)
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder in which runs create the homes of their servers, unless the user names another folder.
    pub fn runs(&self) -> PathBuf {
        self.root.join("runs")
    }

    /// Unpacked engines, one folder each.
    pub(crate) fn engines(&self) -> PathBuf {
        self.root.join("engines")
    }

    /// The folder of snapshots (copies of loaded data folders). A snapshot's folder has the snapshot's key as its name.
    pub(crate) fn snapshots(&self) -> PathBuf {
        self.root.join("snapshots")
    }

    /// The folder of templates (data folders of servers that never ran). New data folders are copied from them.
    pub(crate) fn templates(&self) -> PathBuf {
        self.root.join("templates")
    }

    /// The folder in which `dyno engine start` creates the homes of its servers.
    pub(crate) fn servers(&self) -> PathBuf {
        self.root.join("servers")
    }

    /// Returns the folder in which package tools keep their state for Dyno, apart from the machine's own state.
    pub(crate) fn tools(&self) -> PathBuf {
        self.root.join("tools")
    }

    /// Returns the folder of one package tool's state.
    pub(crate) fn tool(&self, name: &str) -> PathBuf {
        self.tools().join(name)
    }
}
