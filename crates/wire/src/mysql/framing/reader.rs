//! Reads the protocol's basic types from a byte slice.

use crate::error::ProtocolError;

/// The unread bytes of a packet. Every read returns `None` if too few bytes are left.
#[derive(Clone, Copy)]
pub(in crate::mysql) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(in crate::mysql) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// The unread bytes.
    pub(in crate::mysql) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    pub(in crate::mysql) fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(bytes)
    }

    pub(in crate::mysql) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (bytes, rest) = self.rest.split_first_chunk::<N>()?;
        self.rest = rest;
        Some(*bytes)
    }

    pub(in crate::mysql) fn u8(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    pub(in crate::mysql) fn u16(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub(in crate::mysql) fn u32(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(in crate::mysql) fn u64(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// A length-encoded integer: one byte up to 250, otherwise a marker and 2, 3 or 8 bytes.
    pub(in crate::mysql) fn lenenc(&mut self) -> Option<u64> {
        match self.u8()? {
            small @ 0..=0xFA => Some(u64::from(small)),
            0xFC => self.u16().map(u64::from),
            0xFD => self.array::<3>().map(|[a, b, c]| u64::from(u32::from_le_bytes([a, b, c, 0]))),
            0xFE => self.u64(),
            0xFB | 0xFF => None,
        }
    }

    /// A string that follows its length-encoded length.
    pub(in crate::mysql) fn lenenc_bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.lenenc()?;
        self.bytes(usize::try_from(length).ok()?)
    }

    /// A string that ends at a NUL or at the end of the packet. The NUL is skipped.
    pub(in crate::mysql) fn until_nul(&mut self) -> &'a [u8] {
        let end = self.rest.iter().position(|&byte| byte == 0).unwrap_or(self.rest.len());
        let (string, rest) = self.rest.split_at_checked(end).unwrap_or_default();
        self.rest = rest.get(1..).unwrap_or_default();
        string
    }
}

/// Error for a packet that ends too early.
pub(in crate::mysql) fn truncated(what: &'static str) -> ProtocolError {
    malformed(what, "it ends too early")
}

/// Error for a packet with invalid content.
pub(in crate::mysql) fn malformed(what: &'static str, detail: impl Into<String>) -> ProtocolError {
    ProtocolError::Malformed { what, detail: detail.into() }
}

/// Error for a packet that the client did not ask for.
pub(in crate::mysql) fn unasked(what: &'static str, packet: &[u8]) -> ProtocolError {
    match packet.first() {
        Some(first) => malformed(what, format!("a packet that begins with {first:#04x} came unasked")),
        None => malformed(what, "an empty packet came unasked"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_encoded_integers_of_every_width() {
        let cases: [(&[u8], Option<u64>); 8] = [
            (&[0xFA], Some(250)),
            (&[0xFB], None),
            (&[0xFC, 0xFB, 0x00], Some(251)),
            (&[0xFD, 0x01, 0x02, 0x03], Some(0x0003_0201)),
            (&[0xFE, 1, 0, 0, 0, 0, 0, 0, 0x80], Some(0x8000_0000_0000_0001)),
            (&[0xFF], None),
            (&[0xFC, 0x01], None),
            (&[], None),
        ];
        for (bytes, expected) in cases {
            assert_eq!(Reader::new(bytes).lenenc(), expected, "{bytes:x?}");
        }
    }

    #[test]
    fn a_string_longer_than_the_packet_is_none() {
        assert_eq!(Reader::new(&[3, b'a', b'b']).lenenc_bytes(), None);
        assert_eq!(Reader::new(&[0xFE, 255, 255, 255, 255, 255, 255, 255, 255]).lenenc_bytes(), None);
    }

    #[test]
    fn a_nul_ends_a_string_and_so_does_the_end() {
        let mut reader = Reader::new(b"ab\0cd");
        assert_eq!(reader.until_nul(), b"ab");
        assert_eq!(reader.until_nul(), b"cd");
        assert_eq!(reader.until_nul(), b"");
    }
}
