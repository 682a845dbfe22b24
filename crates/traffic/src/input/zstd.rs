//! Decompresses Zstandard.

use std::io::{self, BufRead, Read};

use zstd_safe::{DCtx, DParameter, InBuffer, OutBuffer, get_error_name};

/// log₂ of the largest window in bytes. The window is 128 MiB, which is also the default limit of `zstd -d`.
const WINDOW_LOG_MAX: u32 = 27;

/// Decompresses consecutive frames.
pub(super) struct ZstdReader<R> {
    packed: R,
    context: DCtx<'static>,
    /// Whether the last frame has ended.
    is_between_frames: bool,
}

impl<R: BufRead> ZstdReader<R> {
    pub(super) fn new(packed: R) -> io::Result<Self> {
        let mut context = DCtx::create();
        context.set_parameter(DParameter::WindowLogMax(WINDOW_LOG_MAX)).map_err(invalid)?;
        Ok(Self { packed, context, is_between_frames: true })
    }
}

impl<R: BufRead> Read for ZstdReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            let packed = self.packed.fill_buf()?;
            let is_over = packed.is_empty();
            if is_over && self.is_between_frames {
                return Ok(0);
            }
            let mut input = InBuffer::around(packed);
            let mut output = OutBuffer::around(&mut *buffer);
            let left = self.context.decompress_stream(&mut output, &mut input).map_err(invalid)?;
            let (unpacked, used) = (output.pos(), input.pos());
            self.packed.consume(used);
            self.is_between_frames = left == 0;
            if unpacked > 0 {
                return Ok(unpacked);
            }
            if is_over && !self.is_between_frames {
                return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the compressed log is cut off"));
            }
        }
    }
}

fn invalid(code: usize) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, get_error_name(code))
}
