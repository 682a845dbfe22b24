//! Answers in MySQL's protocol, as MariaDB 10.11 sends them ("Client/Server Protocol" of MySQL's source
//! documentation).

use super::Answer;

const HEADER_BYTES: usize = 4;

/// Capabilities of the server: the 4.1 protocol, long column flags, a database at login, transactions,
/// authentication plugins, several statements and results, and an OK packet in place of EOF packets.
const CAPABILITIES: u32 = 1 << 9 | 1 << 2 | 1 << 3 | 1 << 13 | 1 << 15 | 0b111 << 16 | 1 << 19 | 1 << 24;
/// The id of the collation `utf8mb4_general_ci`.
const CHARSET: u8 = 45;
/// Status flag of a session that commits each statement.
const AUTOCOMMIT: u8 = 2;
/// The column types `MYSQL_TYPE_STRING` and `MYSQL_TYPE_NEWDECIMAL`.
const STRING: u8 = 254;
const DECIMAL: u8 = 246;

/// The state of a connection.
#[derive(Default)]
pub(super) struct Server {
    is_logged_in: bool,
    /// The answers of prepared statements, in the order of the statements' ids, which begin with 1.
    prepared: Vec<Answer>,
}

impl Server {
    /// Creates the state of a new connection. Appends the server's handshake packet to `out`.
    pub(super) fn open(out: &mut Vec<u8>) -> Self {
        let [a, b, c, d] = CAPABILITIES.to_le_bytes();
        let greeting = [
            &b"\x0a5.5.5-10.11.19-MariaDB\0\x07\0\0\0abcdefgh\0"[..],
            &[a, b, CHARSET, AUTOCOMMIT, 0, c, d, 21],
            &[0; 10],
            b"ijklmnopqrst\0mysql_native_password\0",
        ];
        packet(out, 0, &greeting.concat());
        Self::default()
    }

    /// Answers the complete packets at the beginning of `bytes`. Returns the length of these packets together.
    pub(super) fn take(&mut self, bytes: &[u8], out: &mut Vec<u8>) -> usize {
        let mut at = 0;
        while let Some(&[low, middle, high, sequence]) = bytes[at..].first_chunk::<HEADER_BYTES>() {
            let end = at + HEADER_BYTES + u32::from_le_bytes([low, middle, high, 0]) as usize;
            let Some(payload) = bytes.get(at + HEADER_BYTES..end) else { break };
            self.answer(payload, sequence, out);
            at = end;
        }
        at
    }

    fn answer(&mut self, payload: &[u8], sequence: u8, out: &mut Vec<u8>) {
        if !std::mem::replace(&mut self.is_logged_in, true) {
            return packet(out, sequence.wrapping_add(1), &ok(0));
        }
        match payload.split_first() {
            Some((0x03, sql)) => result(Answer::of(sql), false, out),
            Some((0x16, sql)) => self.prepare(sql, out),
            Some((0x17, rest)) => {
                let number = rest.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes));
                let answer = self.prepared.get((number as usize).wrapping_sub(1));
                result(answer.copied().unwrap_or(Answer::Changed(0)), true, out);
            }
            // The client closes a statement or ends the session. The server answers neither of these commands.
            Some((0x19 | 0x01, _)) => {}
            _ => packet(out, 1, &ok(0)),
        }
    }

    fn prepare(&mut self, sql: &[u8], out: &mut Vec<u8>) {
        let answer = Answer::of(sql);
        self.prepared.push(answer);
        let params = (sql.split(|byte| *byte == b'?').count() - 1) as u8;
        let columns = u8::from(answer.rows().is_some());
        let [a, b, c, d] = (self.prepared.len() as u32).to_le_bytes();
        packet(out, 1, &[0, a, b, c, d, columns, 0, params, 0, 0, 0, 0]);
        for number in 0..params {
            packet(out, 2 + number, &column(b"?", STRING));
        }
        if columns > 0 {
            packet(out, 2 + params, &definition(answer));
        }
    }
}

/// Appends the packets of a statement's result to `out`.
fn result(answer: Answer, is_binary: bool, out: &mut Vec<u8>) {
    let Some((text, rows)) = answer.rows() else {
        let Answer::Changed(rows) = answer else { return };
        return packet(out, 1, &ok(rows));
    };
    packet(out, 1, &[1]);
    packet(out, 2, &definition(answer));
    let mut sequence = 3_u8;
    for _ in 0..rows {
        let head: &[u8] = if is_binary { &[0, 0] } else { &[] };
        packet_of(out, sequence, &[head, &[text.len() as u8], text]);
        sequence = sequence.wrapping_add(1);
    }
    packet(out, sequence, &[0xFE, 0, 0, AUTOCOMMIT, 0, 0, 0]);
}

fn ok(rows: u8) -> [u8; 7] {
    [0, rows, 0, AUTOCOMMIT, 0, 0, 0]
}

fn definition(answer: Answer) -> Vec<u8> {
    column(answer.column(), if answer == Answer::Sum { DECIMAL } else { STRING })
}

/// A column definition that contains the names of sysbench's database and table.
fn column(name: &[u8], kind: u8) -> Vec<u8> {
    let mut packet = Vec::new();
    for text in [&b"def"[..], b"sbtest", b"sbtest1", b"sbtest1", name, name] {
        packet.push(text.len() as u8);
        packet.extend_from_slice(text);
    }
    packet.extend_from_slice(&[12, CHARSET, 0, 0xE0, 1, 0, 0, kind, 1, 0, 0, 0, 0]);
    packet
}

fn packet(out: &mut Vec<u8>, sequence: u8, payload: &[u8]) {
    packet_of(out, sequence, &[payload]);
}

/// Appends a packet to `out`. The payload is the concatenation of `parts`.
fn packet_of(out: &mut Vec<u8>, sequence: u8, parts: &[&[u8]]) {
    let length: usize = parts.iter().map(|part| part.len()).sum();
    let [low, middle, high, _] = (length as u32).to_le_bytes();
    out.extend_from_slice(&[low, middle, high, sequence]);
    for part in parts {
        out.extend_from_slice(part);
    }
}
