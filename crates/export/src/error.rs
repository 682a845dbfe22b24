//! Errors of an export.

use std::io;
use std::path::PathBuf;

use dyno_store::StoreError;

/// Why an export failed. A failed export deletes its incomplete files.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The results file cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A file with this name exists already.
    #[error("{}: exists already; name another folder, or overwrite it with --force", path.display())]
    Exists { path: PathBuf },
    /// The folder or a file in it cannot be written.
    #[error("{}: cannot be written ({reason}); check its permissions and free space, or name another folder", path.display())]
    Unwritable { path: PathBuf, reason: String },
    /// A file of the data set exists but cannot be read.
    #[error("{}: cannot be read ({reason}); check its permissions, or name another folder", path.display())]
    Unreadable { path: PathBuf, reason: String },
    /// A file of the data set was written by a version of Dyno that writes other columns.
    #[error("{}: it has no column `{column}`; export its run again with --force", path.display())]
    NoColumn { path: PathBuf, column: String },
    /// There is no data set in the folder.
    #[error("{}: no data set in it; make one with `dyno export --partition --to DIR`", path.display())]
    NoDataset { path: PathBuf },
    /// None of the chosen runs has a figure.
    #[error("{}: no run in it has a figure to export", path.display())]
    NoFigure { path: PathBuf },
    /// The caller asked to stop.
    #[error("stopped; nothing was exported")]
    Stopped,
}

/// Why writing a row or a file in one of the formats failed. In most cases, the file could not be written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WriteError {
    #[error(transparent)]
    Io(#[from] io::Error),
    #[error(transparent)]
    Parquet(#[from] parquet::errors::ParquetError),
    #[error(transparent)]
    Json(#[from] serde_json::Error),
}
