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
    /// A process works with the files.
    #[error("{} is in use; wait until the processes that use it have ended", folder.display())]
    InUse { folder: PathBuf },
    /// It is damaged.
    #[error("the snapshot {} is damaged ({damage}); remove it, and the data is loaded anew", folder.display())]
    Damaged {
        folder: PathBuf,
        /// What is wrong with it.
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
    /// It cannot be read, or its manifest is not one.
    Unreadable(String),
    /// A file is gone.
    Missing(PathBuf),
    /// There is an additional file.
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
