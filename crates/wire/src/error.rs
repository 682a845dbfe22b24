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
    /// The server requests the password in clear text, but has not proven its identity. `verify` and `allow` are
    /// names in the product's own terms: `verify` is the TLS mode that verifies the server, and `allow` is the
    /// option that permits clear text.
    #[error(
        "the server asks for the password in clear text, and has not shown who it is: verify its certificate \
         ({verify}), connect by a unix socket, or allow it ({allow})"
    )]
    ClearPassword { verify: &'static str, allow: &'static str },
    /// The server requests the password itself, not a proof, but has not proven its identity.
    #[error(
        "the server asks for the password itself, and has not shown who it is: verify its certificate (VERIFY_CA), \
         give its RSA key and no TLS (server-public-key-path), or trust whoever answers (get-server-public-key)"
    )]
    PasswordWanted,
    /// The server uses a method that the login does not permit.
    #[error(
        "the server authenticates by {used}, which is not in the methods that are required (require_auth)"
    )]
    OtherMethod { used: &'static str },
    /// The login requires TLS, and the server does not offer it.
    #[error("TLS is required, but the server does not offer it")]
    TlsUnavailable,
    /// The login requires compression, and the server supports none of the permitted algorithms. The error lists these
    /// algorithms.
    #[error(
        "the server offers none of the compression algorithms that may be used ({}): allow 'uncompressed' too",
        Printable(.0)
    )]
    CompressionUnavailable(String),
    /// The login requires a server that can leave out descriptions of columns, and this server cannot.
    #[error(
        "the server describes the columns of every result: MariaDB leaves that out since 10.6, MySQL since 8.0.3; \
         use metadata = \"full\""
    )]
    MetadataNotSpared,
    /// The server sent more than the limit that protects the client's memory.
    #[error("{what} from the server is larger than the limit of {limit_bytes} bytes")]
    TooLarge { what: &'static str, limit_bytes: usize },
}
