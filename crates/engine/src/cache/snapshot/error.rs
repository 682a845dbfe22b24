//! Why a snapshot cannot be made or used.

use std::fmt;
use std::path::PathBuf;

use thiserror::Error;

use super::SnapshotKey;
use crate::machine::path_error::PathError;

/// Why a snapshot cannot be made or used.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum SnapshotError {
    /// A process has its working directory in the folder, or uses the snapshot.
    #[error("{} is in use; wait until the processes that use it have ended", folder.display())]
    InUse { folder: PathBuf },
    /// The snapshot is damaged.
    #[error("the snapshot {} is damaged ({damage}); remove it, and the data is loaded anew", folder.display())]
    Damaged {
        folder: PathBuf,
        /// What is wrong with the snapshot.
        damage: Damage,
    },
    /// Another process saved and then removed a snapshot with the same key.
    #[error("the snapshot {key} was removed while it was made; try again")]
    Removed { key: SnapshotKey },
    /// A file cannot be copied.
    #[error(transparent)]
    Path(#[from] PathError),
}

/// What is wrong with a snapshot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Damage {
    /// The snapshot or its manifest cannot be read, or the manifest belongs to another snapshot.
    Unreadable(String),
    /// A file that the manifest lists is gone.
    Missing(PathBuf),
    /// There is a file that the manifest does not list.
    Unexpected(PathBuf),
    /// A file has changed.
    Changed(PathBuf),
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unreadable(reason) => f.write_str(reason),
            Self::Missing(path) => write!(f, "{} is missing", path.display()),
            Self::Unexpected(path) => write!(f, "{} was added", path.display()),
            Self::Changed(path) => write!(f, "{} was changed", path.display()),
        }
    }
}
