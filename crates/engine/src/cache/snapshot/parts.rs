//! The key of a snapshot: what its data depends on.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::cache::installation::Installation;
use crate::machine::hexadecimal::hexadecimal;

/// Named values that determine the content of a data folder. Runs with equal parts may share a snapshot.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SnapshotParts(BTreeMap<String, String>);

/// A fingerprint of [`SnapshotParts`]: SHA-256 in hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SnapshotKey(String);

impl SnapshotParts {
    /// The parts of the key that come from the server: exact version, storage engine and all settings. All settings are
    /// included, because any setting may change the files of the data.
    pub fn of_server(
        installation: &Installation,
        storage_engine: Option<&str>,
        settings: &BTreeMap<String, String>,
    ) -> Self {
        let entry = &installation.entry;
        let of_storage_engine = storage_engine.and_then(|name| entry.storage_engine_options.get(name));
        let options = entry.options.iter().chain(of_storage_engine.into_iter().flatten()).chain(settings);
        let mut parts = Self::default()
            .with("engine", &entry.to_string())
            .with("exact version", &installation.exact_version)
            .with("storage engine", storage_engine.unwrap_or_default());
        for (name, value) in options {
            parts = parts.with(&format!("setting {}", name.replace('-', "_")), value);
        }
        parts
    }

    /// Adds a part, such as `data set` or the hash of the load's script. The part replaces an earlier part of the
    /// same name.
    #[must_use]
    pub fn with(mut self, name: &str, value: &str) -> Self {
        self.0.insert(name.to_owned(), value.to_owned());
        self
    }

    /// The key of snapshots with these parts.
    pub fn key(&self) -> SnapshotKey {
        let mut hash = Sha256::new();
        for text in self.0.iter().flat_map(|(name, value)| [name, value]) {
            // The length is hashed too, so that different parts never give the same bytes.
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        }
        SnapshotKey(hexadecimal(&hash.finalize()))
    }
}

impl SnapshotKey {
    /// Parses a printed key.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let is_hexadecimal = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
        (text.len() == 64 && text.chars().all(is_hexadecimal)).then(|| Self(text.to_owned()))
    }

    /// Returns the key as 64 hexadecimal digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SnapshotKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_tells_parts_apart_and_not_their_order() {
        let a = SnapshotParts::default().with("rows", "10").with("tables", "1");
        let b = SnapshotParts::default().with("tables", "1").with("rows", "10");
        assert_eq!(a.key(), b.key());
        assert_eq!(SnapshotKey::parse(a.key().as_str()), Some(a.key()));
        let others = [
            a.clone().with("rows", "11"),
            a.clone().with("more", ""),
            SnapshotParts::default().with("rows1", "0").with("tables", "1"),
            SnapshotParts::default().with("rows", "10tables1"),
        ];
        for other in others {
            assert_ne!(a.key(), other.key(), "{other:?}");
        }
        assert_eq!(SnapshotKey::parse("../x"), None);
    }
}
