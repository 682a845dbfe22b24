//! What client and server send each other: logins, encryption, compression, values and results.

mod big;
mod compression;
mod logins;
mod metadata;
mod results;
mod tls;
mod trust;
mod types;
