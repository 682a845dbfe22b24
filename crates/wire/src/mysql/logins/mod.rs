//! Logins: the handshake, what both sides can do, and proofs of a password.

pub(in crate::mysql) mod auth;
pub(in crate::mysql) mod capabilities;
pub(in crate::mysql) mod handshake;
pub(in crate::mysql) mod login;
pub(in crate::mysql) mod scramble;
