//! Logins: the handshake, the capabilities of both sides, and proofs of a password.

pub(in crate::mysql) mod auth;
pub(in crate::mysql) mod capabilities;
pub(in crate::mysql) mod handshake;
pub(in crate::mysql) mod login;
pub(in crate::mysql) mod scramble;
