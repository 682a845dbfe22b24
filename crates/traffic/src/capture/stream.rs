//! The bytes of one direction of a connection, in the order in which they were sent.

use std::collections::BTreeMap;

use crate::error::TrafficError;

/// Largest number of bytes, and of segments, that wait for an earlier segment.
const HELD_BYTES_MAX: usize = 4 << 20;
const HELD_SEGMENTS_MAX: usize = 4096;
/// If this many segments acknowledge bytes that were not captured, these bytes count as missing. Until then, the bytes
/// may still follow, because a capture may have packets in a slightly wrong order.
const OVERDUE_MAX: u32 = 8;
/// Position of the byte with sequence number 0. It is larger than any distance between two segments, so that no
/// position is negative.
const ORIGIN: u64 = 1 << 40;

/// A part of a stream.
#[derive(Clone, Copy)]
pub(super) enum Piece<'a> {
    Bytes(&'a [u8]),
    /// A part was not captured.
    Missing,
    /// The snap length has cut off the end of a segment.
    Truncated,
}

/// Receives the parts of a stream in order.
pub(super) type Deliver<'a> = &'a mut dyn FnMut(Piece<'_>) -> Result<(), TrafficError>;

/// Puts segments in order. Memory is bounded.
#[derive(Debug, Default)]
pub(super) struct Stream {
    /// Position of the next byte: the sequence number, but without wrapping around. `None` before the first
    /// segment.
    next: Option<u64>,
    /// Segments that arrived too early, by their positions.
    held: BTreeMap<u64, Held>,
    held_bytes: usize,
    overdue: u32,
    /// Position of the stream's end; `None` until it is known.
    fin: Option<u64>,
}

#[derive(Debug)]
struct Held {
    bytes: Vec<u8>,
    missing_bytes: u64,
}

impl Held {
    fn len(&self) -> u64 {
        self.bytes.len() as u64 + self.missing_bytes
    }
}

impl Stream {
    /// Begins the stream with the first byte's sequence number.
    pub(super) fn begin(&mut self, sequence: u32) {
        *self = Self { next: Some(ORIGIN + u64::from(sequence)), ..Self::default() };
    }

    /// Whether the stream begins with this sequence number, and no byte has arrived yet.
    pub(super) fn is_at(&self, sequence: u32) -> bool {
        self.next == Some(ORIGIN + u64::from(sequence))
    }

    pub(super) fn has_begun(&self) -> bool {
        self.next.is_some()
    }

    pub(super) fn held_bytes(&self) -> usize {
        self.held_bytes
    }

    /// Whether all bytes up to the end have arrived.
    pub(super) fn is_finished(&self) -> bool {
        self.fin.zip(self.next).is_some_and(|(fin, next)| next >= fin)
    }

    fn position(next: u64, sequence: u32) -> u64 {
        let distance = sequence.wrapping_sub(next as u32).cast_signed();
        next.saturating_add_signed(i64::from(distance))
    }

    /// Adds a segment, and delivers the bytes that are in order.
    pub(super) fn push(
        &mut self,
        sequence: u32,
        payload: &[u8],
        missing_bytes: usize,
        deliver: Deliver<'_>,
    ) -> Result<(), TrafficError> {
        let next = *self.next.get_or_insert(ORIGIN + u64::from(sequence));
        let position = Self::position(next, sequence);
        let missing_bytes = missing_bytes as u64;
        if position <= next {
            self.deliver(position, payload, missing_bytes, deliver)?;
            return self.drain(deliver);
        }
        self.hold(position, Held { bytes: payload.to_vec(), missing_bytes });
        if self.held_bytes > HELD_BYTES_MAX || self.held.len() > HELD_SEGMENTS_MAX {
            return self.skip(position, deliver);
        }
        Ok(())
    }

    /// Sets the position of the stream's end, which follows the segment with this sequence number and length.
    pub(super) fn finish(&mut self, sequence: u32, length: usize) {
        let next = *self.next.get_or_insert(ORIGIN + u64::from(sequence));
        self.fin = Some(Self::position(next, sequence) + length as u64);
    }

    /// Handles an acknowledgement: the other side has received all bytes before `sequence`.
    pub(super) fn acknowledge(&mut self, sequence: u32, deliver: Deliver<'_>) -> Result<(), TrafficError> {
        let Some(next) = self.next else { return Ok(()) };
        // In sequence numbers, the end of the stream counts as one byte.
        let position = Self::position(next, sequence) - u64::from(self.fin.is_some());
        if position <= next {
            return Ok(());
        }
        self.overdue += 1;
        if self.overdue <= OVERDUE_MAX {
            return Ok(());
        }
        self.skip(position, deliver)
    }

    /// At the end of the connection or of the capture, skips bytes that are missing before waiting segments.
    pub(super) fn flush(&mut self, deliver: Deliver<'_>) -> Result<(), TrafficError> {
        if self.held.is_empty() { Ok(()) } else { self.skip(0, deliver) }
    }

    /// Skips all bytes up to `position`, or up to the end of the last waiting segment if that is later. Waiting
    /// segments are dropped, because the other side may have answered them already.
    fn skip(&mut self, position: u64, deliver: Deliver<'_>) -> Result<(), TrafficError> {
        let ends = self.held.iter().map(|(begin, held)| begin + held.len());
        self.next = ends.max().max(Some(position)).max(self.next);
        self.held.clear();
        self.held_bytes = 0;
        self.overdue = 0;
        deliver(Piece::Missing)
    }

    fn hold(&mut self, position: u64, held: Held) {
        if self.held.get(&position).is_some_and(|known| known.len() >= held.len()) {
            return;
        }
        self.held_bytes += held.bytes.len();
        if let Some(known) = self.held.insert(position, held) {
            self.held_bytes -= known.bytes.len();
        }
    }

    /// Delivers the waiting segments that are now in order.
    fn drain(&mut self, deliver: Deliver<'_>) -> Result<(), TrafficError> {
        while let Some(entry) = self.held.first_entry() {
            if Some(*entry.key()) > self.next {
                break;
            }
            let (position, held) = entry.remove_entry();
            self.held_bytes -= held.bytes.len();
            self.deliver(position, &held.bytes, held.missing_bytes, deliver)?;
        }
        Ok(())
    }

    /// Delivers the part of a segment that has not been delivered yet.
    fn deliver(
        &mut self,
        position: u64,
        payload: &[u8],
        missing_bytes: u64,
        deliver: Deliver<'_>,
    ) -> Result<(), TrafficError> {
        let Some(next) = self.next else { return Ok(()) };
        let known_bytes = next.saturating_sub(position);
        let end = position + payload.len() as u64;
        if known_bytes < payload.len() as u64 {
            self.next = Some(end);
            self.overdue = 0;
            deliver(Piece::Bytes(&payload[known_bytes as usize..]))?;
        }
        if missing_bytes > 0 && end + missing_bytes > next {
            self.next = Some(end + missing_bytes);
            self.overdue = 0;
            deliver(Piece::Truncated)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stream with the text that it delivers: `-` for missing bytes, and `|` for bytes that were cut off.
    struct Told(Stream, String);

    impl Told {
        fn from(sequence: u32) -> Self {
            let mut stream = Stream::default();
            stream.begin(sequence);
            Self(stream, String::new())
        }

        fn push(&mut self, sequence: u32, payload: &str, missing_bytes: usize) {
            let Self(stream, told) = self;
            let deliver = &mut |piece: Piece<'_>| {
                told.push_str(words(piece));
                Ok(())
            };
            stream.push(sequence, payload.as_bytes(), missing_bytes, deliver).unwrap();
        }

        fn acknowledge(&mut self, sequence: u32) {
            let Self(stream, told) = self;
            let deliver = &mut |piece: Piece<'_>| {
                told.push_str(words(piece));
                Ok(())
            };
            stream.acknowledge(sequence, deliver).unwrap();
        }
    }

    fn words(piece: Piece<'_>) -> &str {
        match piece {
            Piece::Bytes(bytes) => str::from_utf8(bytes).unwrap(),
            Piece::Missing => "-",
            Piece::Truncated => "|",
        }
    }

    #[test]
    fn segments_come_in_any_order_and_repeatedly() {
        let mut told = Told::from(u32::MAX - 1);
        told.push(2, "ef", 0);
        told.push(u32::MAX - 1, "ab", 0);
        told.push(u32::MAX - 1, "ab", 0);
        told.push(2, "ef", 0);
        assert_eq!(told.1, "ab");
        told.push(u32::MAX, "bcde", 0);
        assert_eq!(told.1, "abcdef");
        assert_eq!(told.0.held_bytes(), 0);
        told.push(4, "gh", 0);
        assert_eq!(told.1, "abcdefgh");
    }

    #[test]
    fn what_was_acknowledged_but_not_captured_is_missing() {
        let mut told = Told::from(100);
        told.push(100, "ab", 0);
        told.push(110, "kl", 0);
        for _ in 0..=OVERDUE_MAX {
            assert_eq!(told.1, "ab");
            told.acknowledge(112);
        }
        assert_eq!(told.1, "ab-");
        told.push(112, "m", 0);
        for _ in 0..=OVERDUE_MAX {
            told.acknowledge(120);
        }
        told.push(120, "uv", 0);
        assert_eq!(told.1, "ab-m-uv");
    }

    #[test]
    fn the_end_of_a_cut_segment_is_passed_over() {
        let mut told = Told::from(0);
        told.push(0, "ab", 3);
        told.push(0, "ab", 3);
        told.push(5, "fg", 0);
        assert_eq!(told.1, "ab|fg");
    }

    #[test]
    fn memory_for_what_is_early_is_bounded() {
        let mut told = Told::from(0);
        let piece = "x".repeat(1 << 16);
        for number in 0..100 {
            told.push(1 + (number << 16), &piece, 0);
            assert!(told.0.held_bytes() <= HELD_BYTES_MAX + (1 << 16));
        }
        assert!(told.1.starts_with("-x"), "the rest is read");
        let mut told = Told::from(0);
        for number in 1..10_000 {
            told.push(2 * number, "x", 0);
        }
        assert!(told.0.held.len() <= HELD_SEGMENTS_MAX);
    }
}
