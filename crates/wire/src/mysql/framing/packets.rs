//! Packets from the server, parsed in place in the receive buffer.
//!
//! A packet consists of one or more frames. A frame has three bytes of length, one byte of sequence number, and
//! then the payload. A frame of 16 MB − 1 bytes continues in the next frame. Frames are not copied, because the
//! rows of a result are read from the buffer later.

use std::borrow::Cow;

use crate::error::ProtocolError;
use crate::limits::{KEPT_BUFFER_BYTES, MAX_RESULT_BYTES};
use crate::mysql::framing::reader::malformed;
use crate::mysql::response::ERR;

/// Length of the payload of a frame that continues in the next frame.
pub(in crate::mysql) const FULL_FRAME_BYTES: usize = 0xFF_FFFF;

/// Length of a frame's header.
pub(in crate::mysql) const HEADER_BYTES: usize = 4;

/// Limit on the bytes that a server may send before the login is complete.
const LOGIN_LIMIT_BYTES: usize = 1 << 20;

/// Bytes that arrived, and the position up to which they are scanned.
///
/// Positions are relative to the oldest byte that is kept. [`Packets::discard_scanned`] invalidates them.
pub(in crate::mysql) struct Packets {
    bytes: Vec<u8>,
    /// Discarded bytes at the front. They are removed when they are more than half of the buffer.
    discarded: usize,
    scanned: usize,
    sequence: u8,
    /// Whether each packet must have the expected sequence number.
    checks_numbers: bool,
    limit_bytes: usize,
}

struct Frame<'a> {
    sequence: u8,
    payload: &'a [u8],
}

impl Packets {
    pub(in crate::mysql) fn new() -> Self {
        Self {
            bytes: Vec::new(),
            discarded: 0,
            scanned: 0,
            sequence: 0,
            checks_numbers: true,
            limit_bytes: LOGIN_LIMIT_BYTES,
        }
    }

