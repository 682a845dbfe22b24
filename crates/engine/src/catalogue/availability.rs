//! Whether an engine is available on this machine.

use serde::Serialize;

use crate::cache::installation::Installation;
use crate::cache::location::Cache;
use crate::catalogue::entry::Entry;
use crate::machine::folder;
use crate::source::fetch::last_failure;

/// Availability of an engine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Availability {
    /// The engine is built into Dyno.
    BuiltIn,
    /// The engine is in the cache.
    Fetched {
        /// The exact version of the main package, as the package manager writes it.
        exact_version: String,
        /// Disk space in bytes.
        disk_bytes: u64,
    },
    ToFetch {
        /// Estimated download size in bytes. 0 if unknown.
        download_bytes: u64,
        /// Why the last fetch failed, if it did.
        last_failure: Option<String>,
    },
    /// The engine is not available on this machine.
    Unavailable { reason: String },
}

impl Entry {
    /// Whether the engine is in the cache or can be fetched. Nothing is downloaded to find out.
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
