//! Detects which product's traffic a capture contains.

use std::io::{self, Read};

use super::packets::{Next, Packets};
use super::recognise::default_port;
use super::segment::{Content, Segment, content};
use super::{mysql, postgres};
use crate::sql::Dialect;

/// Number of bytes at the start of a file that are searched for a packet that shows the product.
const SEARCHED_BYTES_MAX: usize = 16 << 20;
/// Number of bytes that are read at first. The number is doubled until the bytes show a product.
const FIRST_BYTES: usize = 64 << 10;

/// Reads the start of a capture into `begin`, and looks for a packet that shows which product sent or received it.
/// Returns this product, or `None` if no packet shows one.
///
/// # Errors
/// Reading fails. The bytes before the error are in `begin`, and are searched too.
pub(crate) fn detect(content: &mut impl Read, begin: &mut Vec<u8>) -> (Option<Dialect>, io::Result<()>) {
    let mut wanted = FIRST_BYTES;
    loop {
        let room = (wanted - begin.len()) as u64;
        let read = content.by_ref().take(room).read_to_end(begin);
        let found = first(begin);
        let is_over = begin.len() < wanted || wanted >= SEARCHED_BYTES_MAX;
        match read {
            Err(error) => return (found, Err(error)),
            Ok(_) if found.is_some() || is_over => return (found, Ok(())),
            Ok(_) => wanted *= 2,
        }
    }
}

fn first(begin: &[u8]) -> Option<Dialect> {
    let mut packets = Packets::new(begin);
    while let Ok(Next::Packet(packet)) = packets.next() {
        if let Content::Segment(segment) = content(&packet)
            && let Some(dialect) = of_segment(&segment)
        {
            return Some(dialect);
        }
    }
    None
}

fn of_segment(segment: &Segment<'_>) -> Option<Dialect> {
    let has_port = |port| segment.from.port() == port || segment.to.port() == port;
    [Dialect::Mysql, Dialect::Postgresql].into_iter().find(|dialect| {
        has_port(default_port(*dialect))
            || match dialect {
                Dialect::Mysql => mysql::is_greeting(segment.payload),
                Dialect::Postgresql => postgres::is_startup(segment.payload),
            }
    })
}
