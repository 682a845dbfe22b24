//! Client side of the MySQL and PostgreSQL protocols, without sockets. The input is bytes and the output is events.
//!
//! Dyno's load generator runs thousands of connections on one thread. The protocols are therefore state machines
//! ([`Client`]) that any event loop can drive.
//!
//! # Why
//!
//! The same state machines serve event loops with thousands of connections, and connections that block. Tests and
//! fuzzing run them without a socket.

mod client;
mod error;
mod limits;
pub mod mysql;
mod outbox;
pub mod pgsql;
#[cfg(test)]
mod testing;

pub use client::{
    Client, Event, Login, Metadata, PgsqlMethod, Piped, ServerError, StatementId, Summary, TlsMode, Trust,
    Value,
};
pub use error::ProtocolError;
