//! The client/server protocol of MySQL (5.5 and later) and MariaDB (10.1 and later).
//!
//! The references are "Client/Server Protocol" in MySQL's source documentation, and MariaDB's page of the same
//! name. A [`Connection`] logs in (`login`), then parses the answer to each command (`answer`). Both read packets
//! from the receive buffer (`packets`). Rows are parsed only when the caller reads them (`result`).

mod answer;
mod command;
mod connection;
mod framing;
mod logins;
mod response;
mod result;
mod statement;
#[cfg(test)]
mod tests;
mod values;

pub use connection::Connection;
pub use framing::compressed::Compressed;
pub use framing::compression::Compression;

/// Whether a text is an RSA key in PEM, as in MySQL's file `public_key.pem`.
pub fn is_public_key(pem: &str) -> bool {
    logins::scramble::public_key(pem.as_bytes()).is_some()
}
