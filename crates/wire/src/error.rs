//! Ways in which a server can break the protocol.

use thiserror::Error;

/// A server broke the protocol, or asked for what this client cannot do.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProtocolError {
    /// Bytes that cannot be what they should be.
    #[error("malformed {what} from the server: {detail}")]
    Malformed {
        what: &'static str,
        /// What is wrong with it.
        detail: String,
    },
    /// The server wants a login method that is not implemented.
    #[error("the server asks for authentication plugin '{0}', which dyno does not know")]
    UnknownAuthentication(String),
    /// The server wants the password in clear, and others could read it.
    #[error("the server asks for the password in clear text: connect by TLS or a unix socket")]
    ClearPassword,
    /// TLS was required and the server has none.
    #[error("TLS is required, but the server does not offer it")]
    TlsUnavailable,
    /// Compression was required and the server has none of the algorithms, which are named.
    #[error(
        "the server offers none of the compression algorithms that may be used ({0}): allow 'uncompressed' too"
    )]
    CompressionUnavailable(String),
    /// A limit that keeps a hostile server from filling memory.
    #[error("{what} from the server is larger than the limit of {limit_bytes} bytes")]
    TooLarge { what: &'static str, limit_bytes: usize },
}
