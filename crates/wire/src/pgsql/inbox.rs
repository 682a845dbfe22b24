//! Bytes from the server, split into messages in place.
//!
//! A message has a tag byte, a length and a body. The length counts the length field and the body, but not the tag
//! ("Message Formats" in the PostgreSQL manual's chapter on the frontend/backend protocol).

use crate::ProtocolError;
use crate::limits::{KEPT_BUFFER_BYTES, MAX_RESULT_BYTES};

/// Length of a message's length field. The value of the field includes these bytes.
const LENGTH_BYTES: usize = 4;
/// Length of a message's tag and length field.
const HEADER_BYTES: usize = 1 + LENGTH_BYTES;

/// A complete message in the inbox. Its positions are valid until [`Inbox::forget_parsed`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Message {
    /// Byte that identifies the kind of message.
    pub(super) tag: u8,
    /// Position of the message's body.
    pub(super) start: usize,
    /// Position of the message's end, where the next message begins.
    pub(super) end: usize,
}

/// Bytes that have arrived. The kept messages of the current result come first, then bytes that are not parsed yet.
#[derive(Default)]
pub(super) struct Inbox {
    bytes: Vec<u8>,
    /// Discarded bytes at the front. They are removed when they are more than half of the buffer.
    forgotten: usize,
    /// Position up to which the bytes are parsed. All positions are relative to the end of the discarded bytes.
    parsed: usize,
}

