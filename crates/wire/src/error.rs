//! Errors for servers that break the protocol.

use dyno_printable::Printable;
use thiserror::Error;

/// The server broke the protocol, or requested something that this client does not support.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProtocolError {
    /// A packet or message that cannot be parsed.
    #[error("malformed {what} from the server: {}", Printable(detail))]
    Malformed { what: &'static str, detail: String },
    /// The server requests an authentication method that is not implemented.
    #[error("the server asks for authentication plugin '{}', which dyno does not know", Printable(.0))]
    UnknownAuthentication(String),
    /// The server requests the password in clear text over a transport that others can read.
    #[error("the server asks for the password in clear text: connect by TLS or a unix socket")]
    ClearPassword,
    /// The login requires TLS, and the server does not offer it.
    #[error("TLS is required, but the server does not offer it")]
    TlsUnavailable,
    /// The login requires compression, and the server supports none of the algorithms. The error names them.
    #[error(
        "the server offers none of the compression algorithms that may be used ({}): allow 'uncompressed' too",
        Printable(.0)
    )]
    CompressionUnavailable(String),
    /// The server sent more than the limit that protects the client's memory.
    #[error("{what} from the server is larger than the limit of {limit_bytes} bytes")]
    TooLarge { what: &'static str, limit_bytes: usize },
}
