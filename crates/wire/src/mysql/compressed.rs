//! The compressed protocol: after the login, packets travel in frames of their own, each deflated where that helps.
//!
//! "Compression" in MySQL's source documentation: three bytes of the payload's length, one of a sequence number, three
//! of its length before compression (0: it is as it was), then the payload (RFC 1950).

use flate2::{Compress, Compression, Decompress, FlushCompress, FlushDecompress, Status};

use super::Connection;
use super::reader::malformed;
use super::result::Fields;
use crate::client::{Client, Event, Login, StatementId, Value};
use crate::error::ProtocolError;
use crate::outbox::Outbox;

/// Bytes of a frame before its payload.
const HEADER_BYTES: usize = 7;

/// What a frame holds at most, before compression.
const FRAME_BYTES_MAX: usize = 0xFF_FFFF;

/// Less is sent as it is, as MySQL's own client does (`MIN_COMPRESS_LENGTH`).
const COMPRESS_BYTES_MIN: usize = 50;

/// Bytes that are inflated at a time, so that an announced length takes no memory.
const INFLATE_BYTES: usize = 16 * 1024;

/// A [`Connection`] that is compressed where the server can do it.
pub struct Compressed {
    inner: Connection,
    /// How frames are made and read; none as long as the connection is in clear.
    codec: Option<Box<Codec>>,
    output: Outbox,
    /// A frame that could not be read, which [`Client::advance`] reports.
    broken: Option<ProtocolError>,
}

impl Compressed {
    /// A connection that is about to hear the server's greeting, and asks for compression.
    pub fn new(login: Login) -> Self {
        Self {
            inner: Connection::asking_for_compression(login),
            codec: None,
            output: Outbox::default(),
            broken: None,
        }
    }

    /// Frames a command that the inner connection has just written; each has frames of its own, numbered from 0.
    fn frame_command(&mut self) {
        if let Some(codec) = &mut self.codec {
            codec.sequence = 0;
        }
        self.frame();
    }

    /// Frames what the inner connection has to send.
    fn frame(&mut self) {
        let Some(codec) = &mut self.codec else { return };
        for plain in self.inner.output().chunks(FRAME_BYTES_MAX) {
            codec.deflate(plain, self.output.end());
        }
        let plain_bytes = self.inner.output().len();
        self.inner.consume_output(plain_bytes);
    }
}

impl Client for Compressed {
    fn output(&self) -> &[u8] {
        if self.codec.is_some() { self.output.pending() } else { self.inner.output() }
    }

    fn consume_output(&mut self, sent_bytes: usize) {
        if self.codec.is_some() {
            self.output.consume(sent_bytes);
        } else {
            self.inner.consume_output(sent_bytes);
        }
    }

    fn receive(&mut self, bytes: &[u8]) {
        match &mut self.codec {
            None => self.inner.receive(bytes),
            Some(codec) if self.broken.is_none() => {
                self.broken = codec.inflate(bytes, |plain| self.inner.receive(plain)).err();
            }
            Some(_) => {}
        }
    }

    fn advance(&mut self) -> Result<Event, ProtocolError> {
        if let Some(error) = &self.broken {
            return Err(error.clone());
        }
        let event = self.inner.advance()?;
        if event == Event::Ready && self.inner.is_compressed() {
            self.codec = Some(Box::default());
        }
        // An answer within a command, as to a request for a local file, goes on with the server's numbers.
        self.frame();
        Ok(event)
    }

    fn tls_established(&mut self) {
        self.inner.tls_established();
    }

    fn query(&mut self, sql: &[u8]) {
        self.inner.query(sql);
        self.frame_command();
    }

    fn prepare(&mut self, sql: &[u8]) {
        self.inner.prepare(sql);
        self.frame_command();
    }

    fn execute(&mut self, statement: StatementId, params: &[Value<'_>]) {
        self.inner.execute(statement, params);
        self.frame_command();
    }

    fn close_statement(&mut self, statement: StatementId) {
        self.inner.close_statement(statement);
        self.frame_command();
    }

    fn next_result(&mut self) {
        self.inner.next_result();
    }

    fn quit(&mut self) {
        self.inner.quit();
        self.frame_command();
    }

    fn next_row(&mut self, fields: &mut Fields) -> bool {
        self.inner.next_row(fields)
    }

    fn field_names(&self) -> Vec<String> {
        self.inner.field_names()
    }

    fn server_version(&self) -> &str {
        self.inner.server_version()
    }
}

/// Frames in both directions.
struct Codec {
    deflater: Compress,
    inflater: Decompress,
    /// Bytes of a frame that is not whole.
    arrived: Vec<u8>,
    /// The number of the next frame.
    sequence: u8,
}

impl Default for Codec {
    fn default() -> Self {
        Self {
            deflater: Compress::new(Compression::default(), true),
            inflater: Decompress::new(true),
            arrived: Vec::new(),
            sequence: 0,
        }
    }
}

impl Codec {
    /// Appends a frame with what fits into one.
    fn deflate(&mut self, plain: &[u8], output: &mut Vec<u8>) {
        let header = output.len();
        output.resize(header + HEADER_BYTES, 0);
        let is_smaller = plain.len() >= COMPRESS_BYTES_MIN && self.is_deflated(plain, output);
        if !is_smaller {
            output.truncate(header + HEADER_BYTES);
            output.extend_from_slice(plain);
        }
        let payload_bytes = output.len() - header - HEADER_BYTES;
        let plain_bytes = if is_smaller { plain.len() } else { 0 };
        output[header..header + 3].copy_from_slice(&payload_bytes.to_le_bytes()[..3]);
        output[header + 3] = self.sequence;
        output[header + 4..header + HEADER_BYTES].copy_from_slice(&plain_bytes.to_le_bytes()[..3]);
        self.sequence = self.sequence.wrapping_add(1);
    }