    /// Appends bytes that arrived.
    pub(in crate::mysql) fn receive(&mut self, bytes: &[u8]) {
        if self.discarded > self.bytes.len() / 2 {
            self.bytes.drain(..self.discarded);
            self.discarded = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// Raises the memory limit from the login's limit to the limit of a result.
    pub(in crate::mysql) fn login_is_done(&mut self) {
        self.limit_bytes = MAX_RESULT_BYTES;
    }

    /// Accepts any sequence number from now on. In a compressed frame, a server gives packets the sequence number
    /// of the frame.
    pub(in crate::mysql) fn take_any_number(&mut self) {
        self.checks_numbers = false;
    }

    /// Scans the next packet, if it is complete. Returns its position.
    #[inline]
    pub(in crate::mysql) fn next(&mut self) -> Result<Option<usize>, ProtocolError> {
        let at = self.scanned;
        if let Some(Frame { sequence, payload }) = frame_at(self.kept(), at)
            && sequence == self.sequence
            && payload.len() < FULL_FRAME_BYTES
        {
            self.scanned = at + HEADER_BYTES + payload.len();
            self.sequence = sequence.wrapping_add(1);
            return Ok(Some(at));
        }
        self.next_unusual()
    }

    /// Skips complete packets while their payload passes `test`. Returns how many it skipped.
    pub(in crate::mysql) fn skip_while(&mut self, test: impl Fn(&[u8]) -> bool) -> u64 {
        let (mut at, mut expected) = (self.scanned, self.sequence);
        let mut count = 0;
        while let Some(Frame { sequence, payload }) = frame_at(self.kept(), at)
            && sequence == expected
            && payload.len() < FULL_FRAME_BYTES
            && test(payload)
        {
            at += HEADER_BYTES + payload.len();
            expected = sequence.wrapping_add(1);
            count += 1;
        }
        (self.scanned, self.sequence) = (at, expected);
        count
    }

    /// Handles the cases that [`Packets::next`] does not handle itself: incomplete packets, several frames, and
    /// unexpected numbers.
    #[cold]
    fn next_unusual(&mut self) -> Result<Option<usize>, ProtocolError> {
        match self.whole_packet()? {
            Some((end, sequence)) => {
                self.sequence = sequence;
                Ok(Some(std::mem::replace(&mut self.scanned, end)))
            }
            None if self.kept().len() > self.limit_bytes => Err(self.too_large()),
            None => Ok(None),
        }
    }

    fn too_large(&self) -> ProtocolError {
        ProtocolError::TooLarge { what: "answer", limit_bytes: self.limit_bytes }
    }

    /// End of the next packet, and the sequence number that follows its last frame; `None` while the packet is
    /// incomplete.
    fn whole_packet(&self) -> Result<Option<(usize, u8)>, ProtocolError> {
        let mut end = self.scanned;
        let mut sequence = self.sequence;
        while let Some((header, rest)) = self.kept().get(end..).and_then(<[u8]>::split_first_chunk) {
            let (payload_bytes, number) = split_header(*header);
            // A server that closes the connection (killed, idle timeout) numbers its ERR packet from 0. Any number
            // is therefore accepted for an ERR packet.
            let gives_up = payload_bytes > 0 && rest.first().is_none_or(|&first| first == ERR);
            if self.checks_numbers && number != sequence && !gives_up {
                // The error is returned before the packet is complete, because a server of another protocol would
                // never send the rest.
                let detail = format!("its number is {number}, expected {sequence}");
                return Err(malformed("packet sequence", detail));
            }
            if payload_bytes > self.limit_bytes {
                return Err(self.too_large());
            }
            if rest.len() < payload_bytes {
                break;
            }
            sequence = number.wrapping_add(1);
            end += HEADER_BYTES + payload_bytes;
            if payload_bytes < FULL_FRAME_BYTES {
                return Ok(Some((end, sequence)));
            }
        }
        Ok(None)
    }

    /// Payload of the first frame of the packet at a position. Only rows above 16 MB have further frames.
    pub(in crate::mysql) fn head(&self, at: usize) -> &[u8] {
        frame_at(self.kept(), at).map_or(&[], |frame| frame.payload)
    }

    /// Complete payload of the packet at a position, and the position of the next packet.
    pub(in crate::mysql) fn read_at(&self, at: usize) -> Option<(Cow<'_, [u8]>, usize)> {
        let first = frame_at(self.kept(), at)?;
        let mut end = at + HEADER_BYTES + first.payload.len();
        let mut payload = Cow::Borrowed(first.payload);
        let mut last_bytes = first.payload.len();
        while last_bytes == FULL_FRAME_BYTES {
            let frame = frame_at(self.kept(), end)?;
            payload.to_mut().extend_from_slice(frame.payload);
            last_bytes = frame.payload.len();
            end += HEADER_BYTES + last_bytes;
        }
        Some((payload, end))
    }

    /// The packets between two positions, with their headers.
    pub(in crate::mysql) fn between(&self, from: usize, to: usize) -> &[u8] {
        self.kept().get(from..to).unwrap_or_default()
    }

    /// Position of the next packet.
    pub(in crate::mysql) fn position(&self) -> usize {
        self.scanned
    }

    /// Whether there are bytes that are not scanned yet.
    pub(in crate::mysql) fn has_unscanned(&self) -> bool {
        self.kept().len() > self.scanned
    }

    /// Discards all packets that [`Packets::next`] has returned.
    pub(in crate::mysql) fn discard_scanned(&mut self) {
        self.discarded += std::mem::take(&mut self.scanned);
        if self.discarded >= self.bytes.len() {
            self.discarded = 0;
            self.bytes.clear();
            self.bytes.shrink_to(KEPT_BUFFER_BYTES);
        }
    }

    /// Sequence number of the next packet, whichever side sends it.
    pub(in crate::mysql) fn sequence(&self) -> u8 {
        self.sequence
    }

    /// Sets the sequence number that the server's next packet must have.
    pub(in crate::mysql) fn expect_sequence(&mut self, sequence: u8) {
        self.sequence = sequence;
    }

    fn kept(&self) -> &[u8] {
        self.bytes.get(self.discarded..).unwrap_or_default()
    }
}

/// Splits the first packet from `packets`, in which every packet has one frame. Returns its payload and the packets
/// after it.
pub(in crate::mysql) fn split_packet(packets: &[u8]) -> Option<(&[u8], &[u8])> {
    let payload = frame_at(packets, 0)?.payload;
    Some((payload, &packets[HEADER_BYTES + payload.len()..]))
}

#[inline]
fn frame_at(bytes: &[u8], at: usize) -> Option<Frame<'_>> {
    let (header, rest) = bytes.get(at..)?.split_first_chunk()?;
    let (payload_bytes, sequence) = split_header(*header);
    Some(Frame { sequence, payload: rest.get(..payload_bytes)? })
}

/// Length of the payload and sequence number that a header contains.
#[inline]
fn split_header(header: [u8; HEADER_BYTES]) -> (usize, u8) {
    let header = u32::from_le_bytes(header) as usize;
    (header & FULL_FRAME_BYTES, (header >> 24) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(sequence: u8, payload: &[u8]) -> Vec<u8> {
        let [low, middle, high, _] = u32::try_from(payload.len()).unwrap().to_le_bytes();
        [&[low, middle, high, sequence], payload].concat()
    }

    fn packets(bytes: &[u8]) -> Packets {
        let mut packets = Packets::new();
        packets.login_is_done();
        packets.receive(bytes);
        packets
    }

    fn next_head(packets: &mut Packets) -> Option<Vec<u8>> {
        let at = packets.next().unwrap()?;
        Some(packets.head(at).to_vec())
    }

    #[test]
    fn a_packet_is_given_once_its_last_byte_is_there() {
        let bytes = frame(0, b"hello");
        let mut packets = Packets::new();
        for byte in &bytes[..bytes.len() - 1] {
            packets.receive(&[*byte]);
            assert_eq!(packets.next(), Ok(None));
        }
        packets.receive(&bytes[bytes.len() - 1..]);
        assert_eq!(next_head(&mut packets), Some(b"hello".to_vec()));
        assert_eq!(packets.next(), Ok(None));
    }

    #[test]
    fn frames_of_16_mb_are_joined() {
        let big = vec![b'x'; FULL_FRAME_BYTES];
        let mut packets = packets(&[frame(0, &big), frame(1, b"tail"), frame(2, b"after")].concat());
        assert_eq!(next_head(&mut packets).unwrap().len(), FULL_FRAME_BYTES);
        assert_eq!(next_head(&mut packets), Some(b"after".to_vec()));
        let (payload, next) = packets.read_at(0).unwrap();
        assert_eq!(payload.len(), FULL_FRAME_BYTES + 4);
        assert!(payload.ends_with(b"xtail"));
        assert_eq!(packets.read_at(next).unwrap().0, &b"after"[..]);
    }

    #[test]
    fn an_exact_multiple_of_16_mb_ends_with_an_empty_frame() {
        let big = vec![b'x'; FULL_FRAME_BYTES];
        let mut packets = packets(&frame(0, &big));
        assert_eq!(packets.next(), Ok(None), "the empty frame is missing");
        packets.receive(&frame(1, b""));
        assert!(packets.next().unwrap().is_some());
        assert_eq!(packets.read_at(0).unwrap().0.len(), FULL_FRAME_BYTES);
    }

    #[test]
    fn a_number_out_of_sequence_is_an_error() {
        let mut packets = packets(&[frame(0, b"a"), frame(2, b"b")].concat());
        assert!(packets.next().is_ok());
        assert!(matches!(packets.next(), Err(ProtocolError::Malformed { what: "packet sequence", .. })));
    }

    #[test]
    fn a_number_out_of_sequence_is_told_before_the_packet_is_whole() {
        let mut packets = packets(b"HTTP/");
        assert!(matches!(packets.next(), Err(ProtocolError::Malformed { what: "packet sequence", .. })));
    }

    #[test]
    fn an_error_packet_may_have_a_number_of_its_own() {
        let mut packets = packets(&frame(0, &[ERR, 1]));
        packets.expect_sequence(1);
        assert_eq!(next_head(&mut packets), Some([ERR, 1].to_vec()));
    }

    #[test]
    fn an_announced_length_takes_no_memory() {
        let mut packets = packets(&[0xFF, 0xFF, 0xFF, 0]);
        assert_eq!(packets.next(), Ok(None));
        assert!(packets.bytes.capacity() < 1024);
    }

    #[test]
    fn more_than_the_limit_is_an_error_as_soon_as_it_is_announced() {
        let mut packets = Packets::new();
        packets.receive(&[0xFF, 0xFF, 0xFF, 0]);
        assert!(matches!(packets.next(), Err(ProtocolError::TooLarge { .. })));
    }

    #[test]
    fn waiting_for_more_than_the_limit_is_an_error() {
        let mut packets = Packets::new();
        packets.receive(&frame(0, &vec![0; LOGIN_LIMIT_BYTES]));
        assert!(packets.next().unwrap().is_some());
        packets.receive(&frame(1, &[0; 9])[..8]);
        assert!(matches!(packets.next(), Err(ProtocolError::TooLarge { .. })));
    }

    #[test]
    fn room_of_a_big_result_is_given_back() {
        let mut packets = packets(&frame(0, &vec![0; 4 * KEPT_BUFFER_BYTES]));
        assert!(packets.next().unwrap().is_some());
        packets.discard_scanned();
        assert!(packets.bytes.capacity() <= KEPT_BUFFER_BYTES);
    }

    #[test]
    fn positions_restart_at_the_first_packet_that_is_not_discarded() {
        let mut packets = packets(&[frame(0, b"gone"), frame(1, b"kept")].concat());
        assert!(packets.next().unwrap().is_some());
        packets.discard_scanned();
        packets.receive(&frame(2, b"new"));
        assert_eq!(packets.read_at(packets.position()).unwrap().0, &b"kept"[..]);
        assert_eq!(next_head(&mut packets), Some(b"kept".to_vec()));
        assert_eq!(next_head(&mut packets), Some(b"new".to_vec()));
    }
}
