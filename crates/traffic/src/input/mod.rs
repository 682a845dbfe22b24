//! Logs as streams of bytes, from files and standard input, compressed or not.

mod lines;
mod zstd;

use std::fs::File;
use std::io::{self, BufReader, Read, stdin};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

pub(crate) use self::lines::{Line, Lines, STATEMENT_BYTES_MAX, read_some};
use self::zstd::ZstdReader;
use crate::error::TrafficError;
use flate2::read::MultiGzDecoder;
use lzma_rust2::XzReader;

/// The path that stands for standard input.
const STDIN: &str = "-";
/// Number of bytes of a compressed log that are read at a time.
const CHUNK_BYTES: usize = 64 << 10;

/// How a log is compressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Compression {
    None,
    Gzip,
    Zstd,
    Xz,
}

impl Compression {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Xz => "xz",
        }
    }
}

/// Opens a text file, which may be compressed with gzip, zstd or xz.
///
/// # Errors
/// The file cannot be read, or is compressed in another way.
pub fn unpacked(path: &Path) -> Result<Box<dyn Read>, TrafficError> {
    Input::open(path).map(|input| input.content)
}

/// An opened log.
pub(crate) struct Input {
    pub(crate) compression: Compression,
    /// The size of the file; `None` if it is not a regular file.
    pub(crate) total_bytes: Option<u64>,
    /// Number of bytes of the file that were read so far.
    pub(crate) read_bytes: Arc<AtomicU64>,
    pub(crate) content: Box<dyn Read>,
}

impl Input {
    /// Opens a log by its path; `-` is standard input.
    pub(crate) fn open(path: &Path) -> Result<Self, TrafficError> {
        let name = path.display().to_string();
        let unreadable =
            |error: io::Error| TrafficError::Unreadable { name: name.clone(), reason: error.to_string() };
        let (raw, total_bytes): (Box<dyn Read>, _) = if name == STDIN {
            (Box::new(stdin().lock()), None)
        } else {
            let file = File::open(path).map_err(unreadable)?;
            let about = file.metadata().map_err(unreadable)?;
            (Box::new(file), about.is_file().then_some(about.len()))
        };
        Self::of(raw, total_bytes, &name)
    }

    /// Wraps a reader of a log.
    pub(crate) fn of(raw: Box<dyn Read>, total_bytes: Option<u64>, name: &str) -> Result<Self, TrafficError> {
        let read_bytes = Arc::new(AtomicU64::new(0));
        let mut raw = Counted { raw, bytes: Arc::clone(&read_bytes) };
        let unreadable =
            |error: io::Error| TrafficError::Unreadable { name: name.to_owned(), reason: error.to_string() };
        let begin = begin(&mut raw).map_err(unreadable)?;
        let with = packed_with(&begin);
        let whole = io::Cursor::new(begin).chain(raw);
        let whole = BufReader::with_capacity(CHUNK_BYTES, whole);
        let (compression, content): (_, Box<dyn Read>) = match with {
            Packed::With(Compression::Gzip) => (Compression::Gzip, Box::new(MultiGzDecoder::new(whole))),
            Packed::With(Compression::Xz) => (Compression::Xz, Box::new(XzReader::new(whole, true))),
            Packed::With(Compression::Zstd) => {
                (Compression::Zstd, Box::new(ZstdReader::new(whole).map_err(unreadable)?))
            }
            Packed::With(Compression::None) => (Compression::None, Box::new(whole)),
            Packed::Otherwise(with) => return Err(TrafficError::Packed { name: name.to_owned(), with }),
        };
        Ok(Self { compression, total_bytes, read_bytes, content })
    }
}

/// Counts the bytes that are read.
struct Counted {
    raw: Box<dyn Read>,
    bytes: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.raw.read(buffer)?;
        self.bytes.fetch_add(bytes as u64, Ordering::Relaxed);
        Ok(bytes)
    }
}

/// Reads the first bytes of a file, or all bytes if the file is shorter.
fn begin(raw: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut begin = Vec::new();
    raw.take(6).read_to_end(&mut begin)?;
    Ok(begin)
}

enum Packed {
    With(Compression),
    /// A compression that is not supported, by its name.
    Otherwise(&'static str),
}

/// Detects from the first bytes how a file is compressed. The file's name is not used, because it may be wrong.
fn packed_with(begin: &[u8]) -> Packed {
    match begin {
        [0x1F, 0x8B, ..] => Packed::With(Compression::Gzip),
        [0x28, 0xB5, 0x2F, 0xFD, ..] => Packed::With(Compression::Zstd),
        [0xFD, b'7', b'z', b'X', b'Z', 0] => Packed::With(Compression::Xz),
        [b'B', b'Z', b'h', ..] => Packed::Otherwise("bzip2"),
        [b'P', b'K', 3, 4, ..] => Packed::Otherwise("zip"),
        [b'7', b'z', 0xBC, 0xAF, ..] => Packed::Otherwise("7-Zip"),
        [4, 0x22, 0x4D, 0x18, ..] => Packed::Otherwise("lz4"),
        _ => Packed::With(Compression::None),
    }
}
