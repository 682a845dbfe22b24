//! The client/server protocol of MySQL (5.5 and later) and MariaDB (10.1 and later).
//!
//! The reference is "Client/Server Protocol" in MySQL's source documentation, and the same of MariaDB's. A
//! [`Connection`] logs in by a dialog (`login`), then gives each command an answer (`answer`); both take packets
//! from where they arrived (`packets`). Rows are parsed only when they are read (`result`).

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
