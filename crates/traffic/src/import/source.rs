//! The sources of an import: logs, which are read line by line, and captures, which are read packet by packet.

use std::io::{self, Cursor, Read};

use crate::capture::{self, Capture, PacketFile};
use crate::error::TrafficError;
use crate::input::Lines;
use crate::log::{Event, LogFormat, Reader, See, Trouble, detect};
use crate::sql::Dialect;

/// Number of bytes at the start of a file that show whether the file is a capture.
const MAGIC_BYTES: u64 = 4;

/// A log or a capture that is being read.
pub(super) enum Source {
    Log { lines: Lines<Box<dyn Read>>, reader: Box<dyn Reader> },
    Capture(PacketFile<Box<dyn Read>>),
}

impl Source {
    /// Opens a source. Detects the format first, unless it is given. If a capture does not show its product, the
    /// product is that of the previous source.
    pub(super) fn open(
        mut content: Box<dyn Read>,
        given: Option<LogFormat>,
        before: Option<Dialect>,
        name: &str,
    ) -> Result<(Self, LogFormat), TrafficError> {
        let mut begin = Vec::new();
        let magic = content.by_ref().take(MAGIC_BYTES).read_to_end(&mut begin);
        let is_capture = capture::is_capture(&begin);
        if is_capture && magic.is_ok() && given.is_none_or(LogFormat::is_capture) {
            return Self::capture(content, begin, given, before, name);
        }
        let mut lines = Lines::new(again(begin, magic.map(drop), content));
        let seen = lines.peek().map_err(|error| unreadable(name, &error))?;
        let format = given.or_else(|| detect(seen));
        format
            .and_then(|format| Some((Self::Log { lines, reader: format.reader()? }, format)))
            .ok_or_else(|| TrafficError::Unknown { name: name.to_owned() })
    }

    fn capture(
        mut content: Box<dyn Read>,
        mut begin: Vec<u8>,
        given: Option<LogFormat>,
        before: Option<Dialect>,
        name: &str,
    ) -> Result<(Self, LogFormat), TrafficError> {
        let (format, read) = if let Some(format) = given {
            (format, Ok(()))
        } else {
            let (dialect, read) = capture::detect(&mut content, &mut begin);
            let dialect =
                dialect.or(before).ok_or_else(|| TrafficError::NoServer { name: name.to_owned() })?;
            (LogFormat::capture_of(dialect), read)
        };
        Ok((Self::Capture(PacketFile::new(again(begin, read, content))), format))
    }

    /// The number of the last line or packet that was read.
    pub(super) fn number(&self) -> u64 {
        match self {
            Self::Log { lines, .. } => lines.number(),
            Self::Capture(packets) => packets.number(),
        }
    }

    /// Reads the next line or packet. Returns `false` after the last one.
    pub(super) fn step(
        &mut self,
        capture: &mut Capture,
        name: &str,
        see: See<'_>,
    ) -> Result<bool, TrafficError> {
        let number = self.number();
        let read = match self {
            Self::Log { lines, reader } => match lines.next() {
                Ok(Some(line)) => return reader.line(line, see).map(|()| true),
                Ok(None) => Ok(false),
                Err(error) => Err(error),
            },
            Self::Capture(packets) => capture.packet(packets, see)?,
        };
        match read {
            Ok(true) => return Ok(true),
            Ok(false) => {}
            // A compressed log may be cut off or damaged. The part before the damage is still used.
            Err(error) if number > 0 && is_damage(&error) => {
                see(number + 1, Event::Trouble(Trouble::Damaged))?;
            }
            Err(error) => return Err(unreadable(name, &error)),
        }
        if let Self::Log { reader, .. } = self {
            reader.end(see)?;
        }
        Ok(false)
    }
}

/// Returns a stream from its start, although its first bytes `begin` were already read. If reading these bytes failed,
/// `read` has the error, and the stream returns the error after these bytes.
fn again(begin: Vec<u8>, read: io::Result<()>, content: Box<dyn Read>) -> Box<dyn Read> {
    Box::new(Cursor::new(begin).chain(Fails(read.err())).chain(content))
}

/// A reader that returns its error once, and then no more bytes.
struct Fails(Option<io::Error>);

impl Read for Fails {
    fn read(&mut self, _buffer: &mut [u8]) -> io::Result<usize> {
        self.0.take().map_or(Ok(0), Err)
    }
}

/// Whether an error comes from the compressed data rather than from the disk.
fn is_damage(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::UnexpectedEof
            | io::ErrorKind::InvalidData
            | io::ErrorKind::InvalidInput
            | io::ErrorKind::Other
    )
}

fn unreadable(name: &str, error: &io::Error) -> TrafficError {
    TrafficError::Unreadable { name: name.to_owned(), reason: error.to_string() }
}
