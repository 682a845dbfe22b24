//! Where a fetch downloads and unpacks.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::download::progress::{Phase, Progress};
use super::error::FetchError;
use super::lock::Pin;
use crate::cache::location::Cache;
use crate::machine::path_error::At as _;

/// An unpacked package with its version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Package {
    /// The package's name in its package manager.
    pub(crate) name: String,
    /// The package's exact version in its package manager.
    pub(crate) version: String,
}

/// Folders and progress of a fetch.
pub(crate) struct Workspace<'a> {
    /// The cache, for files that package managers keep between fetches.
    pub(crate) cache: &'a Cache,
    /// Folder for downloads. It is removed after the fetch.
    pub(crate) downloads: PathBuf,
    /// Folder that packages are unpacked into.
    pub(crate) tree: PathBuf,
    /// Estimated size of the whole download in bytes.
    pub(crate) total_bytes: u64,
    /// Checksums of archives that had none before. They are added to the lock file once the fetch is complete.
    pub(crate) new_pins: Vec<Pin>,
    /// Called when there is progress to report.
    pub(crate) progress: &'a mut dyn FnMut(Progress),
}

impl Workspace<'_> {
    /// Reports a phase of unknown length.
    pub(super) fn enter(&mut self, phase: Phase) {
        (self.progress)(Progress { phase, done_bytes: 0, total_bytes: None });
    }
}

/// Returns the only file that a package manager wrote into a folder.
pub(super) fn only_file(folder: &Path, package: &str) -> Result<PathBuf, FetchError> {
    let first = fs::read_dir(folder).and_then(|mut files| files.next().transpose()).at("read", folder)?;
    let missing = || FetchError::NotDownloaded { package: package.to_owned() };
    Ok(first.ok_or_else(missing)?.path())
}
