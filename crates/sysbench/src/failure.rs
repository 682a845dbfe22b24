//! Why the command cannot do what was requested.

use thiserror::Error;

/// A failure, described completely in one line.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The command line is wrong. The failure is printed to standard error.
    #[error("{0}")]
    Usage(String),
    /// Another failure, printed to standard output as a `FATAL:` line, where tools look for it.
    #[error("{0}")]
    Fatal(String),
}

impl Failure {
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::Usage(message.into())
    }

    pub(crate) fn fatal(message: impl Into<String>) -> Self {
        Self::Fatal(message.into())
    }
}
