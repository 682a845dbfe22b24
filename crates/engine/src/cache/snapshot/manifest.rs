//! The manifest of a snapshot.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::copy::Copied;
use super::survey::Item;
use super::{Damage, SnapshotKey, SnapshotParts};
use crate::machine::path_error::{At as _, PathError};

const FILE: &str = "snapshot.json";
/// Format number of manifests. A snapshot whose manifest has another number is removed.
const FORMAT: u32 = 1;

/// The description of a snapshot and its content. It is written last, before the snapshot's folder gets its final name.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Manifest {
    format: u32,
    pub(super) key: SnapshotKey,
    pub(super) description: String,
    parts: SnapshotParts,
    made_at_ms: u64,
    pub(super) items: Vec<Item>,
}

impl Manifest {
    pub(super) fn new(parts: &SnapshotParts, description: &str, items: Vec<Item>) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Self {
            format: FORMAT,
            key: parts.key(),
            description: description.to_owned(),
            parts: parts.clone(),
            made_at_ms: now.as_millis() as u64,
            items,
        }
    }

    pub(super) fn path(folder: &Path) -> PathBuf {
        folder.join(FILE)
    }

    pub(super) fn write(&self, folder: &Path) -> Result<(), PathError> {
        let path = Self::path(folder);
        let text = serde_json::to_vec(self).map_err(Into::into).at("write", &path)?;
        fs::write(&path, text).at("write", &path)
    }

    pub(super) fn read(folder: &Path) -> Result<Self, Damage> {
        let path = Self::path(folder);
        let unreadable = |reason: String| Damage::Unreadable(format!("{}: {reason}", path.display()));
        let text = fs::read(&path).map_err(|error| unreadable(error.to_string()))?;
        let manifest: Self = serde_json::from_slice(&text).map_err(|error| unreadable(error.to_string()))?;
        let is_as_named = manifest.format == FORMAT
            && manifest.key == manifest.parts.key()
            && folder.file_name().is_some_and(|name| *name == *manifest.key.as_str());
        if is_as_named { Ok(manifest) } else { Err(unreadable("of another format or folder".to_owned())) }
    }

    pub(super) fn copied(&self) -> Copied {
        Copied {
            files: self.items.iter().filter(|item| item.is_file()).count() as u64,
            bytes: self.items.iter().map(Item::bytes).sum(),
            reflinked_bytes: 0,
        }
    }
}
