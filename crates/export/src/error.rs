//! Errors of an export.

use std::io;
use std::path::PathBuf;

use dyno_store::StoreError;

/// A failed export. It leaves none of its files behind.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The results file cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A file with that name exists.
    #[error("{}: is there already; name another folder, or overwrite it with --force", path.display())]
    Exists { path: PathBuf },
    /// The folder or a file in it cannot be written.
    #[error("{}: cannot be written ({reason}); check its permissions and free space, or name another folder", path.display())]
    Unwritable { path: PathBuf, reason: String },
    /// The caller asked to stop.
    #[error("stopped; nothing was exported")]
    Stopped,
}

/// Errors of a format's writer, mostly of its file.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WriteError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    Parquet(#[from] parquet::errors::ParquetError),
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}
