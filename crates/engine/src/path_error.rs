//! File errors that name the file.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// The system refused something to do with a file.
#[derive(Debug, Error)]
#[error("cannot {action} {}: {source}", path.display())]
pub struct PathError {
    /// What was tried, such as `create`.
    pub action: &'static str,
    /// The file or folder.
    pub path: PathBuf,
    /// The system's reason.
    pub source: io::Error,
}

/// Adds the file to an error of the standard library.
pub(crate) trait At<T> {
    /// Says what was tried on which path.
    fn at(self, action: &'static str, path: &Path) -> Result<T, PathError>;
}

impl<T> At<T> for io::Result<T> {
    fn at(self, action: &'static str, path: &Path) -> Result<T, PathError> {
        self.map_err(|source| PathError { action, path: path.to_owned(), source })
    }
}
