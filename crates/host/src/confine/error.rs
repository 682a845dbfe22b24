//! Errors of confinement.

use std::io;
use std::path::{Path, PathBuf};

use super::missing::Missing;
use super::size::format_bytes;

/// A failed operation on cgroups or volumes.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConfineError {
    /// A right or a tool is missing.
    #[error(transparent)]
    Missing(#[from] Missing),
    /// The system refused an operation on a file.
    #[error("cannot {action} {}: {source}", path.display())]
    File {
        /// The action that failed, such as `create`.
        action: &'static str,
        path: PathBuf,
        source: io::Error,
    },
    /// The disk is too small for the volume.
    #[error(
        "a volume of {} does not fit into {}, which has {} MiB free; make it smaller, or name another folder",
        format_bytes(*volume_bytes), folder.display(), free_bytes >> 20
    )]
    Space {
        volume_bytes: u64,
        /// The folder in which the volume was to be created.
        folder: PathBuf,
        /// Free bytes in the folder.
        free_bytes: u64,
    },
    /// The program that creates the file system failed.
    #[error("mkfs.ext4 failed ({status}): {output}")]
    Mkfs {
        status: String,
        /// The program's output, on one line.
        output: String,
    },
    /// No cgroup can have children with the needed limits.
    #[error(
        "no cgroup from {} upwards can have children with {controllers}: each has processes, lacks a controller or \
         cannot be written; run dyno in a group of its own whose parent is empty, or as root outside of the container",
        group.display()
    )]
    Crowded {
        /// The group of this process.
        group: PathBuf,
        /// The controllers that the children need.
        controllers: String,
    },
}

/// Adds the path to an error of the standard library.
pub(crate) trait At<T> {
    /// Adds the action that failed and the path on which it failed.
    fn at(self, action: &'static str, path: &Path) -> Result<T, ConfineError>;
}

impl<T, E: Into<io::Error>> At<T> for Result<T, E> {
    fn at(self, action: &'static str, path: &Path) -> Result<T, ConfineError> {
        self.map_err(|error| ConfineError::File { action, path: path.to_owned(), source: error.into() })
    }
}
