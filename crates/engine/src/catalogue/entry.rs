//! An entry of the catalogue: a version of an engine, with its source and layout.

use std::collections::BTreeMap;
use std::fmt;

use serde::Deserialize;

use crate::cache::layout::Layout;
use crate::cache::location::Cache;
pub use crate::catalogue::family::Family;
use crate::catalogue::version::version_key;
use crate::machine::platform::Platform;
use crate::source::Source;
use crate::source::error::FetchError;
use crate::source::lock::Lock;
use crate::source::lock::Pin;

/// A version of an engine, as a file of `engines/` describes it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The product, such as `mariadb`.
    pub engine: String,
    /// The version, such as `10.11`. If a package repository provides updates of this version, a fetch takes the newest
    /// patch version.
    pub version: String,
    /// The family, which decides how the engine is started and queried.
    pub family: Family,
    /// The processor architecture that the engine is built for, such as `x86_64`. `None` for any.
    #[serde(default)]
    pub(crate) architecture: Option<String>,
    /// The oldest version of the GNU C library that the engine runs with, such as `2.28`. `None` if the engine brings
    /// its own C library, or if the version is not known.
    #[serde(default)]
    pub(crate) glibc: Option<String>,
    /// The engine's storage engines. The default comes first. Empty if there is no choice.
    #[serde(default)]
    pub storage_engines: Vec<String>,
    /// Estimated download size in bytes. 0 if nothing is fetched.
    #[serde(default)]
    pub download_bytes: u64,
    /// Sources of the engine's packages. Empty if the engine is built into Dyno.
    #[serde(default, rename = "source")]
    pub(crate) sources: Vec<Source>,
    /// Paths inside the packages. If the server's path is missing, the usual paths are searched.
    #[serde(default)]
    pub(crate) layout: Layout,
    /// Environment variables of the engine's programs, such as `LD_PRELOAD`.
    #[serde(default)]
    pub(crate) environment: BTreeMap<String, String>,
    /// Server options that Dyno gives this version by default, such as `mysqlx` with the value `OFF`.
    #[serde(default)]
    pub(crate) options: BTreeMap<String, String>,
    /// Server options that a storage engine needs, by the storage engine's name.
    #[serde(default)]
    pub(crate) storage_engine_options: BTreeMap<String, BTreeMap<String, String>>,
}

impl Entry {
    /// Makes an entry for a server whose layout is known, and nothing else.
    pub(crate) fn of_layout(layout: Layout) -> Self {
        Self {
            engine: String::new(),
            version: "?".to_owned(),
            family: Family::Mysql,
            architecture: None,
            glibc: None,
            storage_engines: Vec::new(),
            download_bytes: 0,
            sources: Vec::new(),
            layout,
            environment: BTreeMap::new(),
            options: BTreeMap::new(),
            storage_engine_options: BTreeMap::new(),
        }
    }

    /// Why the engine cannot be fetched on this machine. `None` if it can. Nothing is downloaded to find out.
    pub(crate) fn obstacle(&self) -> Option<String> {
        let of_platform = self.obstacle_on(&Platform::here());
        of_platform.or_else(|| self.sources.iter().find_map(Source::obstacle))
    }

    /// Why the engine does not run on a platform. `None` if it does.
    pub(crate) fn obstacle_on(&self, here: &Platform) -> Option<String> {
        if let Some(built_for) = self.architecture.as_ref().filter(|name| **name != here.architecture) {
            return Some(format!("it is built for {built_for}, this machine is {}", here.architecture));
        }
        let needed = self.glibc.as_ref()?;
        match &here.glibc {
            Some(glibc) if version_key(glibc) >= version_key(needed) => None,
            Some(glibc) => Some(format!("it needs the GNU C library {needed}, this machine has {glibc}")),
            None => Some(format!("it needs the GNU C library {needed}, this machine has another C library")),
        }
    }

    /// Whether the entry has an archive whose checksum (a pin) the first fetch records. Each fetch of such an archive
    /// runs the server in it to learn the server's exact version.
    pub(crate) fn is_published(&self) -> bool {
        self.sources.iter().any(|source| source.pinned_file().is_some())
    }

    /// Returns the pin of the entry's archive: the checksum that the first fetch recorded. Returns `None` if the
    /// archive was not fetched yet, or if Dyno does not pin it.
    ///
    /// # Errors
    /// A lock file cannot be read.
    pub fn pin(&self, cache: &Cache) -> Result<Option<Pin>, FetchError> {
        let Some(file) = self.sources.iter().find_map(Source::pinned_file) else { return Ok(None) };
        Ok(Lock::of_user(cache.root()).pin_of(&file)?.map(|(pin, _)| pin))
    }

    /// Returns the address at which the entry's archive is published, and a description of how the first fetch checks
    /// the archive. Returns `None` if the entry has neither a vendor's archive nor an artefact of Maven.
    pub fn publication(&self) -> Option<(String, String)> {
        self.sources.iter().find_map(Source::publication)
    }

    /// Whether the version is at least `major.minor`.
    pub fn is_at_least(&self, major: u32, minor: u32) -> bool {
        (self.version_number(0), self.version_number(1)) >= (major, minor)
    }

    /// Returns a component of the version, by its index. In `10.11`, index 0 has 10 and index 1 has 11. A missing
    /// component is 0.
    pub(crate) fn version_number(&self, place: usize) -> u32 {
        self.version.split('.').nth(place).and_then(|part| part.parse().ok()).unwrap_or(0)
    }
}

/// Prints engine and version, such as `mariadb@10.11`.
impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.engine, self.version)
    }
}
