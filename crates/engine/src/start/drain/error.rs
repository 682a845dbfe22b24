//! Why pending writes could not be waited for.

use dyno_client::ClientError;
use thiserror::Error;

/// Why pending writes could not be waited for.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DrainError {
    /// The server is gone, does not answer, or refuses a statement.
    #[error("cannot wait for the server's pending writes: {0}")]
    Client(#[from] ClientError),
    /// SQLite cannot use the file.
    #[error("cannot wait for the database's pending writes: {0}")]
    Sqlite(#[from] rusqlite::Error),
    /// A temporarily changed setting could not be restored.
    #[error("cannot set {setting} back to {value}: {source}; start the server again before it is measured")]
    NotPutBack {
        setting: &'static str,
        /// The setting's value before the change.
        value: String,
        source: ClientError,
    },
}
