//! Capability flags of the handshake. The client requests those that the server offers.

/// The 4.1 protocol, the only one that this client supports.
pub(in crate::mysql) const PROTOCOL_41: u32 = 1 << 9;
/// The handshake response names a database.
pub(in crate::mysql) const CONNECT_WITH_DB: u32 = 1 << 3;
/// Packets are compressed (zlib) after the login.
pub(in crate::mysql) const COMPRESS: u32 = 1 << 5;
pub(in crate::mysql) const SSL: u32 = 1 << 11;
/// Passwords are scrambled with 20 bytes of nonce (since 4.1).
pub(in crate::mysql) const SECURE_CONNECTION: u32 = 1 << 15;
/// The handshake names authentication plugins (since 5.5.7).
pub(in crate::mysql) const PLUGIN_AUTH: u32 = 1 << 19;
/// The server sends no EOF packet after column definitions, and sends an OK packet instead of an EOF packet after rows
/// (MySQL 5.7.5, MariaDB 10.2).
pub(in crate::mysql) const DEPRECATE_EOF: u32 = 1 << 24;
/// The server may leave out a result's descriptions of columns (MySQL 8.0.3).
pub(in crate::mysql) const OPTIONAL_METADATA: u32 = 1 << 25;
/// Packets are compressed with Zstandard after the login (MySQL 8.0.18). The handshake response ends with the
/// compression level.
pub(in crate::mysql) const ZSTD_COMPRESSION: u32 = 1 << 26;

/// The authentication reply may be longer than 250 bytes (since MySQL 5.6.7).
const PLUGIN_AUTH_LENENC: u32 = 1 << 21;
const LONG_PASSWORD: u32 = 1;
const LONG_FLAG: u32 = 1 << 2;
const TRANSACTIONS: u32 = 1 << 13;
const MULTI_STATEMENTS: u32 = 1 << 16;
const MULTI_RESULTS: u32 = 1 << 17;
const PS_MULTI_RESULTS: u32 = 1 << 18;

/// The server may request a file from the client. The client sends the data that its caller offered with the query,
/// or an empty file.
const LOCAL_FILES: u32 = 1 << 7;

/// MariaDB calls this flag `CLIENT_MYSQL`, and MySQL calls it `LONG_PASSWORD`. A server that does not set it is a
/// MariaDB, and has capabilities of its own.
pub(in crate::mysql) const NOT_MARIADB: u32 = LONG_PASSWORD;
/// Descriptions of a prepared statement's columns are sent again only when they change (MariaDB 10.6). This is one
/// of MariaDB's own capabilities, which begin with bit 32.
pub(in crate::mysql) const MARIADB_CACHE_METADATA: u32 = 1 << 4;

/// Capabilities that the client requests if the server offers them.
///
/// Progress reports and session tracking are left out because each changes the format of packets.
pub(in crate::mysql) const WANTED: u32 = PROTOCOL_41
    | SECURE_CONNECTION
    | PLUGIN_AUTH
    | PLUGIN_AUTH_LENENC
    | DEPRECATE_EOF
    | LONG_PASSWORD
    | LONG_FLAG
    | LOCAL_FILES
    | TRANSACTIONS
    | MULTI_STATEMENTS
    | MULTI_RESULTS
    | PS_MULTI_RESULTS;
