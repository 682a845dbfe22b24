//! The packets of a capture file: pcap and pcapng, as `tcpdump -w` writes them.
//!
//! The formats are defined by the IETF's drafts "PCAP Capture File Format" and "PCAP Now Generic (pcapng) Capture
//! File Format".

use std::io::{self, Read};
use std::ops::Range;

use pcap_parser::pcapng::{Block, parse_block_be, parse_block_le};
use pcap_parser::{InterfaceDescriptionBlock, parse_pcap_frame, parse_pcap_frame_be, parse_pcap_header};

use crate::input::read_some;

/// Length of the longest block that is read. tcpdump's packets have at most 256 KiB.
const BLOCK_BYTES_MAX: usize = 16 << 20;
/// Number of bytes that are read at a time.
const CHUNK_BYTES: usize = 256 << 10;
/// Largest number of interfaces of a pcapng section.
const INTERFACES_MAX: usize = 4096;
/// The last second of the year 9999, in seconds since 1970 UTC.
const SECONDS_MAX: i64 = 253_402_300_799;
/// Length of the file header of pcap.
const PCAP_HEADER_BYTES: usize = 24;
/// Offset of a packet's data, in bytes: in a packet record of pcap, and in the enhanced and the simple packet block of
/// pcapng.
const PCAP_DATA: usize = 16;
const ENHANCED_DATA: usize = 28;
const SIMPLE_DATA: usize = 12;

/// Whether a file that begins with these bytes is a capture: pcap with times in µs or ns, or pcapng.
pub(crate) fn is_capture(begin: &[u8]) -> bool {
    matches!(
        begin,
        [0xD4, 0xC3, 0xB2, 0xA1, ..]
            | [0xA1, 0xB2, 0xC3, 0xD4, ..]
            | [0x4D, 0x3C, 0xB2, 0xA1, ..]
            | [0xA1, 0xB2, 0x3C, 0x4D, ..]
            | [0x0A, 0x0D, 0x0D, 0x0A, ..]
    )
}

/// A captured packet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Packet<'a> {
    /// The packet's number in its file, from 1.
    pub(super) number: u64,
    /// When the packet was captured, in µs since 1970 UTC. `None` if the file does not say: a simple packet block of
    /// pcapng has no time.
    pub(super) at_us: Option<i64>,
    /// The type of the packet's first header, from the registry of link types
    /// (<https://www.tcpdump.org/linktypes.html>).
    pub(super) link: i32,
    pub(super) bytes: &'a [u8],
    /// The packet's length on the network. `bytes` is shorter if the capture has a snap length, which limits
    /// packets.
    pub(super) original_bytes: usize,
}

/// What comes next in a file.
pub(super) enum Next<'a> {
    Packet(Packet<'a>),
    /// The file ends in the middle of a packet.
    Cut,
    /// The file cannot be read from here on.
    Damaged,
    End,
}

/// Reads packets in bounded memory.
pub(super) struct Packets<R> {
    content: R,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    number: u64,
    is_over: bool,
    kind: Kind,
}

enum Kind {
    /// No bytes have been read yet.
    Unknown,
    Pcap {
        is_big_endian: bool,
        /// Number of time units in a second, such as 1,000,000 for µs.
        units: u64,
        link: i32,
    },
    Pcapng {
        is_big_endian: bool,
        interfaces: Vec<Interface>,
    },
}

/// An interface of a pcapng section.
#[derive(Clone, Copy)]
struct Interface {
    link: i32,
    snap_bytes: usize,
    /// Number of time units in a second, such as 1,000,000 for µs.
    units: u64,
    offset_s: i64,
}

/// What was found at the start of the unread bytes.
enum Step {
    Packet(Found),
    /// A block of this length that contains no packet.
    Other(usize),
    /// More bytes are needed.
    More,
    Damaged,
}

struct Found {
    /// Length of the block.
    bytes: usize,
    data: Range<usize>,
    at_us: Option<i64>,
    link: i32,
    original_bytes: usize,
}

impl<R: Read> Packets<R> {
    pub(super) fn new(content: R) -> Self {
        let buffer = vec![0; CHUNK_BYTES];
        Self { content, buffer, start: 0, end: 0, number: 0, is_over: false, kind: Kind::Unknown }
    }

    /// The number of the last packet that was read.
    pub(super) fn number(&self) -> u64 {
        self.number
    }

