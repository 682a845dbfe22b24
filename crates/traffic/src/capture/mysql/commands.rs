//! Commands of a client ("Command Phase" in MySQL's source documentation).

use std::cmp::Ordering;

use super::frames::Packet;
use super::login::{Account, changed_user};
use super::values::{Kind, write_value};
use crate::capture::bytes::Bytes;
use crate::capture::session::At;

/// A command.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Command {
    Query(Vec<u8>),
    Prepare(Vec<u8>),
    /// Executes a prepared statement. The bytes are the packet's payload.
    Execute(Vec<u8>),
    /// Sends a part of a parameter's value. The bytes are the packet's payload. The server does not answer.
    LongData(Vec<u8>),
    /// Closes the prepared statement with this number. The server does not answer.
    Close(u32),
    /// Resets the prepared statement with this number.
    ResetStatement(u32),
    UseDatabase(Vec<u8>),
    ChangeUser(Account),
    Reset,
    /// The session ends. The server does not answer.
    Quit,
    /// A command that was too long to be kept. The loss is already reported.
    TooLong,
    /// The server sends its binary log from here on. The text is the command's name in logs.
    Dump(&'static str),
    /// Any other command, by its name in logs. The first packet of the answer shows whether the command succeeded.
    Other(&'static str),
}

impl Command {
    /// Whether the server answers the command.
    pub(super) fn is_answered(&self) -> bool {
        !matches!(self, Self::LongData(_) | Self::Close(_) | Self::Quit)
    }

    /// Memory for the command's content, in bytes.
    pub(super) fn held_bytes(&self) -> usize {
        let content = match self {
            Self::Query(bytes)
            | Self::Prepare(bytes)
            | Self::Execute(bytes)
            | Self::LongData(bytes)
            | Self::UseDatabase(bytes) => bytes.capacity(),
            _ => 0,
        };
        content + size_of::<Self>()
    }
}

/// Returns the name of a command of which only the name is needed.
fn other(code: u8) -> Option<&'static str> {
    Some(match code {
        0x04 => "Field List",
        0x05 => "Create DB",
        0x06 => "Drop DB",
        0x07 => "Refresh",
        0x08 => "Shutdown",
        0x09 => "Statistics",
        0x0A => "Processlist",
        0x0C => "Kill",
        0x0D => "Debug",
        0x0E => "Ping",
        0x15 => "Register Replica",
        0x1B => "Set option",
        0x1C => "Fetch",
        0xFA => "Bulk_execute",
        _ => return None,
    })
}

/// Reads a command. `None` if the payload is no command.
pub(super) fn command(payload: &[u8]) -> Option<Command> {
    let (code, rest) = payload.split_first()?;
    Some(match code {
        0x01 => Command::Quit,
        0x02 => Command::UseDatabase(rest.to_vec()),
        0x03 => Command::Query(without_attributes(rest)?.to_vec()),
        0x11 => Command::ChangeUser(changed_user(payload)?),
        0x12 => Command::Dump("Binlog Dump"),
        0x16 => Command::Prepare(rest.to_vec()),
        0x17 => Command::Execute(payload.to_vec()),
        0x18 => Command::LongData(payload.to_vec()),
        0x19 => Command::Close(Bytes(rest).u32_le()?),
        0x1A => Command::ResetStatement(Bytes(rest).u32_le()?),
        0x1E => Command::Dump("Binlog Dump GTID"),
        0x1F => Command::Reset,
        code => Command::Other(other(*code)?),
    })
}

