//! Bytes to be sent to the server.

use crate::limits::KEPT_OUTPUT_BYTES;

/// Bytes that are written but not yet sent.
#[derive(Default)]
pub(crate) struct Outbox {
    bytes: Vec<u8>,
    sent: usize,
}

impl Outbox {
    /// Bytes to send now.
    pub(crate) fn pending(&self) -> &[u8] {
        &self.bytes[self.sent..]
    }

    /// Marks the first `sent_bytes` of [`pending`](Outbox::pending) as sent.
    pub(crate) fn consume(&mut self, sent_bytes: usize) {
        self.sent += sent_bytes;
        debug_assert!(self.sent <= self.bytes.len(), "more sent than there was");
        if self.sent >= self.bytes.len() {
            self.sent = 0;
            self.bytes.clear();
            self.bytes.shrink_to(KEPT_OUTPUT_BYTES);
        }
    }

    /// The buffer to which the next message is appended.
    pub(crate) fn end(&mut self) -> &mut Vec<u8> {
        &mut self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn partial_sends_leave_the_rest() {
        let mut outbox = Outbox::default();
        outbox.end().extend_from_slice(b"hello");
        outbox.consume(2);
        outbox.end().extend_from_slice(b", you");
        assert_eq!(outbox.pending(), b"llo, you");
        outbox.consume(8);
        assert_eq!(outbox.pending(), b"");
    }

    #[test]
    fn room_of_a_big_message_is_given_back() {
        let mut outbox = Outbox::default();
        outbox.end().resize(4 * KEPT_OUTPUT_BYTES, 0);
        outbox.consume(4 * KEPT_OUTPUT_BYTES);
        assert!(outbox.bytes.capacity() <= KEPT_OUTPUT_BYTES);
    }
}