impl Inbox {
    pub(super) fn receive(&mut self, bytes: &[u8]) {
        // The remaining bytes are moved only when they are less than half of the buffer. This keeps the total cost
        // linear in the input.
        if self.forgotten > self.bytes.len() / 2 {
            self.bytes.drain(..self.forgotten);
            self.forgotten = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// The next message, if it is complete. [`Inbox::take`] moves past it.
    ///
    /// # Errors
    /// The length is invalid or over the limit.
    #[inline]
    pub(super) fn peek(&self) -> Result<Option<Message>, ProtocolError> {
        match message_at(self.kept(), self.parsed) {
            None => self.check_incomplete().map(|()| None),
            message => Ok(message),
        }
    }

    /// Moves past a message that [`peek`](Inbox::peek) returned.
    pub(super) fn take(&mut self, message: Message) {
        self.parsed = message.end;
    }

    /// Skips the complete messages with the given tag. Returns how many it skipped.
    pub(super) fn take_all(&mut self, tag: u8) -> u64 {
        let mut count = 0;
        while let Some(message) = message_at(self.kept(), self.parsed).filter(|message| message.tag == tag) {
            self.take(message);
            count += 1;
        }
        count
    }

    /// Skips one byte: the answer to a request for TLS, the only answer that is not a message.
    pub(super) fn take_byte(&mut self) {
        self.parsed += 1;
    }

    pub(super) fn body(&self, message: Message) -> &[u8] {
        &self.kept()[message.start..message.end]
    }

    /// The message at a position, if it has been taken.
    pub(super) fn message_at(&self, place: usize) -> Option<Message> {
        message_at(&self.kept()[..self.parsed], place)
    }

    /// Bytes that are not taken yet.
    pub(super) fn unparsed(&self) -> &[u8] {
        &self.kept()[self.parsed..]
    }

    /// Discards all parsed bytes. Positions are then counted from the next message.
    pub(super) fn forget_parsed(&mut self) {
        self.forgotten += self.parsed;
        self.parsed = 0;
        if self.forgotten == self.bytes.len() {
            self.bytes.clear();
            self.bytes.shrink_to(KEPT_BUFFER_BYTES);
            self.forgotten = 0;
        }
    }

    fn kept(&self) -> &[u8] {
        &self.bytes[self.forgotten..]
    }

    /// Returns an error if the bytes so far show that the next message is invalid or too large, so that the caller
    /// does not wait for the rest.
    #[cold]
    fn check_incomplete(&self) -> Result<(), ProtocolError> {
        let too_large = |what| Err(ProtocolError::TooLarge { what, limit_bytes: MAX_RESULT_BYTES });
        match self.unparsed().first_chunk().copied().map(split_header) {
            Some((tag, length)) if length < LENGTH_BYTES => {
                let detail = format!("a length of {length} for '{}'", tag.escape_ascii());
                Err(ProtocolError::Malformed { what: "message", detail })
            }
            Some((_, length)) if length > MAX_RESULT_BYTES => too_large("message"),
            _ if self.kept().len() > MAX_RESULT_BYTES => too_large("result"),
            _ => Ok(()),
        }
    }
}

/// The message at `place`, if `bytes` contains all of it.
#[inline]
fn message_at(bytes: &[u8], place: usize) -> Option<Message> {
    let (tag, length) = split_header(*bytes.get(place..)?.first_chunk()?);
    let (start, end) = (place + HEADER_BYTES, place + 1 + length);
    (start <= end && end <= bytes.len()).then_some(Message { tag, start, end })
}

/// Length of the message that begins `bytes`, without its tag; `None` until its header has arrived.
pub(super) fn announced_bytes(bytes: &[u8]) -> Option<usize> {
    bytes.first_chunk().copied().map(|header| split_header(header).1)
}

/// Splits a message's header into its tag and its length.
#[inline]
fn split_header([tag, a, b, c, d]: [u8; HEADER_BYTES]) -> (u8, usize) {
    (tag, u32::from_be_bytes([a, b, c, d]) as usize)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(inbox: &mut Inbox) -> Option<(u8, Vec<u8>)> {
        let message = inbox.peek().unwrap()?;
        inbox.take(message);
        Some((message.tag, inbox.body(message).to_vec()))
    }

    #[test]
    fn messages_come_out_whole_however_they_arrive() {
        let mut inbox = Inbox::default();
        for byte in *b"A\0\0\0\x06xyB\0\0\0\x04" {
            assert_eq!(next(&mut inbox), None);
            inbox.receive(&[byte]);
            if byte == b'y' {
                assert_eq!(next(&mut inbox), Some((b'A', b"xy".to_vec())));
            }
        }
        assert_eq!(next(&mut inbox), Some((b'B', vec![])));
    }

    #[test]
    fn messages_of_one_kind_are_taken_at_once() {
        let mut inbox = Inbox::default();
        inbox.receive(b"D\0\0\0\x05xD\0\0\0\x04C\0\0\0\x04D\0\0\0\x09");
        assert_eq!(inbox.take_all(b'D'), 2);
        assert_eq!(next(&mut inbox), Some((b'C', vec![])));
        assert_eq!(inbox.take_all(b'D'), 0, "the last is not whole");
    }

    #[test]
    fn places_hold_while_more_arrives_and_restart_when_forgotten() {
        let mut inbox = Inbox::default();
        inbox.receive(b"A\0\0\0\x05xB\0\0\0\x05y");
        next(&mut inbox);
        inbox.forget_parsed();
        next(&mut inbox);
        inbox.receive(b"C\0\0\0\x05z");
        inbox.receive(b"D");
        assert_eq!(inbox.message_at(0).map(|message| inbox.body(message)), Some(b"y".as_slice()));
        assert_eq!(next(&mut inbox), Some((b'C', b"z".to_vec())));
    }

    #[test]
    fn room_of_a_big_result_is_given_back() {
        let mut inbox = Inbox::default();
        inbox.receive(b"D\0\x04\0\x04");
        inbox.receive(&vec![0; 4 * KEPT_BUFFER_BYTES]);
        assert!(next(&mut inbox).is_some());
        inbox.forget_parsed();
        assert!(inbox.bytes.capacity() <= KEPT_BUFFER_BYTES);
    }

    #[test]
    fn an_announced_length_reserves_nothing_and_is_bounded() {
        let mut inbox = Inbox::default();
        inbox.receive(b"D\x0f\xff\xff\xff");
        assert_eq!(inbox.peek(), Ok(None));
        assert!(inbox.bytes.capacity() < 1024);

        let mut inbox = Inbox::default();
        inbox.receive(b"D\x7f\xff\xff\xff");
        let too_large = ProtocolError::TooLarge { what: "message", limit_bytes: MAX_RESULT_BYTES };
        assert_eq!(inbox.peek(), Err(too_large));
    }

    #[test]
    fn a_length_that_leaves_out_itself_is_refused() {
        let mut inbox = Inbox::default();
        inbox.receive(b"D\0\0\0\x03");
        let error = inbox.peek().unwrap_err().to_string();
        assert_eq!(error, "malformed message from the server: a length of 3 for 'D'");
    }
}
