//! Payloads in Zstandard's format (RFC 8878). Each payload is one Zstandard frame.

use zstd_safe::{CCtx, DCtx, DParameter, InBuffer, OutBuffer, ResetDirective, get_error_name};

use super::coder::{Coder, UNPACK_BYTES, wrong_length};
use crate::error::ProtocolError;
use crate::mysql::framing::compression::ZSTD_LEVEL;
use crate::mysql::framing::reader::malformed;

/// Binary logarithm of the largest decompressed frame, and so of the largest window that a frame can need.
const WINDOW_LOG_MAX: u32 = 24;

pub(super) struct Zstd {
    packer: Option<CCtx<'static>>,
    unpacker: Option<DCtx<'static>>,
}

impl Zstd {
    pub(super) const fn new() -> Self {
        Self { packer: None, unpacker: None }
    }
}

fn unpacker() -> DCtx<'static> {
    let mut unpacker = DCtx::create();
    // An error is ignored, because the library's own limit would then apply, which is only eight times as high.
    let _ = unpacker.set_parameter(DParameter::WindowLogMax(WINDOW_LOG_MAX));
    unpacker
}

impl Coder for Zstd {
    fn pack(&mut self, plain: &[u8], output: &mut Vec<u8>) -> bool {
        let start = output.len();
        // The limit on the output makes compression fail when it does not save at least one byte.
        output.resize(start + plain.len().saturating_sub(1), 0);
        let packer = self.packer.get_or_insert_with(CCtx::create);
        let written = packer.compress(&mut output[start..], plain, i32::from(ZSTD_LEVEL));
        written.is_ok_and(|packed_bytes| {
            output.truncate(start + packed_bytes);
            true
        })
    }

    fn unpack(
        &mut self,
        payload: &[u8],
        plain_bytes: usize,
        plain: &mut dyn FnMut(&[u8]),
    ) -> Result<(), ProtocolError> {
        let broken = |code| malformed("compressed packet", get_error_name(code).to_owned());
        let unpacker = self.unpacker.get_or_insert_with(unpacker);
        unpacker.reset(ResetDirective::SessionOnly).map_err(broken)?;
        let mut buffer = [0; UNPACK_BYTES];
        let mut input = InBuffer::around(payload);
        let mut total_bytes = 0;
        loop {
            let read = input.pos();
            let mut output = OutBuffer::around(&mut buffer[..]);
            let wanted_bytes = unpacker.decompress_stream(&mut output, &mut input).map_err(broken)?;
            let written = output.pos();
            total_bytes += written;
            plain(&buffer[..written]);
            let is_done = wanted_bytes == 0;
            let is_stuck = written == 0 && input.pos() == read;
            if is_done && total_bytes == plain_bytes && input.pos() == payload.len() {
                return Ok(());
            }
            if is_done || is_stuck || total_bytes > plain_bytes {
                return Err(wrong_length(total_bytes, plain_bytes));
            }
        }
    }
}
