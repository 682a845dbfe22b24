//! The login ("Connection Phase Packets" in MySQL's source documentation: `HandshakeV10`, `HandshakeResponse41`,
//! `COM_CHANGE_USER`). Passwords, and data that is computed from them, are skipped.

use crate::capture::bytes::Bytes;

/// Capability flags.
pub(super) const CONNECT_WITH_DB: u32 = 1 << 3;
pub(super) const COMPRESS: u32 = 1 << 5;
pub(super) const PROTOCOL_41: u32 = 1 << 9;
pub(super) const SSL: u32 = 1 << 11;
pub(super) const SECURE_CONNECTION: u32 = 1 << 15;
pub(super) const PLUGIN_AUTH_LENENC: u32 = 1 << 21;
pub(super) const ZSTD_COMPRESSION: u32 = 1 << 26;
pub(super) const QUERY_ATTRIBUTES: u32 = 1 << 27;

/// Length of the client's request for TLS, in bytes. A full response begins with the same fields.
const TLS_REQUEST_BYTES: usize = 32;

/// Whether a server's first bytes are a handshake: a packet with number 0, the protocol's version 10, and the
/// version of the server.
pub(crate) fn is_greeting(bytes: &[u8]) -> bool {
    let [a, b, 0, 0, 10, version @ ..] = bytes else { return false };
    let length = usize::from(u16::from_le_bytes([*a, *b]));
    let end = memchr::memchr(0, version);
    (32..=1024).contains(&length)
        && version.first().is_some_and(u8::is_ascii_digit)
        && end.is_some_and(|end| version[..end].iter().all(|byte| matches!(byte, b' '..=b'~')))
}

/// Whether a server's first bytes are an error, such as `Too many connections`.
pub(crate) fn is_refusal(bytes: &[u8]) -> bool {
    matches!(bytes, [_, _, 0, 0, 0xFF, ..])
}

/// The capabilities that a server offers in its handshake.
pub(super) fn offered(payload: &[u8]) -> Option<u32> {
    let mut bytes = Bytes(payload);
    if bytes.u8()? != 10 {
        return None;
    }
    bytes.until_nul()?;
    // The number of the thread, and the first part of the nonce with a NUL, are skipped.
    bytes.take(4 + 8 + 1)?;
    let low = bytes.u16_le()?;
    bytes.take(1 + 2)?;
    let high = bytes.u16_le()?;
    Some(u32::from(low) | u32::from(high) << 16)
}

/// A client's response to the handshake.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Response {
    /// The client asks for TLS.
    Tls,
    Login {
        capabilities: u32,
        account: Account,
    },
}

/// The user that logs in, and the database that the session uses first.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Account {
    pub(super) user: Vec<u8>,
    pub(super) database: Vec<u8>,
}

/// Reads a client's response. `None` if the response is malformed, or if its protocol is older than 4.1.
pub(super) fn response(payload: &[u8]) -> Option<Response> {
    let mut bytes = Bytes(payload);
    let capabilities = bytes.u32_le()?;
    if capabilities & SSL != 0 && payload.len() == TLS_REQUEST_BYTES {
        return Some(Response::Tls);
    }
    if capabilities & PROTOCOL_41 == 0 {
        return None;
    }
    bytes.take(TLS_REQUEST_BYTES - 4)?;
    let user = bytes.until_nul()?.to_vec();
    if capabilities & PLUGIN_AUTH_LENENC != 0 {
        bytes.lenenc_bytes()?;
    } else if capabilities & SECURE_CONNECTION != 0 {
        let length = bytes.u8()?;
        bytes.take(usize::from(length))?;
    } else {
        bytes.until_nul()?;
    }
    let has_database = capabilities & CONNECT_WITH_DB != 0;
    let database = if has_database { bytes.until_nul()?.to_vec() } else { Vec::new() };
    Some(Response::Login { capabilities, account: Account { user, database } })
}

/// Reads the account of `COM_CHANGE_USER`.
pub(super) fn changed_user(payload: &[u8]) -> Option<Account> {
    let mut bytes = Bytes(payload);
    bytes.u8()?;
    let user = bytes.until_nul()?.to_vec();
    let length = bytes.u8()?;
    bytes.take(usize::from(length))?;
    let database = bytes.until_nul()?.to_vec();
    Some(Account { user, database })
}
