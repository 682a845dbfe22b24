//! Messages of a MySQL server.

use crate::listener::Peer;

const PROTOCOL_41: u32 = 1 << 9;
pub(crate) const SSL: u32 = 1 << 11;
const SECURE_CONNECTION: u32 = 1 << 15;
const PLUGIN_AUTH: u32 = 1 << 19;

/// A packet with a sequence number.
pub(crate) fn packet(number: u8, payload: &[u8]) -> Vec<u8> {
    let [low, middle, high, _] = (payload.len() as u32).to_le_bytes();
    [&[low, middle, high, number], payload].concat()
}

/// The handshake packet of a server, which offers TLS if `tls` is true.
pub(crate) fn greeting(tls: bool) -> Vec<u8> {
    greeting_of("mysql_native_password", if tls { SSL } else { 0 })
}

/// The handshake packet of a server with this default plugin and these further capabilities.
pub(crate) fn greeting_of(plugin: &str, more: u32) -> Vec<u8> {
    let [a, b, c, d] = (PROTOCOL_41 | SECURE_CONNECTION | PLUGIN_AUTH | more).to_le_bytes();
    let parts: [&[u8]; 6] = [
        b"\x0a8.0.33-hostile\0\x07\0\0\0abcdefgh\0",
        &[a, b, 45, 2, 0, c, d, 21],
        &[0; 10],
        b"ijklmnopqrst\0",
        plugin.as_bytes(),
        b"\0",
    ];
    packet(0, &parts.concat())
}

pub(crate) fn ok(number: u8) -> Vec<u8> {
    packet(number, &[0, 0, 0, 2, 0, 0, 0])
}

pub(crate) fn error(number: u8, code: u16, message: &str) -> Vec<u8> {
    packet(number, &[&[0xFF], &code.to_le_bytes()[..], b"#HY000", message.as_bytes()].concat())
}

/// A request to log in with another plugin.
pub(crate) fn switch_to(number: u8, plugin: &str) -> Vec<u8> {
    packet(number, &[b"\xfe", plugin.as_bytes(), b"\0abcdefghijklmnopqrst\0"].concat())
}

/// More data for a plugin.
pub(crate) fn more_data(number: u8, data: &[u8]) -> Vec<u8> {
    packet(number, &[b"\x01", data].concat())
}

/// Completes the login, and waits for the client's first command.
pub(crate) fn let_in(peer: &mut Peer) {
    peer.say(greeting(false));
    peer.hear();
    peer.say(ok(2));
    peer.hear();
}

/// The beginning of a result with this many columns, up to the first row. Also returns the number of the next
/// packet.
pub(crate) fn columns(count: u16) -> (Vec<u8>, u8) {
    let [low, high] = count.to_le_bytes();
    let mut bytes = packet(1, &[0xFC, low, high]);
    let mut number = 2_u8;
    for _ in 0..count {
        bytes.extend(packet(number, b"\x03def\0\0\0\x01c\0\x0c\x2d\0\x01\0\0\0\xfd\0\0\0\0\0"));
        number = number.wrapping_add(1);
    }
    bytes.extend(end(number));
    (bytes, number.wrapping_add(1))
}

/// The packet that ends columns or rows.
pub(crate) fn end(number: u8) -> Vec<u8> {
    packet(number, &[0xFE, 0, 0, 2, 0])
}
