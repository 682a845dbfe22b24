//! Whether an engine can be had on this machine.

use serde::Serialize;

use crate::cache::Cache;
use crate::entry::Entry;
use crate::fetch::last_failure;
use crate::folder;
use crate::installation::Installation;

/// What it takes to have an engine here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Availability {
    /// Nothing: it is a part of Dyno.
    BuiltIn,
    /// Nothing: it is in the cache.
    Fetched {
        /// The exact version of its main package, as the package manager writes it.
        exact_version: String,
        /// What it takes of the disk.
        disk_bytes: u64,
    },
    /// A download.
    ToFetch {
        /// About how much; 0 where that is not known.
        download_bytes: u64,
        /// What the last try came to, where it failed.
        last_failure: Option<String>,
    },
    /// It cannot be had.
    Unavailable {
        /// Why not.
        reason: String,
    },
}

impl Entry {
    /// Whether it is here, can be fetched, or cannot: as far as that can be told without trying.
    pub fn availability(&self, cache: &Cache) -> Availability {
        if !self.family.has_server() {
            return Availability::BuiltIn;
        }
        if let Some(installation) = Installation::find(self, cache) {
            let disk_bytes = folder::allocated_bytes(&installation.root);
            return Availability::Fetched { exact_version: installation.exact_version, disk_bytes };
        }
        match self.obstacle() {
            Some(reason) => Availability::Unavailable { reason },
            None => Availability::ToFetch {
                download_bytes: self.download_bytes,
                last_failure: last_failure(self, cache),
            },
        }
    }
}
