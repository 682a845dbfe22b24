//! The storage in which a served disk keeps its blocks.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt as _;

/// Blocks that can be read, written and flushed.
pub(super) trait Medium {
    /// The medium's size.
    fn bytes(&self) -> u64;

    /// Reads bytes from an offset, at most up to the end of the medium. Returns the number of bytes.
    ///
    /// # Errors
    /// The blocks cannot be read.
    fn read(&self, offset: u64, into: &mut [u8]) -> io::Result<usize>;

    /// Writes bytes at an offset.
    ///
    /// # Errors
    /// The bytes do not fit on the medium, or cannot be written.
    fn write(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()>;

    /// Makes all writes so far durable.
    ///
    /// # Errors
    /// The writes cannot be made durable.
    fn flush(&mut self) -> io::Result<()>;
}

/// A file that is read and written directly, without a cache in this process.
#[derive(Debug)]
pub(super) struct Plain {
    image: File,
    bytes: u64,
}

impl Plain {
    pub(super) fn new(image: File, bytes: u64) -> Self {
        Self { image, bytes }
    }
}

impl Medium for Plain {
    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn read(&self, offset: u64, into: &mut [u8]) -> io::Result<usize> {
        let bytes = into.len().min(self.bytes.saturating_sub(offset) as usize);
        self.image.read_exact_at(&mut into[..bytes], offset)?;
        Ok(bytes)
    }

    fn write(&mut self, offset: u64, bytes: &[u8]) -> io::Result<()> {
        if offset + bytes.len() as u64 > self.bytes {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.image.write_all_at(bytes, offset)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.image.sync_data()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plain_medium_keeps_what_was_written_and_ends_where_it_ends() {
        let image = tempfile::tempfile().unwrap();
        image.set_len(8192).unwrap();
        let mut plain = Plain::new(image, 8192);
        plain.write(8189, b"end").unwrap();
        plain.flush().unwrap();
        let mut into = [0xff; 10];
        assert_eq!(plain.read(8188, &mut into).unwrap(), 4);
        assert_eq!(&into[..4], b"\0end");
        assert!(plain.write(8189, b"more").is_err());
        assert_eq!(plain.read(9000, &mut into).unwrap(), 0);
    }
}
