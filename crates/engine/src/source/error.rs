//! Why an engine cannot be fetched.

use std::path::PathBuf;

use thiserror::Error;

use crate::lines;
use crate::path_error::PathError;

/// Why an engine cannot be had.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum FetchError {
    /// The machine lacks the package manager.
    #[error("'{tool}' is needed to fetch this engine and is not installed here; install it and try again")]
    MissingTool {
        /// The command.
        tool: &'static str,
    },
    /// The package manager failed.
    #[error("{tool} failed ({status}){}", lines::below(output))]
    ToolFailed {
        /// The command.
        tool: &'static str,
        /// How it ended.
        status: String,
        /// The last lines that it printed.
        output: Vec<String>,
    },
    /// Nothing could be downloaded, most likely for want of a network.
    #[error("cannot reach where {tool} downloads from (no network?): {complaint}")]
    Unreachable {
        /// The command.
        tool: &'static str,
        /// What it said.
        complaint: String,
    },
    /// This machine lacks something.
    #[error("{entry} cannot be had here: {reason}")]
    Obstacle {
        /// The entry.
        entry: String,
        /// What is lacking.
        reason: String,
    },
    /// An archive whose name does not tell what it is.
    #[error("{} is no archive that dyno can open: .tar.gz, .tgz, .tar.xz, .txz or .zip", path.display())]
    UnknownArchive {
        /// The archive.
        path: PathBuf,
    },
    /// The package manager succeeded, and the package is not there.
    #[error("the package manager reported success but left no archive of '{package}'; try again")]
    NotDownloaded {
        /// The package.
        package: String,
    },
    /// The package release has another version.
    #[error("the package release offers {package} {found}, not {wanted}")]
    WrongVersion {
        /// The package.
        package: String,
        /// What its version had to begin with.
        wanted: String,
        /// The version on offer.
        found: String,
    },
    /// An archive is not what was pinned.
    #[error("{package} was altered on its way: expected {expected}, found {found}; nothing was kept")]
    Checksum {
        /// The package.
        package: String,
        /// The pinned checksum.
        expected: String,
        /// The archive's checksum.
        found: String,
    },
    /// The packages do not hold what the catalogue says.
    #[error("the packages of {entry} hold no '{path}'")]
    Incomplete {
        /// The entry.
        entry: String,
        /// The missing file.
        path: String,
    },
    /// The cache folder cannot be used.
    #[error(transparent)]
    Path(#[from] PathError),
}
