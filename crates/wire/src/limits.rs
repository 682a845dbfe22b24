//! Limits on the memory that a connection uses, whatever the server sends.

/// Largest result that a connection keeps, and so the largest message that it accepts.
pub(crate) const MAX_RESULT_BYTES: usize = 256 << 20;

/// Capacity that an emptied receive buffer keeps. Capacity above it is freed.
pub(crate) const KEPT_BUFFER_BYTES: usize = 64 << 10;

/// Capacity that an emptied send buffer keeps. It is larger because the statements of a bulk insert follow each other.
pub(crate) const KEPT_OUTPUT_BYTES: usize = 1 << 20;

/// Largest text of a server's error that is kept. MySQL's errors have at most 512 bytes.
const ERROR_TEXT_BYTES: usize = 8 << 10;

/// The text of a server's error, up to the limit. Before the connection has a character set, the text may be
/// in any.
pub(crate) fn error_text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(&bytes[..bytes.len().min(ERROR_TEXT_BYTES)]).into_owned()
}