    /// Appends deflated bytes; whether they are fewer.
    fn is_deflated(&mut self, plain: &[u8], output: &mut Vec<u8>) -> bool {
        self.deflater.reset();
        output.reserve(plain.len());
        let room = output.len() + plain.len();
        let status = self.deflater.compress_vec(plain, output, FlushCompress::Finish);
        matches!(status, Ok(Status::StreamEnd)) && output.len() < room
    }

    /// Gives what the frames that have arrived hold to `plain`.
    fn inflate(&mut self, bytes: &[u8], mut plain: impl FnMut(&[u8])) -> Result<(), ProtocolError> {
        self.arrived.extend_from_slice(bytes);
        let arrived = std::mem::take(&mut self.arrived);
        let mut rest = arrived.as_slice();
        while let Some((header, after)) = rest.split_first_chunk::<HEADER_BYTES>() {
            let payload_bytes = length(*header, 0);
            let plain_bytes = length(*header, 4);
            let Some(payload) = after.get(..payload_bytes) else { break };
            self.sequence = header[3].wrapping_add(1);
            match plain_bytes {
                0 => plain(payload),
                _ => self.inflate_frame(payload, plain_bytes, &mut plain)?,
            }
            rest = &after[payload_bytes..];
        }
        self.arrived.extend_from_slice(rest);
        Ok(())
    }

    fn inflate_frame(
        &mut self,
        payload: &[u8],
        plain_bytes: usize,
        plain: &mut impl FnMut(&[u8]),
    ) -> Result<(), ProtocolError> {
        self.inflater.reset(true);
        let mut buffer = [0; INFLATE_BYTES];
        loop {
            let (read, written) = (self.inflater.total_in() as usize, self.inflater.total_out() as usize);
            let status = self
                .inflater
                .decompress(&payload[read..], &mut buffer, FlushDecompress::None)
                .map_err(|error| malformed("compressed packet", error.to_string()))?;
            let total_bytes = self.inflater.total_out() as usize;
            plain(&buffer[..total_bytes - written]);
            let is_stuck = total_bytes == written && self.inflater.total_in() as usize == read;
            match status {
                Status::StreamEnd if total_bytes == plain_bytes => return Ok(()),
                Status::Ok | Status::BufError if total_bytes <= plain_bytes && !is_stuck => {}
                _ => {
                    let detail = format!("{total_bytes} bytes came out of it, expected {plain_bytes}");
                    return Err(malformed("compressed packet", detail));
                }
            }
        }
    }
}

/// Three bytes of a header.
fn length(header: [u8; HEADER_BYTES], at: usize) -> usize {
    u32::from_le_bytes([header[at], header[at + 1], header[at + 2], 0]) as usize
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn frames(plain: &[u8]) -> Vec<u8> {
        let mut output = Vec::new();
        Codec::default().deflate(plain, &mut output);
        output
    }

    fn inflated(bytes: &[u8]) -> Result<Vec<u8>, ProtocolError> {
        let mut plain = Vec::new();
        Codec::default().inflate(bytes, |part| plain.extend_from_slice(part)).map(|()| plain)
    }

    #[test]
    fn what_gets_smaller_is_deflated_and_comes_back() {
        let plain = vec![b'x'; 100_000];
        let bytes = frames(&plain);
        assert!(bytes.len() < 1000, "{}", bytes.len());
        assert_eq!(bytes[4..7], [0xA0, 0x86, 0x01]);
        assert_eq!(inflated(&bytes).unwrap(), plain);
    }

    #[test]
    fn what_does_not_get_smaller_is_sent_as_it_is() {
        let noise: Vec<u8> = (0..200_u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
        for plain in [b"SELECT 1".as_slice(), &noise] {
            let bytes = frames(plain);
            assert_eq!((&bytes[4..7], &bytes[7..]), ([0; 3].as_slice(), plain));
            assert_eq!(inflated(&bytes).unwrap(), plain);
        }
    }

    #[test]
    fn frames_may_arrive_in_any_parts() {
        let plain = [b"a".repeat(60), b"short".to_vec(), b"b".repeat(40_000)];
        let mut bytes = Vec::new();
        let mut codec = Codec::default();
        for plain in &plain {
            codec.deflate(plain, &mut bytes);
        }
        let mut seen = Vec::new();
        for byte in &bytes {
            codec.inflate(&[*byte], |part| seen.extend_from_slice(part)).unwrap();
        }
        assert_eq!(seen, plain.concat());
        assert!(codec.arrived.is_empty());
        assert_eq!(codec.sequence, 3);
    }

    proptest! {
        #[test]
        fn whatever_arrives_is_read_or_refused(bytes: Vec<u8>, at in 0..64_usize, value: u8) {
            let _ = inflated(&bytes);
            let mut altered = frames(&b"a word, and a word, and a word again".repeat(4));
            let place = at % altered.len();
            altered[place] = value;
            let _ = inflated(&altered);
        }
    }

    #[test]
    fn frames_that_lie_are_errors() {
        let whole = frames(&[b'x'; 1000]);
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
            let error = inflated(&bytes).unwrap_err();
            assert!(matches!(error, ProtocolError::Malformed { what: "compressed packet", .. }), "{error}");
        }
    }
}
