//! Packets of a MySQL server.

use super::super::framing::output::write_lenenc;
use super::super::logins::capabilities::{
    CONNECT_WITH_DB, DEPRECATE_EOF, PLUGIN_AUTH, PROTOCOL_41, SECURE_CONNECTION, SSL,
};

/// Status flag that announces another result after this one.
pub(super) const MORE: u16 = 8;

/// Nonce from which scrambles are computed.
pub(super) const NONCE: &[u8; 20] = b"abcdefghijklmnopqrst";

/// The kind of packet that ends columns and rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    Eof,
    /// An OK packet after rows, and nothing after columns.
    Ok,
}

/// Packets with headers, numbered from `first`.
pub(super) fn numbered(first: u8, payloads: &[Vec<u8>]) -> Vec<u8> {
    let frame = |(number, payload): (u8, &Vec<u8>)| {
        let [low, middle, high, _] = u32::try_from(payload.len()).unwrap().to_le_bytes();
        [&[low, middle, high, number][..], payload].concat()
    };
    (first..=u8::MAX).zip(payloads).flat_map(frame).collect()
}

/// The packets that answer a command, numbered from 1.
pub(super) fn answer(payloads: &[Vec<u8>]) -> Vec<u8> {
    numbered(1, payloads)
}

/// Handshake packet of a server that offers TLS.
pub(super) fn greeting(form: Form, plugin: &str) -> Vec<u8> {
    let deprecate_eof = if form == Form::Ok { DEPRECATE_EOF } else { 0 };
    greeting_with(
        PROTOCOL_41 | SECURE_CONNECTION | PLUGIN_AUTH | CONNECT_WITH_DB | SSL | deprecate_eof,
        plugin,
    )
}

/// Handshake packet of a server with the given capabilities.
pub(super) fn greeting_with(capabilities: u32, plugin: &str) -> Vec<u8> {
    greeting_of_mariadb(capabilities, 0, plugin)
}

/// Handshake packet of a MariaDB. `own` are MariaDB's own capabilities.
pub(super) fn greeting_of_mariadb(capabilities: u32, own: u32, plugin: &str) -> Vec<u8> {
    let [a, b, c, d] = capabilities.to_le_bytes();
    let (head, tail) = NONCE.split_at(8);
    let payload = [
        b"\x0a5.5.5-10.11.19-MariaDB\0\x07\0\0\0",
        head,
        &[0, a, b, 45, 2, 0, c, d, 21],
        &[0; 6],
        &own.to_le_bytes(),
        tail,
        b"\0",
        plugin.as_bytes(),
        b"\0",
    ];
    numbered(0, &[payload.concat()])
}

/// A request to switch to another plugin.
pub(super) fn switch_to(plugin: &str, nonce: &[u8]) -> Vec<u8> {
    [b"\xFE", plugin.as_bytes(), b"\0", nonce, b"\0"].concat()
}

/// More data for a plugin.
pub(super) fn more_data(data: &[u8]) -> Vec<u8> {
    [b"\x01", data].concat()
}

pub(super) fn ok(affected_rows: u8, status: u16) -> Vec<u8> {
    [&[0, affected_rows, 0][..], &status.to_le_bytes(), &[0, 0]].concat()
}

/// The packet that ends the columns, if there is one.
pub(super) fn end_of_columns(form: Form) -> Vec<Vec<u8>> {
    if form == Form::Eof { vec![vec![0xFE, 0, 0, 2, 0]] } else { vec![] }
}

pub(super) fn end_of_rows(form: Form, status: u16) -> Vec<u8> {
    let [low, high] = status.to_le_bytes();
    if form == Form::Eof { vec![0xFE, 0, 0, low, high] } else { vec![0xFE, 0, 0, low, high, 0, 0] }
}

pub(super) fn error(code: u16, state: &str, message: &str) -> Vec<u8> {
    [b"\xFF", &code.to_le_bytes()[..], b"#", state.as_bytes(), message.as_bytes()].concat()
}

/// A column definition with a type, flags, a width of 5 and decimals.
pub(super) fn column(name: &str, kind: u8, flags: u16, decimals: u8) -> Vec<u8> {
    let mut packet = Vec::new();
    for string in ["def", "db", "t", "t", name, name] {
        write_lenenc(&mut packet, string.len() as u64);
        packet.extend_from_slice(string.as_bytes());
    }
    packet.extend_from_slice(&[12, 45, 0, 5, 0, 0, 0, kind]);
    packet.extend_from_slice(&flags.to_le_bytes());
    packet.extend_from_slice(&[decimals, 0, 0]);
    packet
}

/// A row in text form.
pub(super) fn text_row(fields: &[Option<&str>]) -> Vec<u8> {
    let mut packet = Vec::new();
    for field in fields {
        match field {
            None => packet.push(0xFB),
            Some(text) => {
                write_lenenc(&mut packet, text.len() as u64);
                packet.extend_from_slice(text.as_bytes());
            }
        }
    }
    packet
}

/// The payloads of a result set of VARCHAR columns.
pub(super) fn text_result(form: Form, names: &[&str], rows: &[&[Option<&str>]], status: u16) -> Vec<Vec<u8>> {
    let columns = names.iter().map(|name| column(name, 253, 0, 0)).collect::<Vec<_>>();
    let rows = rows.iter().map(|row| text_row(row));
    result(form, &columns, &rows.collect::<Vec<_>>(), status)
}

/// The payloads of a result set of any columns and rows.
pub(super) fn result(form: Form, columns: &[Vec<u8>], rows: &[Vec<u8>], status: u16) -> Vec<Vec<u8>> {
    let count = vec![u8::try_from(columns.len()).unwrap()];
    [&[count], columns, &end_of_columns(form), rows, &[end_of_rows(form, status)]].concat()
}

/// The payloads that answer a preparation.
pub(super) fn prepared(form: Form, server_id: u8, params: u8, columns: u8) -> Vec<Vec<u8>> {
    let described = |count: u8| {
        let end = if count == 0 { vec![] } else { end_of_columns(form) };
        [vec![column("?", 253, 0, 0); usize::from(count)], end].concat()
    };
    let head = vec![0, server_id, 0, 0, 0, columns, 0, params, 0, 0, 0, 0];
    [vec![head], described(params), described(columns)].concat()
}
