//! File errors that name the file.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// A file operation failed.
#[derive(Debug, Error)]
#[error("cannot {action} {}: {source}", path.display())]
pub struct PathError {
    /// The operation, such as `create`.
    pub action: &'static str,
    /// The file or folder.
    pub path: PathBuf,
    pub source: io::Error,
}

/// Adds the file or folder to an error of the standard library.
pub(crate) trait At<T> {
    /// Adds the operation and the path to the error.
    fn at(self, action: &'static str, path: &Path) -> Result<T, PathError>;
}

impl<T> At<T> for io::Result<T> {
    fn at(self, action: &'static str, path: &Path) -> Result<T, PathError> {
        self.map_err(|source| PathError { action, path: path.to_owned(), source })
    }
}
