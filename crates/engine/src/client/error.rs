//! Why a client got no answer.

use std::io;

use dyno_wire::{ProtocolError, ServerError};
use thiserror::Error;

/// Why a client got no answer.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The engine runs inside the process that uses it.
    #[error("this engine has no server to connect to")]
    NoServer,
    /// No connection, or it broke, or the server took longer than the time limit.
    #[error("the connection to the server failed: {0}")]
    Io(#[from] io::Error),
    /// The server closed the connection.
    #[error("the server closed the connection")]
    Closed,
    /// The server broke the protocol.
    #[error(transparent)]
    Protocol(#[from] ProtocolError),
    #[error("the server says: {} ({})", .0.message, code(.0))]
    Server(ServerError),
    /// The server's answer was not expected.
    #[error("the server answered with {0}, which was not asked for")]
    Unexpected(&'static str),
}

fn code(error: &ServerError) -> String {
    if error.code == 0 { error.state.clone() } else { format!("{} {}", error.code, error.state) }
}