/// The text of a query without the attributes before it, which MySQL 8.0.23 and later accept
/// (`CLIENT_QUERY_ATTRIBUTES`). Attributes begin with two numbers: how many attributes there are, and how many sets
/// of values follow. The second number is always 1. A text without attributes never has 1 as its second byte.
fn without_attributes(rest: &[u8]) -> Option<&[u8]> {
    let [count @ 0..0x20, 1, ..] = rest else { return Some(rest) };
    let mut bytes = Bytes(&rest[2..]);
    let count = usize::from(*count);
    if count == 0 {
        return Some(bytes.0);
    }
    let nulls = bytes.take(count.div_ceil(8))?;
    bytes.u8()?;
    let mut kinds = Vec::new();
    for _ in 0..count {
        kinds.push(Kind::new(bytes.array()?));
        bytes.lenenc_bytes()?;
    }
    for (place, kind) in kinds.into_iter().enumerate() {
        if nulls[place / 8] & (1 << (place % 8)) == 0 {
            write_value(kind, &mut bytes, &mut Vec::new())?;
        }
    }
    Some(bytes.0)
}

/// Whether a segment looks like the start of a command. It must be exactly one packet with number 0, or the start of a
/// longer packet that contains a text or values. Commands that the server does not answer may come before the packet.
pub(crate) fn is_request(mut bytes: &[u8]) -> bool {
    while let [a, b, c, 0, code, rest @ ..] = bytes {
        let length = u32::from_le_bytes([*a, *b, *c, 0]) as usize;
        let is_text = matches!(*code, 0x03 | 0x16);
        // Whether a text, or the attributes before a text, can begin with this byte.
        let begins_well = rest.first().is_some_and(|first| *first < 0x80 && *first != 0x7F);
        let is_known = matches!(*code, 0x01 | 0x02 | 0x0E | 0x17..=0x1C | 0x1F);
        match (length + 4).cmp(&bytes.len()) {
            Ordering::Equal => return is_known || is_text && begins_well,
            Ordering::Greater => return is_text && begins_well || matches!(*code, 0x17 | 0x18),
            Ordering::Less if length > 0 && matches!(*code, 0x18 | 0x19) => bytes = &bytes[length + 4..],
            Ordering::Less => return false,
        }
    }
    false
}

/// A command that waits for its answer.
#[derive(Debug)]
pub(super) struct Request {
    pub(super) command: Command,
    pub(super) at: At,
    /// The sequence number with which the answer begins.
    pub(super) answer_sequence: u8,
}

impl Request {
    /// Creates a request from a command and the packet that completed it.
    pub(super) fn new(command: Command, packet: &Packet, at: At) -> Self {
        Self { command, at, answer_sequence: packet.last_sequence.wrapping_add(1) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn attributes_of_a_query_are_passed_over() {
        let query = |payload: &[u8]| command(payload);
        let text = Some(Command::Query(b"SELECT 1".to_vec()));
        assert_eq!(query(b"\x03SELECT 1"), text);
        assert_eq!(query(b"\x03\x00\x01SELECT 1"), text);
        assert_eq!(query(b"\x03\x02\x01\x02\x01\xFD\x00\x01k\x03\x00\x01n\x01vSELECT 1"), text);
        assert_eq!(query(b"\x03\x01\x01\x00\x01\xFD"), None);
    }

    #[test]
    fn a_request_is_known_by_its_length() {
        assert!(is_request(b"\x09\0\0\0\x03SELECT 1"));
        assert!(is_request(b"\x09\x10\0\0\x03SELECT 1"));
        assert!(is_request(b"\x05\0\0\0\x19\x01\0\0\0\x01\0\0\0\x0E"));
        assert!(!is_request(b"\x08\0\0\0\x03SELECT 1"));
        assert!(!is_request(b"\x09\0\0\x01\x03SELECT 1"));
        assert!(!is_request(b"\x09\0\0\0\x03\xFFELECT 1"));
        assert!(!is_request(b"\x01\0\0\0"));
        // A million commands without an answer are skipped in a loop, not by recursion, so the stack stays small.
        assert!(!is_request(&b"\x05\0\0\0\x19\x01\0\0\0".repeat(1 << 20)[1..]));
        assert!(is_request(&b"\x05\0\0\0\x19\x01\0\0\0".repeat(1 << 20)));
    }
}
