//! Payloads in zlib's format (RFC 1950).

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

use super::coder::{Coder, UNPACK_BYTES, wrong_length};
use crate::error::ProtocolError;
use crate::mysql::framing::reader::malformed;

pub(super) struct Zlib {
    deflater: Option<Compress>,
    inflater: Option<Decompress>,
}

impl Zlib {
    pub(super) const fn new() -> Self {
        Self { deflater: None, inflater: None }
    }
}

impl Coder for Zlib {
    fn pack(&mut self, plain: &[u8], output: &mut Vec<u8>) -> bool {
        let deflater = self.deflater.get_or_insert_with(|| Compress::new(Compression::default(), true));
        deflater.reset();
        output.reserve(plain.len());
        let room = output.len() + plain.len();
        let status = deflater.compress_vec(plain, output, FlushCompress::Finish);
        matches!(status, Ok(Status::StreamEnd)) && output.len() < room
    }

    fn unpack(
        &mut self,
        payload: &[u8],
        plain_bytes: usize,
        plain: &mut dyn FnMut(&[u8]),
    ) -> Result<(), ProtocolError> {
        let inflater = self.inflater.get_or_insert_with(|| Decompress::new(true));
        inflater.reset(true);
        let mut buffer = [0; UNPACK_BYTES];
        loop {
            let (read, written) = (inflater.total_in() as usize, inflater.total_out() as usize);
            let status = inflater
                .decompress(&payload[read..], &mut buffer, FlushDecompress::None)
                .map_err(|error| malformed("compressed packet", error.to_string()))?;
            let total_bytes = inflater.total_out() as usize;
            plain(&buffer[..total_bytes - written]);
            let is_stuck = total_bytes == written && inflater.total_in() as usize == read;
            match status {
                Status::StreamEnd if total_bytes == plain_bytes => return Ok(()),
                Status::Ok | Status::BufError if total_bytes <= plain_bytes && !is_stuck => {}
                _ => return Err(wrong_length(total_bytes, plain_bytes)),
            }
        }
    }
}
