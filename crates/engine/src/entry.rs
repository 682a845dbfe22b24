//! One entry of the catalogue: an engine at a version, where it comes from and what is where inside it.

use std::collections::BTreeMap;
use std::env;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::layout::Layout;
use crate::source::Source;

/// An engine at a version, as `engines/*.toml` describes it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Entry {
    /// The product, such as `mariadb`.
    pub engine: String,
    /// The version, such as `10.11`; where a package release moves on, its newest patch version is taken.
    pub version: String,
    /// How it is started and spoken to.
    pub family: Family,
    /// The processors that it is built for, such as `x86_64`; none means any.
    #[serde(default)]
    pub(crate) architecture: Option<String>,
    /// What it can keep tables in, its default first; empty where there is no choice.
    #[serde(default)]
    pub storage_engines: Vec<String>,
    /// About how much a fetch downloads; 0 where nothing is fetched.
    #[serde(default)]
    pub download_bytes: u64,
    /// The packages that hold it; none means that it is built into Dyno.
    #[serde(default, rename = "source")]
    pub(crate) sources: Vec<Source>,
    /// What is where inside the packages; without a server in it, it is looked for.
    #[serde(default)]
    pub(crate) layout: Layout,
    /// Server options that this version needs to run here.
    #[serde(default)]
    pub(crate) options: BTreeMap<String, String>,
    /// Server options that a storage engine needs, by its name.
    #[serde(default)]
    pub(crate) storage_engine_options: BTreeMap<String, BTreeMap<String, String>>,
}

/// Engines that are started and spoken to alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Family {
    /// MySQL and its kin other than MariaDB.
    Mysql,
    /// MariaDB.
    Mariadb,
    /// PostgreSQL.
    Postgres,
    /// SQLite: in the process that uses it, so there is no server to start.
    Sqlite,
}

impl Family {
    /// Whether there is a server to fetch and start.
    pub fn has_server(self) -> bool {
        self != Self::Sqlite
    }
}

impl Entry {
    /// Why it cannot be had on this machine, as far as that can be told without trying to fetch it; none if it may.
    pub(crate) fn obstacle(&self) -> Option<String> {
        let here = env::consts::ARCH;
        if let Some(architecture) = self.architecture.as_deref().filter(|architecture| *architecture != here)
        {
            return Some(format!("it is built for {architecture}, this machine is {here}"));
        }
        self.sources.iter().find_map(Source::obstacle)
    }

    /// Whether its version is a given one or a later one.
    pub(crate) fn is_at_least(&self, major: u32, minor: u32) -> bool {
        (self.version_number(0), self.version_number(1)) >= (major, minor)
    }

    /// The number at a place of the version: 10 at 0 and 11 at 1 of `10.11`; 0 where there is none.
    pub(crate) fn version_number(&self, place: usize) -> u32 {
        self.version.split('.').nth(place).and_then(|part| part.parse().ok()).unwrap_or(0)
    }
}

/// `mariadb@10.11`.
impl fmt::Display for Entry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}@{}", self.engine, self.version)
    }
}
