//! Reads lines of any length from a stream, in one buffer.

use std::io::{self, Read};

use memchr::memchr;

/// Largest length of a statement or a line that is kept. A longer statement or line is counted and skipped, so that
/// memory is bounded. By default, no statement of MySQL's clients is longer (`max_allowed_packet`).
pub(crate) const STATEMENT_BYTES_MAX: usize = 16 << 20;
/// Number of bytes that are read at a time.
const CHUNK_BYTES: usize = 256 << 10;

/// A line of a log.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Line<'a> {
    /// The line without its line feed.
    pub(crate) bytes: &'a [u8],
    /// The line's number, from 1.
    pub(crate) number: u64,
    /// Whether the rest of the line was skipped.
    pub(crate) is_too_long: bool,
    /// Whether a line feed ends the line. The last line has none if the log was cut off or is still being written.
    pub(crate) is_ended: bool,
}

/// Reads lines.
pub(crate) struct Lines<R> {
    content: R,
    buffer: Vec<u8>,
    /// Start of the bytes in the buffer that have not become part of a line yet.
    start: usize,
    end: usize,
    number: u64,
    is_over: bool,
    /// Whether the rest of a line must be skipped.
    is_skipping: bool,
    /// An error that follows the bytes which [`peek`](Self::peek) has returned.
    error: Option<io::Error>,
}

impl<R: Read> Lines<R> {
    pub(crate) fn new(content: R) -> Self {
        Self {
            content,
            buffer: vec![0; CHUNK_BYTES],
            start: 0,
            end: 0,
            number: 0,
            is_over: false,
            is_skipping: false,
            error: None,
        }
    }

    /// Returns the next unread bytes, at most a chunk. An error that occurs after some bytes is returned later, when
    /// all these bytes have been read.
    pub(crate) fn peek(&mut self) -> io::Result<&[u8]> {
        while !self.is_over && self.end < CHUNK_BYTES {
            match self.fill() {
                Err(error) if self.start < self.end => {
                    self.error = Some(error);
                    break;
                }
                filled => filled?,
            }
        }
        Ok(&self.buffer[self.start..self.end])
    }

    /// The number of the last line that was read.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// Reads the next line; `None` at the end.
    pub(crate) fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        if self.is_skipping {
            self.skip()?;
        }
        let mut searched = 0;
        loop {
            let found = memchr(b'\n', &self.buffer[self.start + searched..self.end]);
            let length = found.map(|length| searched + length);
            searched = self.end - self.start;
            match length {
                Some(length) => return Ok(Some(self.take(length, 1))),
                None if searched > STATEMENT_BYTES_MAX => {
                    self.is_skipping = true;
                    return Ok(Some(self.take(searched, 0)));
                }
                None if self.is_over && searched == 0 => return Ok(None),
                None if self.is_over => return Ok(Some(self.take(searched, 0))),
                None => self.fill()?,
            }
        }
    }

    /// Takes `length` bytes as a line, and skips the `ends` bytes after them, which end the line.
    fn take(&mut self, length: usize, ends: usize) -> Line<'_> {
        let from = self.start;
        self.start += length + ends;
        self.number += 1;
        Line {
            bytes: &self.buffer[from..from + length],
            number: self.number,
            is_too_long: self.is_skipping || length > STATEMENT_BYTES_MAX,
            is_ended: ends > 0,
        }
    }

    /// Skips the rest of a line.
    fn skip(&mut self) -> io::Result<()> {
        self.is_skipping = false;
        loop {
            if let Some(length) = memchr(b'\n', &self.buffer[self.start..self.end]) {
                self.start += length + 1;
                return Ok(());
            }
            self.start = self.end;
            if self.is_over {
                return Ok(());
            }
            self.fill()?;
        }
    }

    /// Reads more bytes and appends them to the buffer.
    fn fill(&mut self) -> io::Result<()> {
        if let Some(error) = self.error.take() {
            return Err(error);
        }
        if self.start > 0 && self.buffer.len() - self.end < CHUNK_BYTES / 2 {
            self.buffer.copy_within(self.start..self.end, 0);
            (self.start, self.end) = (0, self.end - self.start);
        }
        if self.end == self.buffer.len() {
            self.buffer.resize(2 * self.buffer.len(), 0);
        }
        let bytes = read_some(&mut self.content, &mut self.buffer[self.end..])?;
        self.is_over |= bytes == 0;
        self.end += bytes;
        Ok(())
    }
}

/// Reads the bytes that are available, which is at least one byte unless the end is reached. A signal does not end
/// the reading.
pub(crate) fn read_some(content: &mut impl Read, buffer: &mut [u8]) -> io::Result<usize> {
    loop {
        match content.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}
