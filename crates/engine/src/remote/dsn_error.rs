//! Why an address is invalid.

use std::path::PathBuf;

use thiserror::Error;

/// Why an address is invalid. The error never contains the password.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum DsnError {
    /// The address has an unknown scheme.
    #[error(
        "a dsn begins with mysql://, mariadb:// or postgres://, such as mysql://user:${{PASSWORD}}@host/database"
    )]
    Scheme,
    /// The port is not a number.
    #[error("the dsn's port '{port}' is not a port number")]
    Port { port: String },
    /// A part of the address has an unclosed bracket, or is not UTF-8.
    #[error("the dsn's {part} cannot be read; write special characters as %XX")]
    Malformed { part: &'static str },
    /// An unknown parameter.
    #[error("the dsn has a parameter '{name}', which is unknown; the parameters are: {known}")]
    Parameter {
        name: String,
        /// The parameters that addresses of the product may have.
        known: String,
    },
    /// A parameter that is given twice.
    #[error("the dsn gives the parameter '{name}' twice")]
    Twice { name: String },
    /// A value that a parameter cannot have.
    #[error("the dsn has {name}={value}; it may be {known}")]
    Value { name: &'static str, value: String, known: String },
    /// Parameters that do not fit together, in words.
    #[error("in the dsn, {0}")]
    Contradiction(String),
    /// A file with a certificate or a key cannot be used.
    #[error("the dsn names a file that cannot be used: {0}")]
    TlsFile(String),
    /// The environment variable that contains the password is not set.
    #[error("the dsn's password is in ${{{variable}}}, which is not set")]
    Variable { variable: String },
    /// The file that contains the password cannot be read.
    #[error("the dsn's password is in {}, which cannot be read: {reason}", file.display())]
    File { file: PathBuf, reason: String },
}
