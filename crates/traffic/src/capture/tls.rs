//! Recognises TLS.

/// Whether a segment begins with a record of TLS (RFC 8446, 5.1): a handshake or data, and a length.
pub(super) fn is_tls(bytes: &[u8]) -> bool {
    let [0x16 | 0x17, 3, 1..=4, a, b, ..] = bytes else { return false };
    (1..=(1 << 14) + 256).contains(&u16::from_be_bytes([*a, *b]))
}
