//! The client/server protocol of MySQL (5.5 and later) and MariaDB (10.1 and later).
//!
//! The references are "Client/Server Protocol" in MySQL's source documentation, and MariaDB's page of the same name. A
//! [`Connection`] logs in (`login`), then parses the answer to each command (`answer`). Both read packets from the
//! receive buffer (`packets`). Rows are parsed only when the caller reads them (`result`).

mod answer;
mod auth;
mod binary;
mod capabilities;
mod column;
mod command;
mod compressed;
mod compression;
mod connection;
mod handshake;
mod login;
mod number;
mod output;
mod packets;
mod reader;
mod response;
mod result;
mod scramble;
mod statement;
mod temporal;
#[cfg(test)]
mod tests;

pub use compressed::Compressed;
pub use compression::Compression;
pub use connection::Connection;

/// Whether a text is an RSA key in PEM, as in MySQL's file `public_key.pem`.
pub fn is_public_key(pem: &str) -> bool {
    scramble::public_key(pem.as_bytes()).is_some()
}
