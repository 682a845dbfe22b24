//! Connections to servers: the layer between a socket and the state machines of `dyno-wire`.
//!
//! An [`Account`] says how to log in, and a [`ServerAddress`] says where. An [`Endpoint`] is a protocol with its
//! encryption. It does not use the socket itself, so event loops can use it. A [`Connection`] is an endpoint on a
//! blocking socket, and a [`Client`] uses a connection for queries.

mod account;
mod address;
mod client;
mod connection;
mod deadline;
mod endpoint;
mod error;
mod tls;

pub use account::{Account, Dialect};
pub use address::{CALLS_MAX, ServerAddress, is_forgotten, logged_in};
pub use client::{Client, ResultSet};
pub use connection::Connection;
pub use deadline::Deadline;
pub use dyno_wire::mysql::Compression;
pub use dyno_wire::{Login, Metadata, PgsqlMethod, Trust};
pub use endpoint::{Endpoint, EndpointError};
pub use error::ClientError;
pub use tls::{Encryption, Tls, TlsContradiction, TlsError, TlsMode, TlsNames, read_public_key};
