//! Capability flags of the handshake: what this client wants, as far as the server has it.

/// The 4.1 protocol, the only one spoken here.
pub(super) const PROTOCOL_41: u32 = 1 << 9;
/// A database is named in the handshake response.
pub(super) const CONNECT_WITH_DB: u32 = 1 << 3;
/// After the login, packets are compressed (zlib).
pub(super) const COMPRESS: u32 = 1 << 5;
pub(super) const SSL: u32 = 1 << 11;
/// Passwords are scrambled with 20 bytes of nonce (since 4.1).
pub(super) const SECURE_CONNECTION: u32 = 1 << 15;
/// Authentication plugins are named (since 5.5.7).
pub(super) const PLUGIN_AUTH: u32 = 1 << 19;
/// No EOF packet after column definitions, and an OK packet after rows (MySQL 5.7.5, MariaDB 10.2).
pub(super) const DEPRECATE_EOF: u32 = 1 << 24;
/// After the login, packets are compressed by Zstandard (MySQL 8.0.18); the introduction ends with its level.
pub(super) const ZSTD_COMPRESSION: u32 = 1 << 26;

/// The authentication reply may be longer than 250 bytes (since MySQL 5.6.7).
const PLUGIN_AUTH_LENENC: u32 = 1 << 21;
const LONG_PASSWORD: u32 = 1;
const LONG_FLAG: u32 = 1 << 2;
const TRANSACTIONS: u32 = 1 << 13;
const MULTI_STATEMENTS: u32 = 1 << 16;
const MULTI_RESULTS: u32 = 1 << 17;
const PS_MULTI_RESULTS: u32 = 1 << 18;

/// What is asked for wherever the server has it.
///
/// `LOCAL_FILES` is left out, so that an honest server never asks for a file; so are progress
/// reports, session tracking and cached metadata, each of which changes the shape of packets.
pub(super) const WANTED: u32 = PROTOCOL_41
    | SECURE_CONNECTION
    | PLUGIN_AUTH
    | PLUGIN_AUTH_LENENC
    | DEPRECATE_EOF
    | LONG_PASSWORD
    | LONG_FLAG
    | TRANSACTIONS
    | MULTI_STATEMENTS
    | MULTI_RESULTS
    | PS_MULTI_RESULTS;
