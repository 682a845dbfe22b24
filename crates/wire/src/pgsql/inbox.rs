//! Bytes from the server, cut into messages in place.
//!
//! A message is a tag byte, a length that counts itself but not the tag, and a body
//! ("Message Formats" in the PostgreSQL manual's chapter on the frontend/backend protocol).

use std::ops::Range;

use crate::ProtocolError;
use crate::limits::{KEPT_BUFFER_BYTES, MAX_RESULT_BYTES};

/// Tag and length.
const HEADER_BYTES: usize = 5;

/// A whole message that lies in the inbox. Its place holds until [`Inbox::forget_parsed`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Message {
    /// What kind of message this is.
    pub(super) tag: u8,
    /// Where its body is, for [`Inbox::bytes`].
    pub(super) body: Range<usize>,
}

/// What has arrived: first what is kept of the current result, then what is not parsed yet.
#[derive(Default)]
pub(super) struct Inbox {
    bytes: Vec<u8>,
    /// Bytes at the front that are forgotten, and are moved over when there are enough of them.
    forgotten: usize,
    /// End of what is parsed, counted (as all places are) from the end of what is forgotten.
    parsed: usize,
}

impl Inbox {
    /// Appends what arrived.
    pub(super) fn receive(&mut self, bytes: &[u8]) {
        // Moving the rest over only when it is the smaller half keeps the cost linear in what arrives.
        if self.forgotten > self.bytes.len() / 2 {
            self.bytes.drain(..self.forgotten);
            self.forgotten = 0;
        }
        self.bytes.extend_from_slice(bytes);
    }

    /// The next message, if all of it is here. It stays the next until it is [taken](Inbox::take).
    ///
    /// # Errors
    /// A length that cannot be, or that is over the limit.
    pub(super) fn peek(&self) -> Result<Option<Message>, ProtocolError> {
        match message_at(self.kept(), self.parsed)? {
            None if self.kept().len() > MAX_RESULT_BYTES => Err(too_large("result")),
            message => Ok(message),
        }
    }

    /// Passes over a message that [`peek`](Inbox::peek) gave.
    pub(super) fn take(&mut self, message: &Message) {
        self.parsed = message.body.end;
    }

    /// Passes over one byte that is there: the only answer of the protocol that is no message.
    pub(super) fn take_byte(&mut self) {
        self.parsed += 1;
    }

    /// What lies at a place.
    pub(super) fn bytes(&self, place: &Range<usize>) -> &[u8] {
        &self.kept()[place.clone()]
    }

    /// The message that starts at a place, among those that were taken.
    pub(super) fn message_at(&self, place: usize) -> Option<Message> {
        message_at(&self.kept()[..self.parsed], place).ok().flatten()
    }

    /// What has arrived but is not taken.
    pub(super) fn unparsed(&self) -> &[u8] {
        &self.kept()[self.parsed..]
    }

    /// Forgets all that is parsed, so that places count from the next message.
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
}

/// The message at `place`, if all of it is in `bytes`.
fn message_at(bytes: &[u8], place: usize) -> Result<Option<Message>, ProtocolError> {
    let Some(&[tag, a, b, c, d]) = bytes.get(place..).and_then(|rest| rest.first_chunk::<HEADER_BYTES>())
    else {
        return Ok(None);
    };
    let length = u32::from_be_bytes([a, b, c, d]) as usize;
    if length < HEADER_BYTES - 1 {
        let detail = format!("a length of {length} for '{}'", tag.escape_ascii());
        return Err(ProtocolError::Malformed { what: "message", detail });
    }
    if length > MAX_RESULT_BYTES {
        return Err(too_large("message"));
    }
    let body = place + HEADER_BYTES..place + 1 + length;
    Ok((body.end <= bytes.len()).then_some(Message { tag, body }))
}

fn too_large(what: &'static str) -> ProtocolError {
    ProtocolError::TooLarge { what, limit_bytes: MAX_RESULT_BYTES }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn next(inbox: &mut Inbox) -> Option<(u8, Vec<u8>)> {
        let message = inbox.peek().unwrap()?;
        inbox.take(&message);
        Some((message.tag, inbox.bytes(&message.body).to_vec()))
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
    fn places_hold_while_more_arrives_and_restart_when_forgotten() {
        let mut inbox = Inbox::default();
        inbox.receive(b"A\0\0\0\x05xB\0\0\0\x05y");
        next(&mut inbox);
        inbox.forget_parsed();
        next(&mut inbox);
        inbox.receive(b"C\0\0\0\x05z");
        inbox.receive(b"D");
        assert_eq!(inbox.message_at(0), Some(Message { tag: b'B', body: 5..6 }));
        assert_eq!(inbox.bytes(&(5..6)), b"y");
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
        assert_eq!(inbox.peek(), Err(too_large("message")));
    }

    #[test]
    fn a_length_that_leaves_out_itself_is_refused() {
        let mut inbox = Inbox::default();
        inbox.receive(b"D\0\0\0\x03");
        let error = inbox.peek().unwrap_err().to_string();
        assert_eq!(error, "malformed message from the server: a length of 3 for 'D'");
    }
}
