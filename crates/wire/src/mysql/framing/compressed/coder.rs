//! Compression and decompression of frames' payloads.
//!
//! Each payload is complete in itself, so a context keeps nothing from one payload to the next. All connections of
//! a thread therefore share one context for each algorithm and direction, which is made when it is first used. The
//! context that compresses with zlib takes 0.4 MB, and most of that memory is written when the context is made. If
//! each connection had a context, a thousand connections would use 0.4 GB, and no context would stay in the
//! processor's caches.

use std::cell::RefCell;

use super::zlib::Zlib;
use super::zstd::Zstd;
use crate::error::ProtocolError;
use crate::mysql::framing::compression::Algorithm;
use crate::mysql::framing::reader::malformed;

/// Largest number of bytes that are decompressed at a time. No memory is reserved for the length that a header
/// announces.
pub(super) const UNPACK_BYTES: usize = 16 * 1024;

thread_local! {
    static ZLIB: RefCell<Zlib> = const { RefCell::new(Zlib::new()) };
    static ZSTD: RefCell<Zstd> = const { RefCell::new(Zstd::new()) };
}

/// A compression algorithm with its contexts.
pub(super) trait Coder {
    /// Does the work of the function [`pack`].
    fn pack(&mut self, plain: &[u8], output: &mut Vec<u8>) -> bool;

    /// Does the work of the function [`unpack`].
    fn unpack(
        &mut self,
        payload: &[u8],
        plain_bytes: usize,
        plain: &mut dyn FnMut(&[u8]),
    ) -> Result<(), ProtocolError>;
}

/// Compresses `plain` and appends the result. Returns whether the result is smaller than `plain`. If it is not, the
/// caller must discard the appended bytes.
pub(super) fn pack(algorithm: Algorithm, plain: &[u8], output: &mut Vec<u8>) -> bool {
    with(algorithm, |coder| coder.pack(plain, output))
}

/// Decompresses a payload and passes it to `plain` part by part. Returns an error if the decompressed length is not
/// `plain_bytes`. `plain` must not call [`pack`] or [`unpack`], because they use the same coder.
pub(super) fn unpack(
    algorithm: Algorithm,
    payload: &[u8],
    plain_bytes: usize,
    plain: &mut dyn FnMut(&[u8]),
) -> Result<(), ProtocolError> {
    with(algorithm, |coder| coder.unpack(payload, plain_bytes, plain))
}

/// Runs `work` with this thread's contexts of an algorithm.
fn with<T>(algorithm: Algorithm, work: impl FnOnce(&mut dyn Coder) -> T) -> T {
    match algorithm {
        Algorithm::Zlib => ZLIB.with_borrow_mut(|zlib| work(zlib)),
        Algorithm::Zstd => ZSTD.with_borrow_mut(|zstd| work(zstd)),
    }
}

/// Error for a payload whose length differs from the announced length.
pub(super) fn wrong_length(total_bytes: usize, plain_bytes: usize) -> ProtocolError {
    let detail = format!("it decompresses to {total_bytes} bytes, expected {plain_bytes}");
    malformed("compressed packet", detail)
}
