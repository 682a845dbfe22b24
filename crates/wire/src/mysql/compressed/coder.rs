//! What a compression algorithm does for a frame.

use crate::error::ProtocolError;
use crate::mysql::reader::malformed;

/// Bytes that are unpacked at a time, so that an announced length takes no memory.
pub(super) const UNPACK_BYTES: usize = 16 * 1024;

/// A way to say the same in fewer bytes.
pub(super) trait Coder: Send {
    /// Appends `plain` packed; whether that is fewer bytes. Else what is behind the end of `output` as it was is
    /// worth nothing.
    fn pack(&mut self, plain: &[u8], output: &mut Vec<u8>) -> bool;

    /// Gives what a payload holds to `plain`, part by part. An error where it is not so many bytes.
    fn unpack(
        &mut self,
        payload: &[u8],
        plain_bytes: usize,
        plain: &mut dyn FnMut(&[u8]),
    ) -> Result<(), ProtocolError>;
}

/// A payload that is not what its frame announced.
pub(super) fn wrong_length(total_bytes: usize, plain_bytes: usize) -> ProtocolError {
    let detail = format!("{total_bytes} bytes came out of it, expected {plain_bytes}");
    malformed("compressed packet", detail)
}
