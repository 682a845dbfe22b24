//! What can go wrong with an export, as data.

use std::io;
use std::path::PathBuf;

use dyno_store::StoreError;

/// An export that did not come about. None of its files is there then.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The results file cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A file of that name is there already.
    #[error("{}: is there already; name another folder, or overwrite it with --force", path.display())]
    Exists { path: PathBuf },
    /// The folder or a file in it cannot be written.
    #[error("{}: cannot be written ({reason}); check its permissions and free space, or name another folder", path.display())]
    Unwritable {
        /// The folder or the file.
        path: PathBuf,
        reason: String,
    },
    /// The caller asked to stop.
    #[error("stopped; nothing was exported")]
    Stopped,
}

/// What a format's writer can fail with: the file, mostly.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WriteError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    Parquet(#[from] parquet::errors::ParquetError),
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}
