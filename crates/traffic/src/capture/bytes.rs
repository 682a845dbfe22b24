//! Reads basic types from a byte slice.

/// The unread bytes of a message. Every read returns `None` if too few bytes are left.
#[derive(Clone, Copy)]
pub(super) struct Bytes<'a>(pub(super) &'a [u8]);

impl<'a> Bytes<'a> {
    pub(super) fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (bytes, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(bytes)
    }

    pub(super) fn array<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (bytes, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*bytes)
    }

    pub(super) fn u8(&mut self) -> Option<u8> {
        self.array::<1>().map(|[byte]| byte)
    }

    /// Reads a 16-bit number. MySQL's numbers are little-endian.
    pub(super) fn u16_le(&mut self) -> Option<u16> {
        self.array().map(u16::from_le_bytes)
    }

    pub(super) fn u32_le(&mut self) -> Option<u32> {
        self.array().map(u32::from_le_bytes)
    }

    pub(super) fn u64_le(&mut self) -> Option<u64> {
        self.array().map(u64::from_le_bytes)
    }

    /// Reads a 16-bit number. PostgreSQL's numbers are big-endian.
    pub(super) fn u16_be(&mut self) -> Option<u16> {
        self.array().map(u16::from_be_bytes)
    }

    pub(super) fn u32_be(&mut self) -> Option<u32> {
        self.array().map(u32::from_be_bytes)
    }

    /// Reads MySQL's length-encoded integer: one byte up to 250, or a mark followed by 2, 3 or 8 bytes.
    pub(super) fn lenenc(&mut self) -> Option<u64> {
        match self.u8()? {
            small @ 0..=0xFA => Some(u64::from(small)),
            0xFC => self.u16_le().map(u64::from),
            0xFD => self.array().map(|[a, b, c]| u64::from(u32::from_le_bytes([a, b, c, 0]))),
            0xFE => self.u64_le(),
            0xFB | 0xFF => None,
        }
    }

    /// Reads MySQL's length-encoded string: the length as a length-encoded integer, then the string.
    pub(super) fn lenenc_bytes(&mut self) -> Option<&'a [u8]> {
        let length = self.lenenc()?;
        self.take(usize::try_from(length).ok()?)
    }

    /// Reads the bytes up to a NUL, and skips the NUL.
    pub(super) fn until_nul(&mut self) -> Option<&'a [u8]> {
        let bytes = self.take(memchr::memchr(0, self.0)?)?;
        self.take(1)?;
        Some(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_ends_too_early_is_none() {
        assert_eq!(Bytes(&[3, b'a', b'b']).lenenc_bytes(), None);
        assert_eq!(Bytes(&[0xFE, 255, 255, 255, 255, 255, 255, 255, 255]).lenenc_bytes(), None);
        assert_eq!(Bytes(b"ab").until_nul(), None);
        assert_eq!(Bytes(&[0xFC, 1]).lenenc(), None);
    }

    #[test]
    fn numbers_and_strings_follow_each_other() {
        let mut bytes = Bytes(b"\xFC\x10\x27\x02abc\0\x01\x02");
        assert_eq!(bytes.lenenc(), Some(10_000));
        assert_eq!(bytes.lenenc_bytes(), Some(&b"ab"[..]));
        assert_eq!(bytes.until_nul(), Some(&b"c"[..]));
        assert_eq!(bytes.u16_be(), Some(0x0102));
        assert_eq!(bytes.u8(), None);
    }
}
