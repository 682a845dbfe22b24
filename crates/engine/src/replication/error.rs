//! Why replicas do not follow their primary.

use dyno_client::ClientError;
use thiserror::Error;

/// Why replicas do not follow their primary.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ReplicationError {
    /// A replica has stopped, because the changes that it received do not fit its data, or because it cannot reach its
    /// primary.
    #[error("replica {number} has stopped: {said}")]
    Stopped {
        number: u32,
        /// The server's message.
        said: String,
    },
    /// A replica did not catch up with its primary in time.
    #[error(
        "replica {number} did not catch up with its primary within {seconds} s; it says that it is {behind}"
    )]
    Late {
        number: u32,
        /// The time limit, in seconds.
        seconds: u64,
        /// How far the replica says that it is behind, in words.
        behind: String,
    },
    /// A commit on the primary does not end, because it waits for replicas.
    #[error("a commit on the primary did not end within {seconds} s; do its replicas answer?")]
    Stuck {
        /// The time limit, in seconds.
        seconds: u64,
    },
    /// Commits on the primary wait for fewer replicas than they should.
    #[error(
        "commits on the primary should wait for {wanted} of its replicas, but {found} of them can confirm a commit"
    )]
    NotWaiting { wanted: u32, found: u32 },
    /// The primary refuses a login or a statement, or does not answer.
    #[error("the primary refuses to work: {0}")]
    Primary(ClientError),
    /// A replica refuses a login or a statement, or does not answer.
    #[error("replica {number} refuses to work: {source}")]
    Replica { number: u32, source: ClientError },
    /// There is no replica that could take the primary's place.
    #[error("there is no replica")]
    NoReplica,
    /// The wait was stopped.
    #[error("the wait for replicas was stopped")]
    Interrupted,
}
