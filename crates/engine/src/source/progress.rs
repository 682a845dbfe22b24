//! Progress of a fetch, for observers.

use std::fmt;

/// How far a fetch is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// What is being done.
    pub phase: Phase,
    /// Bytes downloaded by the source at work.
    pub done_bytes: u64,
    /// About how many bytes the whole fetch downloads, where that is known.
    pub total_bytes: Option<u64>,
}

/// What a fetch is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Another process fetches the same engine.
    Waiting,
    /// Lists of packages are brought up to date.
    Listing,
    /// Packages are coming in.
    Downloading,
    /// Packages are checked and unpacked.
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
