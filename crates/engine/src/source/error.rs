//! Why an engine cannot be fetched, or why a folder cannot be used as a server.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use super::lock::Pin;
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
        /// The last lines of the package manager's output.
        output: Vec<String>,
    },
    /// Nothing could be downloaded, most likely because there is no network.
    #[error("cannot reach where {tool} downloads from (no network?): {complaint}")]
    Unreachable { tool: &'static str, complaint: String },
    /// A proxy asks for a password.
    #[error(
        "the proxy wants a name and a password ({complaint}); put them into https_proxy and http_proxy: \
         http://USER:PASSWORD@HOST:PORT"
    )]
    Proxy { complaint: String },
    /// No address of a vendor has the archive.
    #[error(
        "{file} is at none of its addresses; `dyno engine list --upstream` lists what was published{}",
        attempts(failures)
    )]
    NotThere {
        file: String,
        /// Each address, with the reason why it failed.
        failures: Vec<(String, String)>,
    },
    /// No checksum of an archive is known or published.
    #[error(
        "its vendor publishes no checksum of {file}, so nothing was kept; if you know it from elsewhere: \
         `dyno engine add ADDRESS --sha256 DIGITS`"
    )]
    NoChecksum { file: String },
    /// An archive has changed since its first fetch.
    #[error(
        "{} changed after its first fetch, so nothing was kept: {} has SHA-256 {}, this one has {found} (from {}). \
         If its vendor says why, remove it from that file and fetch it again",
        pin.file, lock.display(), pin.sha256, pin.from
    )]
    Changed {
        /// The pin: the archive as it was at its first fetch.
        pin: Box<Pin>,
        /// The archive's SHA-256 now.
        found: String,
        /// The file with the pin.
        lock: PathBuf,
    },
    /// A lock file cannot be read.
    #[error("{}:{line}: {reason}; correct it, or remove it to pin all archives anew", path.display())]
    Lock {
        path: PathBuf,
        /// Line number, counted from 1.
        line: usize,
        reason: String,
    },
    /// An archive contains another version than its name says.
    #[error("the archive of {entry} holds version {said}, so nothing was kept")]
    OtherVersion {
        entry: String,
        /// The version that the archive's server prints.
        said: String,
    },
    /// The server of an archive cannot print its version. Perhaps this machine lacks a library.
    #[error("{entry} does not run here: {source}")]
    Silent { entry: String, source: Box<BasedirError> },
    /// This machine lacks something that the engine needs.
    #[error("{entry} is not available here: {reason}")]
    Obstacle { entry: String, reason: String },
    /// The extension of an archive is not known.
    #[error("{} is not an archive that dyno can open: .tar.gz, .tgz, .tar.xz, .txz or .zip", path.display())]
    UnknownArchive { path: PathBuf },
    /// An archive is damaged or hostile, or its content cannot be written.
    #[error("cannot unpack {}: {source}", archive.display())]
    Unpack { archive: PathBuf, source: Box<UnpackError> },
    /// The package manager reported success, but the package is missing.
    #[error("the package manager reported success but left no archive of '{package}'; try again")]
    NotDownloaded { package: String },
    /// The Debian release offers another version of the package.
    #[error("the package release offers {package} {found}, not {wanted}")]
    WrongVersion {
        package: String,
        /// The prefix that the version must have.
        wanted: String,
        /// The version that the Debian release offers.
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

/// Returns the lines that follow an error message: one for each address, with the reason of its failure.
fn attempts(failures: &[(String, String)]) -> String {
    let lines = failures.iter().map(|(address, failure)| format!("{address}: {failure}"));
    lines::below(&lines.collect::<Vec<_>>())
}

/// Why a folder cannot be used as a server.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum BasedirError {
    /// The folder does not exist, or cannot be opened.
    #[error("basedir {}: {source}", path.display())]
    Unreachable { path: PathBuf, source: io::Error },
    /// The path leads to a file.
    #[error(
        "{}: a file, where the folder of a build is needed; unpack it, or make an entry of the archive (docs/do/engines.md, \
         \"Your own entries\")",
        path.display()
    )]
    File { path: PathBuf },
    /// The folder contains no server.
    #[error(
        "basedir {}: no server in it, such as bin/mysqld, sbin/mysqld, bin/mariadbd or bin/postgres",
        path.display()
    )]
    NoServer { path: PathBuf },
    /// The server cannot print its version.
    #[error("{} --version failed ({reason}){}", server.display(), lines::below(output))]
    Silent {
        server: PathBuf,
        reason: String,
        /// The last lines of the server's output.
        output: Vec<String>,
    },
    /// The server's output has no version.
    #[error("{} --version says '{said}', in which dyno finds no version", server.display())]
    NoVersion { server: PathBuf, said: String },
}
