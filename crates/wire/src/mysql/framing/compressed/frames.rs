//! The frames of the compressed protocol.
//!
//! Format ("Compression" in MySQL's source documentation): three bytes for the length of the payload, one for the
//! sequence number, three for the length before compression, then the payload. A length of 0 before compression
//! means that the payload is not compressed.

use super::coder;
use crate::error::ProtocolError;
use crate::limits::KEPT_BUFFER_BYTES;
use crate::mysql::framing::compression::Algorithm;

/// Length of a frame's header.
const HEADER_BYTES: usize = 7;

/// Largest payload of a frame before compression.
pub(super) const FRAME_BYTES_MAX: usize = 0xFF_FFFF;

/// Length of the smallest payload that is compressed. Shorter ones are sent uncompressed, as in MySQL's own client
/// (`MIN_COMPRESS_LENGTH`).
const COMPRESS_BYTES_MIN: usize = 50;

/// Writes and reads frames.
pub(super) struct Frames {
    algorithm: Algorithm,
    /// Bytes that have arrived. The first `read_bytes` of them are frames that have been read.
    arrived: Vec<u8>,
    read_bytes: usize,
    /// Sequence number of the next frame.
    sequence: u8,
}

impl Frames {
    pub(super) fn new(algorithm: Algorithm) -> Self {
        Self { algorithm, arrived: Vec::new(), read_bytes: 0, sequence: 0 }
    }

    /// Restarts the sequence numbers at 0, as each command does.
    pub(super) fn start_command(&mut self) {
        self.sequence = 0;
    }

    /// Appends `plain` as one or more frames.
    pub(super) fn write(&mut self, plain: &[u8], output: &mut Vec<u8>) {
        let header = output.len();
        output.resize(header + HEADER_BYTES, 0);
        let is_packed = plain.len() >= COMPRESS_BYTES_MIN && coder::pack(self.algorithm, plain, output);
        if !is_packed {
            output.truncate(header + HEADER_BYTES);
            output.extend_from_slice(plain);
        }
        let payload_bytes = output.len() - header - HEADER_BYTES;
        let plain_bytes = if is_packed { plain.len() } else { 0 };
        output[header..header + 3].copy_from_slice(&payload_bytes.to_le_bytes()[..3]);
        output[header + 3] = self.sequence;
        output[header + 4..header + HEADER_BYTES].copy_from_slice(&plain_bytes.to_le_bytes()[..3]);
        self.sequence = self.sequence.wrapping_add(1);
    }

    /// Takes bytes that arrived.
    pub(super) fn receive(&mut self, bytes: &[u8]) {
        self.arrived.extend_from_slice(bytes);
    }

    /// Reads the next frame and passes its uncompressed payload to `plain`. Returns false if no complete frame has
    /// arrived.
    ///
    /// Reads one frame at a time, so that the caller can refuse its content before more is decompressed. A few
    /// kilobytes may become [`FRAME_BYTES_MAX`] when they are decompressed.
    pub(super) fn read(&mut self, mut plain: impl FnMut(&[u8])) -> Result<bool, ProtocolError> {
        let rest = &self.arrived[self.read_bytes..];
        let whole = rest.split_first_chunk::<HEADER_BYTES>().and_then(|(header, after)| {
            let payload = after.get(..length(*header, 0))?;
            Some((*header, payload))
        });
        let Some((header, payload)) = whole else {
            self.arrived.drain(..self.read_bytes);
            self.read_bytes = 0;
            self.arrived.shrink_to(KEPT_BUFFER_BYTES);
            return Ok(false);
        };
        self.sequence = header[3].wrapping_add(1);
        match length(header, 4) {
            0 => plain(payload),
            plain_bytes => coder::unpack(self.algorithm, payload, plain_bytes, &mut plain)?,
        }
        self.read_bytes += HEADER_BYTES + payload.len();
        Ok(true)
    }
}

