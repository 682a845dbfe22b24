//! Why a client got no answer.

use std::io;
use std::time::Duration;

use dyno_printable::Printable;
use dyno_wire::ServerError;
use thiserror::Error;

use crate::endpoint::EndpointError;

/// Why a client got no answer.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The engine has no server, because it runs inside the process that uses it.
    #[error("this engine has no server to connect to")]
    NoServer,
    /// No server listens at the address, or the server does not accept within the time limit.
    #[error("cannot connect to {address}: {source}")]
    Connect {
        /// The address, as the user wrote it.
        address: String,
        source: io::Error,
    },
    /// The connection broke.
    #[error("the connection to the server failed: {0}")]
    Io(#[from] io::Error),
    /// The server took longer for an answer than the time limit.
    #[error("no answer within {} s", .0.as_secs_f64())]
    Silent(Duration),
    /// The server did not complete the login within the time limit, whatever it sent.
    #[error("{address} did not complete the login within {} s", limit.as_secs_f64())]
    LoginTimeout {
        /// The address, as the user wrote it.
        address: String,
        limit: Duration,
    },
    /// The server closed the connection.
    #[error("the server closed the connection")]
    Closed,
    /// The server broke the protocol, or TLS failed.
    #[error(transparent)]
    Endpoint(#[from] EndpointError),
    #[error("the server says: {} ({})", Printable(&.0.message), Printable(code(.0)))]
    Server(ServerError),
    /// The server sent an answer that the client did not request.
    #[error("the server answered with {0}, which was not requested")]
    Unexpected(&'static str),
}

impl ClientError {
    /// Whether a time limit passed.
    pub fn is_timeout(&self) -> bool {
        match self {
            Self::Silent(_) | Self::LoginTimeout { .. } => true,
            Self::Connect { source, .. } => source.kind() == io::ErrorKind::TimedOut,
            _ => false,
        }
    }
}

fn code(error: &ServerError) -> String {
    if error.code == 0 { error.state.clone() } else { format!("{} {}", error.code, error.state) }
}
