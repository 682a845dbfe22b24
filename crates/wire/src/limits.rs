//! Limits on the memory that a connection uses, whatever the server sends.

/// Largest result that a connection keeps, in bytes. It is therefore also the largest message that a connection
/// accepts.
pub(crate) const MAX_RESULT_BYTES: usize = 256 << 20;

/// Capacity that an empty receive buffer keeps, in bytes. Capacity above this is freed.
pub(crate) const KEPT_BUFFER_BYTES: usize = 64 << 10;

/// Capacity that an empty send buffer keeps, in bytes. It is larger than that of the receive buffer, because a bulk
/// insert sends many long statements one after the other.
pub(crate) const KEPT_OUTPUT_BYTES: usize = 1 << 20;

/// Largest text of a server's error that is kept. MySQL's errors have at most 512 bytes.
const ERROR_TEXT_BYTES: usize = 8 << 10;

/// The text of a server's error, up to the limit. Before the connection has a character set, the text may be in any
/// character set, so bytes that are not UTF-8 are replaced.
pub(crate) fn error_text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&bytes[..bytes.len().min(ERROR_TEXT_BYTES)]).into_owned()
}