    pub(super) fn next(&mut self) -> io::Result<Next<'_>> {
        loop {
            match self.kind.step(&self.buffer[self.start..self.end]) {
                Step::Packet(found) => {
                    let from = self.start;
                    self.start += found.bytes;
                    self.number += 1;
                    return Ok(Next::Packet(Packet {
                        number: self.number,
                        at_us: found.at_us,
                        link: found.link,
                        bytes: &self.buffer[from + found.data.start..from + found.data.end],
                        original_bytes: found.original_bytes,
                    }));
                }
                Step::Other(bytes) => self.start += bytes,
                Step::More if self.is_over && self.start == self.end => return Ok(Next::End),
                Step::More if self.is_over => return Ok(Next::Cut),
                Step::More if self.end - self.start < BLOCK_BYTES_MAX => self.fill()?,
                Step::More | Step::Damaged => return Ok(Next::Damaged),
            }
        }
    }

    /// Reads more bytes and appends them to the buffer.
    fn fill(&mut self) -> io::Result<()> {
        if self.start > 0 {
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

impl Kind {
    fn step(&mut self, bytes: &[u8]) -> Step {
        match self {
            Self::Unknown => self.begin(bytes),
            Self::Pcap { is_big_endian, units, link } => pcap(bytes, *is_big_endian, *units, *link),
            Self::Pcapng { is_big_endian, interfaces } => pcapng(bytes, is_big_endian, interfaces),
        }
    }

    fn begin(&mut self, bytes: &[u8]) -> Step {
        if bytes.len() < PCAP_HEADER_BYTES {
            return Step::More;
        }
        if bytes.starts_with(&[0x0A, 0x0D, 0x0D, 0x0A]) {
            *self = Self::Pcapng { is_big_endian: false, interfaces: Vec::new() };
            return self.step(bytes);
        }
        let Ok((_, header)) = parse_pcap_header(bytes) else { return Step::Damaged };
        if header.is_modified_format() {
            return Step::Damaged;
        }
        *self = Self::Pcap {
            is_big_endian: header.is_bigendian(),
            units: if header.is_nanosecond_precision() { 1_000_000_000 } else { 1_000_000 },
            // The upper bits say whether each packet has a checksum of its frame at the end.
            link: header.network.0 & 0xFFFF,
        };
        Step::Other(PCAP_HEADER_BYTES)
    }
}

fn pcap(bytes: &[u8], is_big_endian: bool, units: u64, link: i32) -> Step {
    let parsed = if is_big_endian { parse_pcap_frame_be(bytes) } else { parse_pcap_frame(bytes) };
    let record = match parsed {
        Ok((_, record)) => record,
        Err(pcap_parser::nom::Err::Incomplete(_)) => return Step::More,
        Err(_) => return Step::Damaged,
    };
    let data = PCAP_DATA..PCAP_DATA + record.data.len();
    let time = u64::from(record.ts_sec) * units + u64::from(record.ts_usec);
    let Some(at_us) = microseconds(time, units, 0) else { return Step::Damaged };
    let original_bytes = record.origlen as usize;
    Step::Packet(Found { bytes: data.end, data, at_us: Some(at_us), link, original_bytes })
}

fn pcapng(bytes: &[u8], is_big_endian: &mut bool, interfaces: &mut Vec<Interface>) -> Step {
    let parsed = if *is_big_endian { parse_block_be(bytes) } else { parse_block_le(bytes) };
    let (rest, block) = match parsed {
        Ok(parsed) => parsed,
        Err(pcap_parser::nom::Err::Incomplete(_)) => return Step::More,
        Err(_) => return Step::Damaged,
    };
    let length = bytes.len() - rest.len();
    match block {
        Block::SectionHeader(section) => {
            *is_big_endian = section.big_endian();
            interfaces.clear();
            Step::Other(length)
        }
        Block::InterfaceDescription(_) if interfaces.len() == INTERFACES_MAX => Step::Damaged,
        Block::InterfaceDescription(about) => match interface(&about) {
            Some(interface) => {
                interfaces.push(interface);
                Step::Other(length)
            }
            None => Step::Damaged,
        },
        Block::EnhancedPacket(packet) => {
            let Some(interface) = interfaces.get(packet.if_id as usize) else { return Step::Damaged };
            let time = u64::from(packet.ts_high) << 32 | u64::from(packet.ts_low);
            let at_us = microseconds(time, interface.units, interface.offset_s);
            let Some(at_us) = at_us else { return Step::Damaged };
            let captured = packet.data.len().min(packet.caplen as usize);
            let data = ENHANCED_DATA..ENHANCED_DATA + captured;
            let original_bytes = packet.origlen as usize;
            let at_us = Some(at_us);
            Step::Packet(Found { bytes: length, data, at_us, link: interface.link, original_bytes })
        }
        Block::SimplePacket(packet) => {
            let Some(interface) = interfaces.first() else { return Step::Damaged };
            let original_bytes = packet.origlen as usize;
            let captured = packet.data.len().min(original_bytes).min(interface.snap_bytes);
            let data = SIMPLE_DATA..SIMPLE_DATA + captured;
            Step::Packet(Found { bytes: length, data, at_us: None, link: interface.link, original_bytes })
        }
        _ => Step::Other(length),
    }
}

/// Reads an interface. `None` if its time unit is so small that a second has too many units.
fn interface(about: &InterfaceDescriptionBlock<'_>) -> Option<Interface> {
    let units = match about.if_tsresol {
        power @ 0..=0x7F => 10_u64.checked_pow(u32::from(power))?,
        power => 1_u64.checked_shl(u32::from(power & 0x7F))?,
    };
    let snap_bytes = if about.snaplen == 0 { usize::MAX } else { about.snaplen as usize };
    Some(Interface { link: about.linktype.0, snap_bytes, units, offset_s: about.if_tsoffset })
}

/// Converts a number of units to µs. `None` if the time is before 1970 or after the year 9999.
fn microseconds(time: u64, units: u64, offset_s: i64) -> Option<i64> {
    let seconds = i64::try_from(time / units).ok()?.checked_add(offset_s)?;
    let fraction = u128::from(time % units) * 1_000_000 / u128::from(units);
    (0..=SECONDS_MAX).contains(&seconds).then(|| seconds * 1_000_000 + fraction as i64)
}
