//! Progress of a fetch, for observers.

use std::fmt;

/// Progress of a fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// The current phase.
    pub phase: Phase,
    /// Bytes downloaded by the current source.
    pub done_bytes: u64,
    /// Estimated size of the whole download in bytes, if known.
    pub total_bytes: Option<u64>,
}

/// A phase of a fetch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Another process fetches the same engine.
    Waiting,
    /// Package lists are being updated.
    Listing,
    /// Packages are being downloaded.
    Downloading,
    /// Packages are being verified and unpacked.
    Unpacking,
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Waiting => "waiting for another fetch",
            Self::Listing => "updating package lists",
            Self::Downloading => "downloading",
            Self::Unpacking => "unpacking",
        })
    }
}