/// Reads a length of three bytes from a header.
fn length(header: [u8; HEADER_BYTES], at: usize) -> usize {
    u32::from_le_bytes([header[at], header[at + 1], header[at + 2], 0]) as usize
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::mysql::framing::compressed::coder::UNPACK_BYTES;

    const ALGORITHMS: [Algorithm; 2] = [Algorithm::Zlib, Algorithm::Zstd];

    fn framed(algorithm: Algorithm, plain: &[u8]) -> Vec<u8> {
        let mut output = Vec::new();
        Frames::new(algorithm).write(plain, &mut output);
        output
    }

    fn read(algorithm: Algorithm, bytes: &[u8]) -> Result<Vec<u8>, ProtocolError> {
        let mut plain = Vec::new();
        let mut frames = Frames::new(algorithm);
        frames.receive(bytes);
        while frames.read(|part| plain.extend_from_slice(part))? {}
        Ok(plain)
    }

    #[test]
    fn what_gets_smaller_is_packed_and_comes_back() {
        let plain = vec![b'x'; 100_000];
        for algorithm in ALGORITHMS {
            let bytes = framed(algorithm, &plain);
            assert!(bytes.len() < 1000, "{algorithm:?}: {}", bytes.len());
            assert_eq!(bytes[4..7], [0xA0, 0x86, 0x01], "{algorithm:?}");
            assert_eq!(read(algorithm, &bytes).unwrap(), plain, "{algorithm:?}");
        }
    }

    #[test]
    fn what_does_not_get_smaller_is_sent_as_it_is() {
        let noise: Vec<u8> = (0..200_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        for algorithm in ALGORITHMS {
            for plain in [b"SELECT 1".as_slice(), &noise] {
                let bytes = framed(algorithm, plain);
                assert_eq!((&bytes[4..7], &bytes[7..]), ([0; 3].as_slice(), plain), "{algorithm:?}");
                assert_eq!(read(algorithm, &bytes).unwrap(), plain, "{algorithm:?}");
            }
        }
    }

    #[test]
    fn the_largest_frame_comes_back() {
        let plain: Vec<u8> = (0..FRAME_BYTES_MAX).map(|at| (at / 1000) as u8).collect();
        for algorithm in ALGORITHMS {
            assert_eq!(read(algorithm, &framed(algorithm, &plain)).unwrap(), plain, "{algorithm:?}");
        }
    }

    #[test]
    fn frames_may_arrive_in_any_parts() {
        let plain = [b"a".repeat(60), b"short".to_vec(), b"b".repeat(40_000)];
        for algorithm in ALGORITHMS {
            let mut bytes = Vec::new();
            let mut frames = Frames::new(algorithm);
            for plain in &plain {
                frames.write(plain, &mut bytes);
            }
            let mut seen = Vec::new();
            for byte in &bytes {
                frames.receive(&[*byte]);
                while frames.read(|part| seen.extend_from_slice(part)).unwrap() {}
            }
            assert_eq!(seen, plain.concat(), "{algorithm:?}");
            assert!(frames.arrived.is_empty(), "{algorithm:?}");
            assert_eq!(frames.sequence, 3, "{algorithm:?}");
        }
    }

    proptest! {
        #[test]
        fn whatever_arrives_is_read_or_refused(bytes: Vec<u8>, at in 0..64_usize, value: u8) {
            for algorithm in ALGORITHMS {
                let _ = read(algorithm, &bytes);
                let mut altered = framed(algorithm, &b"a word, and a word, and a word again".repeat(4));
                let place = at % altered.len();
                altered[place] = value;
                let _ = read(algorithm, &altered);
            }
        }
    }

    #[test]
    fn frames_that_lie_are_errors() {
        for algorithm in ALGORITHMS {
            let whole = framed(algorithm, &[b'x'; 1000]);
            let mut longer = whole.clone();
            longer[4] += 1;
            let mut shorter = whole.clone();
            shorter[5] -= 1;
            let mut garbage = whole.clone();
            garbage[7..].fill(0xFF);
            let mut cut = whole.clone();
            cut.truncate(whole.len() - 5);
            cut[0] -= 5;
            for bytes in [longer, shorter, garbage, cut] {
                let error = read(algorithm, &bytes).unwrap_err();
                let is_told = matches!(error, ProtocolError::Malformed { what: "compressed packet", .. });
                assert!(is_told, "{algorithm:?}: {error}");
            }
        }
    }

    /// All connections of a thread share the contexts of its coders, so a broken frame must leave the contexts
    /// usable.
    #[test]
    fn a_broken_frame_does_not_harm_other_connections() {
        let plain = b"a word, and a word, and a word again".repeat(40);
        for algorithm in ALGORITHMS {
            let whole = framed(algorithm, &plain);
            for end in HEADER_BYTES + 1..whole.len() {
                let mut cut = whole[..end].to_vec();
                cut[0] = (end - HEADER_BYTES) as u8;
                assert!(read(algorithm, &cut).is_err(), "{algorithm:?}: {end}");
                assert_eq!(read(algorithm, &whole).unwrap(), plain, "{algorithm:?}: {end}");
                assert_eq!(framed(algorithm, &plain), whole, "{algorithm:?}: {end}");
            }
        }
    }

    #[test]
    fn a_frame_is_unpacked_no_further_than_it_says() {
        for algorithm in ALGORITHMS {
            let mut bytes = framed(algorithm, &vec![0; FRAME_BYTES_MAX]);
            assert!(bytes.len() < 100_000, "{algorithm:?}: {}", bytes.len());
            bytes[4..7].copy_from_slice(&[0xE8, 0x03, 0]);
            let mut frames = Frames::new(algorithm);
            frames.receive(&bytes);
            let mut unpacked_bytes = 0;
            assert!(frames.read(|part| unpacked_bytes += part.len()).is_err(), "{algorithm:?}");
            assert!(unpacked_bytes <= 1000 + UNPACK_BYTES, "{algorithm:?}: {unpacked_bytes}");
        }
    }

    #[test]
    fn frames_are_unpacked_one_at_a_time() {
        for algorithm in ALGORITHMS {
            let mut frames = Frames::new(algorithm);
            frames.receive(&framed(algorithm, &vec![0; 1_000_000]).repeat(50));
            for _ in 0..50 {
                let mut unpacked_bytes = 0;
                assert!(frames.read(|part| unpacked_bytes += part.len()).unwrap(), "{algorithm:?}");
                assert_eq!(unpacked_bytes, 1_000_000, "{algorithm:?}");
            }
            assert!(!frames.read(|_| panic!("there is no further frame")).unwrap());
        }
    }

    /// The Zstandard header announces a window of 128 MB, which exceeds any packet.
    #[test]
    fn a_window_larger_than_any_packet_is_refused() {
        let mut bytes = vec![9, 0, 0, 0, 100, 0, 0];
        bytes.extend_from_slice(&[0x28, 0xB5, 0x2F, 0xFD, 0x00, 17 << 3, 0x01, 0x00, 0x00]);
        let error = read(Algorithm::Zstd, &bytes).unwrap_err();
        assert!(error.to_string().contains("too much memory"), "{error}");
    }
}
