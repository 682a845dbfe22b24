//! Divides the bytes of one direction into messages ("Message Formats" in PostgreSQL's manual).

use crate::capture::bytes::Bytes;

/// Largest size of a body buffer that is kept to be used again, in bytes.
const KEPT_BYTES: usize = 64 << 10;
/// Size of a message's length field. The length counts this field too.
const LENGTH_BYTES: usize = 4;

/// A message.
#[derive(Debug, Default)]
pub(super) struct Message {
    /// The type of the message. 0 for the first messages of a client, which have no type.
    pub(super) kind: u8,
    /// The body, up to a limit.
    pub(super) body: Vec<u8>,
    is_cut: bool,
}

impl Message {
    pub(super) fn is_cut(&self) -> bool {
        self.is_cut
    }
}

/// Divides a stream of bytes.
#[derive(Debug, Default)]
pub(super) struct Messages {
    head: [u8; 1 + LENGTH_BYTES],
    head_bytes: usize,
    /// Number of bytes of the current message that have not arrived yet.
    left: usize,
    limit: usize,
    message: Message,
}

/// Bytes that cannot be a message.
#[derive(Debug)]
pub(super) struct Malformed;

impl Messages {
    /// Returns the next message; `None` if more bytes are needed. `limit` gets the type of the message, and returns
    /// how many bytes of the message to keep, or `None` if the type does not exist.
    pub(super) fn next(
        &mut self,
        bytes: &mut Bytes<'_>,
        is_typed: bool,
        limit: impl Fn(u8) -> Option<usize>,
    ) -> Result<Option<Message>, Malformed> {
        let head_bytes = LENGTH_BYTES + usize::from(is_typed);
        if self.head_bytes < head_bytes {
            let come = bytes.take(bytes.0.len().min(head_bytes - self.head_bytes)).unwrap_or_default();
            self.head[self.head_bytes..self.head_bytes + come.len()].copy_from_slice(come);
            self.head_bytes += come.len();
            if self.head_bytes < head_bytes {
                return Ok(None);
            }
            self.begin(is_typed, limit)?;
        }
        let come = bytes.take(self.left.min(bytes.0.len())).unwrap_or_default();
        let kept = come.len().min(self.limit.saturating_sub(self.message.body.len()));
        self.message.body.extend_from_slice(&come[..kept]);
        self.message.is_cut |= kept < come.len();
        self.left -= come.len();
        if self.left > 0 {
            return Ok(None);
        }
        self.head_bytes = 0;
        Ok(Some(std::mem::take(&mut self.message)))
    }

    /// Reads the header of a message.
    fn begin(&mut self, is_typed: bool, limit: impl Fn(u8) -> Option<usize>) -> Result<(), Malformed> {
        let [kind, head @ ..] = self.head;
        let (kind, length) = if is_typed {
            (kind, u32::from_be_bytes(head))
        } else {
            let [a, b, c, d, _] = self.head;
            (0, u32::from_be_bytes([a, b, c, d]))
        };
        // The length is a signed number, so it must fit into an i32.
        let length = i32::try_from(length).map_err(|_| Malformed)?;
        self.left = (length as usize).checked_sub(LENGTH_BYTES).ok_or(Malformed)?;
        self.limit = limit(kind).ok_or(Malformed)?;
        self.message.kind = kind;
        Ok(())
    }

    /// Takes back the buffer of a message, to use it again.
    pub(super) fn reuse(&mut self, mut body: Vec<u8>) {
        if body.capacity() <= KEPT_BYTES && self.message.body.capacity() == 0 {
            body.clear();
            self.message.body = body;
        }
    }

    pub(super) fn held_bytes(&self) -> usize {
        self.message.body.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_found_in_any_pieces() {
        let stream = b"D\0\0\0\x07abcZ\0\0\0\x05IS\0\0\0\x04";
        for piece_bytes in 1..stream.len() {
            let mut messages = Messages::default();
            let mut found = Vec::new();
            for piece in stream.chunks(piece_bytes) {
                let mut bytes = Bytes(piece);
                while let Some(message) = messages.next(&mut bytes, true, |_| Some(2)).unwrap() {
                    found.push((message.kind, message.is_cut(), message.body));
                }
            }
            assert_eq!(
                found,
                [(b'D', true, b"ab".to_vec()), (b'Z', false, b"I".to_vec()), (b'S', false, Vec::new())]
            );
        }
    }

    #[test]
    fn lengths_that_cannot_be_are_malformed() {
        for head in [&b"Q\0\0\0\x03"[..], b"Q\xFF\xFF\xFF\xFF"] {
            assert!(Messages::default().next(&mut Bytes(head), true, |_| Some(0)).is_err());
        }
        assert!(Messages::default().next(&mut Bytes(b"?\0\0\0\x04"), true, |_| None).is_err());
    }
}
