//! Compression and decompression of a frame's payload.

use crate::error::ProtocolError;
use crate::mysql::framing::reader::malformed;

/// Bytes that are decompressed at a time. An announced length therefore reserves no memory.
pub(super) const UNPACK_BYTES: usize = 16 * 1024;

/// A compression algorithm.
pub(super) trait Coder: Send {
    /// Compresses `plain` and appends the result. Returns whether the result is smaller than `plain`. If it is not, the
    /// caller must discard the appended bytes.
    fn pack(&mut self, plain: &[u8], output: &mut Vec<u8>) -> bool;

    /// Decompresses a payload and passes it to `plain` part by part. Returns an error if the length is wrong.
    fn unpack(
        &mut self,
        payload: &[u8],
        plain_bytes: usize,
        plain: &mut dyn FnMut(&[u8]),
    ) -> Result<(), ProtocolError>;
}

/// Error for a payload whose length differs from the announced length.
pub(super) fn wrong_length(total_bytes: usize, plain_bytes: usize) -> ProtocolError {
    let detail = format!("it decompresses to {total_bytes} bytes, expected {plain_bytes}");
    malformed("compressed packet", detail)
}
