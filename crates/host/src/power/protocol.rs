//! The part of FUSE's protocol that a file system with a single file needs (fuse(4), the kernel's
//! include/uapi/linux/fuse.h). Numbers are in the host's byte order.

use rustix::io::Errno;

/// The version of the protocol that has the structures below.
const MAJOR: u32 = 7;
const MINOR: u32 = 31;
const IN_HEADER_BYTES: usize = 40;
const WRITE_IN_BYTES: usize = 40;
/// Largest number of bytes in a read or a write.
pub(super) const TRANSFER_BYTES: usize = 1 << 20;
const PAGES_MAX: u16 = (TRANSFER_BYTES / 4096) as u16;
/// Size of the smallest buffer that the kernel accepts for requests.
pub(super) const REQUEST_BYTES: usize = TRANSFER_BYTES + 4096;

const ASYNC_READ: u32 = 1;
const BIG_WRITES: u32 = 1 << 5;
const ASYNC_DIRECT_IO: u32 = 1 << 15;
const MAX_PAGES: u32 = 1 << 22;
/// The file is not cached by the kernel: each read and write is a request.
const OPEN_DIRECT_IO: u32 = 1;
/// Seconds for which the kernel caches the file's attributes.
const ATTRIBUTES_SECONDS: u64 = 3600;
const REGULAR_FILE: u32 = 0o100_600;

/// A request of the kernel.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Request<'a> {
    Init,
    Attributes,
    Open,
    /// `file` is the number from the answer to [`Request::Open`].
    Read {
        file: u64,
        offset: u64,
        bytes: usize,
    },
    Write {
        file: u64,
        offset: u64,
        bytes: &'a [u8],
    },
    Flush {
        file: u64,
    },
    /// A handle of the file was closed.
    Close,
    /// A request that gets no answer.
    Silent,
    /// A request that this file system does not support.
    Other,
}

/// Parses a request. Also returns the number that its answer must have. `None` if the request is incomplete.
pub(super) fn parse(request: &[u8]) -> Option<(u64, Request<'_>)> {
    let unique = number(request, 8)?;
    let body = request.get(IN_HEADER_BYTES..)?;
    let request = match word(request, 4)? {
        3 => Request::Attributes,
        14 => Request::Open,
        15 => Request::Read {
            file: number(body, 0)?,
            offset: number(body, 8)?,
            bytes: (word(body, 16)? as usize).min(TRANSFER_BYTES),
        },
        16 => {
            let bytes = word(body, 16)? as usize;
            let data = body.get(WRITE_IN_BYTES..WRITE_IN_BYTES + bytes)?;
            Request::Write { file: number(body, 0)?, offset: number(body, 8)?, bytes: data }
        }
        20 => Request::Flush { file: number(body, 0)? },
        18 | 25 => Request::Close,
        26 => Request::Init,
        // FORGET, INTERRUPT, DESTROY, BATCH_FORGET.
        2 | 36 | 38 | 42 => Request::Silent,
        _ => Request::Other,
    };
    Some((unique, request))
}

/// The answer to a request that succeeded. `body` is the content of the answer.
pub(super) fn answer(unique: u64, body: &[u8]) -> Vec<u8> {
    let mut answer = header(unique, 0, body.len());
    answer.extend_from_slice(body);
    answer
}

pub(super) fn refusal(unique: u64, error: Errno) -> Vec<u8> {
    header(unique, -error.raw_os_error(), 0)
}

/// `struct fuse_init_out`.
pub(super) fn init() -> Vec<u8> {
    let flags = ASYNC_READ | BIG_WRITES | ASYNC_DIRECT_IO | MAX_PAGES;
    let mut body = words(&[MAJOR, MINOR, 0, flags]);
    // The largest number of background requests, and the number above which the kernel holds requests back.
    body.extend([64_u16, 48].iter().flat_map(|number| number.to_ne_bytes()));
    body.extend(words(&[TRANSFER_BYTES as u32, 1]));
    body.extend([PAGES_MAX, 0].iter().flat_map(|number| number.to_ne_bytes()));
    body.resize(64, 0);
    body
}

/// `struct fuse_attr_out` of a file of `bytes` bytes.
pub(super) fn attributes(bytes: u64) -> Vec<u8> {
    let mut body = ATTRIBUTES_SECONDS.to_ne_bytes().to_vec();
    body.extend(words(&[0, 0]));
    // Inode, size, number of blocks of 512 bytes, and three timestamps.
    body.extend([1, bytes, bytes / 512, 0, 0, 0].iter().flat_map(|number: &u64| number.to_ne_bytes()));
    // Nanoseconds of the three timestamps, mode, links, owner, device, block size, flags.
    body.extend(words(&[0, 0, 0, REGULAR_FILE, 1, 0, 0, 0, 4096, 0]));
    body
}

/// `struct fuse_open_out`, in which the file has the number `file`.
pub(super) fn open(file: u64) -> Vec<u8> {
    let mut body = file.to_ne_bytes().to_vec();
    body.extend(words(&[OPEN_DIRECT_IO, 0]));
    body
}

/// `struct fuse_write_out`.
pub(super) fn written(bytes: usize) -> Vec<u8> {
    words(&[bytes as u32, 0])
}

/// `struct fuse_out_header`.
fn header(unique: u64, error: i32, body_bytes: usize) -> Vec<u8> {
    let mut header = words(&[(16 + body_bytes) as u32]);
    header.extend(error.to_ne_bytes());
    header.extend(unique.to_ne_bytes());
    header
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn number(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_ne_bytes(*bytes.get(at..)?.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(opcode: u32, body: &[u8]) -> Vec<u8> {
        let mut request = words(&[(IN_HEADER_BYTES + body.len()) as u32, opcode]);
        request.extend(77_u64.to_ne_bytes());
        request.resize(IN_HEADER_BYTES, 0);
        request.extend_from_slice(body);
        request
    }

    #[test]
    fn requests_are_understood() {
        let mut body: Vec<u8> = [3_u64, 8192].iter().flat_map(|number| number.to_ne_bytes()).collect();
        body.extend(words(&[4, 0, 0, 0, 0, 0]));
        let read = request(15, &body);
        assert_eq!(parse(&read), Some((77, Request::Read { file: 3, offset: 8192, bytes: 4 })));
        body.extend(b"data");
        let write = request(16, &body);
        assert_eq!(parse(&write), Some((77, Request::Write { file: 3, offset: 8192, bytes: b"data" })));
        assert_eq!(parse(&write[..write.len() - 1]), None);
        assert_eq!(parse(&request(45, &[])), Some((77, Request::Other)));
    }

    #[test]
    fn answers_have_the_sizes_that_the_kernel_expects() {
        assert_eq!(init().len(), 64);
        assert_eq!(attributes(4096).len(), 104);
        assert_eq!(open(1).len(), 16);
        assert_eq!(written(1).len(), 8);
        assert_eq!(answer(1, b"four").len(), 20);
        assert_eq!(refusal(1, Errno::IO)[4..8], (-5_i32).to_ne_bytes());
    }
}
