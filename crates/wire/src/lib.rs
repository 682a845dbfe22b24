//! Client side of the MySQL and PostgreSQL protocols: bytes in, events out; no sockets.
//!
//! Dyno's load generator drives thousands of connections from one thread, so the protocols are state machines
//! ([`Client`]) that any event loop can feed.

mod client;
mod error;
mod limits;
pub mod mysql;
mod outbox;
pub mod pgsql;
#[cfg(test)]
mod testing;

pub use client::{Client, Event, Login, ServerError, StatementId, Summary, TlsMode, Value};
pub use error::ProtocolError;
