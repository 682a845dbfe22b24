//! Why an engine cannot be fetched.

use std::path::{Path, PathBuf};

use thiserror::Error;

use super::unpack::UnpackError;
use crate::machine::lines;
use crate::machine::path_error::PathError;

/// Why an engine cannot be fetched.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FetchError {
    /// The machine lacks the package manager.
    #[error("'{tool}' is needed to fetch this engine and is not installed here; install it and try again")]
    MissingTool { tool: &'static str },
    /// The package manager failed.
    #[error("{tool} failed ({status}){}", lines::below(output))]
    ToolFailed {
        tool: &'static str,
        status: String,
        /// The last lines that it printed.
        output: Vec<String>,
    },
    /// Nothing could be downloaded, most likely because there is no network.
    #[error("cannot reach where {tool} downloads from (no network?): {complaint}")]
    Unreachable { tool: &'static str, complaint: String },
    /// This machine lacks something.
    #[error("{entry} cannot be had here: {reason}")]
    Obstacle { entry: String, reason: String },
    /// An archive whose name does not tell what it is.
    #[error("{} is no archive that dyno can open: .tar.gz, .tgz, .tar.xz, .txz or .zip", path.display())]
    UnknownArchive { path: PathBuf },
    /// An archive that is damaged or hostile, or whose content cannot be written.
    #[error("cannot unpack {}: {source}", archive.display())]
    Unpack { archive: PathBuf, source: Box<UnpackError> },
    /// The package manager reported success, but the package is missing.
    #[error("the package manager reported success but left no archive of '{package}'; try again")]
    NotDownloaded { package: String },
    /// The package release has another version.
    #[error("the package release offers {package} {found}, not {wanted}")]
    WrongVersion {
        package: String,
        /// The required prefix of the version.
        wanted: String,
        /// The version on offer.
        found: String,
    },
    /// An archive has a wrong checksum.
    #[error("{package} was altered on its way: expected {expected}, found {found}; nothing was kept")]
    Checksum { package: String, expected: String, found: String },
    /// A file of the catalogue's layout is not in the packages.
    #[error("the packages of {entry} hold no '{path}'")]
    Incomplete { entry: String, path: String },
    /// The cache folder cannot be used.
    #[error(transparent)]
    Path(#[from] PathError),
}

impl FetchError {
    pub(crate) fn unpack(archive: &Path, source: UnpackError) -> Self {
        Self::Unpack { archive: archive.to_owned(), source: Box::new(source) }
    }
}
