//! Why the command cannot do what it was asked to.

use thiserror::Error;

/// A failure with everything that a user must know in one line.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub(crate) enum Failure {
    /// The command line is wrong: standard error.
    #[error("{0}")]
    Usage(String),
    /// Something else is: a `FATAL:` line among what is printed, as tools look for it there.
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
