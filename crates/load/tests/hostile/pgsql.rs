//! Messages of a PostgreSQL server.

use crate::listener::Peer;

/// A message with a tag.
pub(crate) fn message(tag: u8, body: &[u8]) -> Vec<u8> {
    let length = body.len() as u32 + 4;
    [&[tag], &length.to_be_bytes()[..], body].concat()
}

/// A request for authentication of some kind.
pub(crate) fn authentication(kind: u32, data: &[u8]) -> Vec<u8> {
    message(b'R', &[&kind.to_be_bytes(), data].concat())
}

pub(crate) fn ready() -> Vec<u8> {
    message(b'Z', b"I")
}

/// An error that ends the connection.
pub(crate) fn fatal(state: &str, words: &str) -> Vec<u8> {
    message(b'E', format!("SFATAL\0VFATAL\0C{state}\0M{words}\0\0").as_bytes())
}

/// Completes the login, and waits for the client's first command.
pub(crate) fn let_in(peer: &mut Peer) {
    peer.hear();
    peer.say([authentication(0, b""), ready()].concat());
    peer.hear();
}

/// The beginning of a result with this many columns, up to the first row.
pub(crate) fn columns(count: u16) -> Vec<u8> {
    let column = b"c\0\0\0\0\0\0\0\0\0\0\x19\xff\xff\xff\xff\xff\xff\0\0";
    message(b'T', &[&count.to_be_bytes()[..], &column.repeat(usize::from(count))].concat())
}

/// A row of one field.
pub(crate) fn row(field: &[u8]) -> Vec<u8> {
    message(b'D', &[&[0, 1], &(field.len() as u32).to_be_bytes()[..], field].concat())
}

/// The end of a result.
pub(crate) fn end() -> Vec<u8> {
    [message(b'C', b"SELECT 1\0"), ready()].concat()
}
