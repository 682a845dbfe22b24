//! Why counters could not be read.

use dyno_client::ClientError;
use thiserror::Error;

use crate::machine::path_error::PathError;

/// Why counters could not be read.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CountersError {
    /// The server is gone, does not answer in time, or refuses the query.
    #[error("cannot read the server's counters: {0}")]
    Client(#[from] ClientError),
    /// A file of the database cannot be read.
    #[error("cannot read the database's counters: {0}")]
    Path(#[from] PathError),
}
