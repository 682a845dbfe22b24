//! Captures that are made by hand, and the events that are read from them.

mod files;
mod mysql;
mod postgres;
mod streams;

use std::io::Cursor;

use etherparse::PacketBuilder;

use crate::import::read_log;
use crate::log::{Event, LogFormat, Statement};

const MYSQL: u16 = 3306;
const POSTGRES: u16 = 5432;
const CLIENT: [u8; 4] = [10, 0, 0, 1];
const SERVER: [u8; 4] = [10, 0, 0, 2];
/// When the first packet was captured, in µs since 1970 UTC.
const BEGIN_US: i64 = 1_795_785_741_000_000;
/// Time between packets.
const STEP_US: i64 = 100;

/// A TCP connection, packet by packet.
struct Talk {
    client_port: u16,
    server_port: u16,
    /// The next sequence numbers of the client and the server.
    next: [u32; 2],
    /// The packets, as Ethernet frames.
    packets: Vec<Vec<u8>>,
}

#[derive(Clone, Copy)]
enum Flag {
    None,
    Syn,
    Fin,
    Reset,
}

impl Talk {
    /// A connection that was open before the capture.
    fn joined(server_port: u16) -> Self {
        Self { client_port: 40_000, server_port, next: [u32::MAX - 20, 7000], packets: Vec::new() }
    }

    /// A connection that is opened at the start of the capture.
    fn open(server_port: u16) -> Self {
        let mut talk = Self::joined(server_port);
        talk.handshake();
        talk
    }

    fn handshake(&mut self) {
        self.packet(0, Flag::Syn, &[]);
        self.packet(1, Flag::Syn, &[]);
        self.client(&[]);
    }

    fn packet(&mut self, side: usize, flag: Flag, payload: &[u8]) {
        let ips = if side == 0 { (CLIENT, SERVER) } else { (SERVER, CLIENT) };
        let ports = [self.client_port, self.server_port];
        let builder = PacketBuilder::ethernet2([1; 6], [2; 6]).ipv4(ips.0, ips.1, 64).tcp(
            ports[side],
            ports[1 - side],
            self.next[side],
            1000,
        );
        let is_first = matches!(flag, Flag::Syn) && side == 0;
        let builder = if is_first { builder } else { builder.ack(self.next[1 - side]) };
        let builder = match flag {
            Flag::None => builder,
            Flag::Syn => builder.syn(),
            Flag::Fin => builder.fin(),
            Flag::Reset => builder.rst(),
        };
        let mut frame = Vec::new();
        builder.write(&mut frame, payload).unwrap();
        self.packets.push(frame);
        let length = payload.len() as u32 + u32::from(matches!(flag, Flag::Syn | Flag::Fin));
        self.next[side] = self.next[side].wrapping_add(length);
    }

    fn client(&mut self, payload: &[u8]) {
        self.packet(0, Flag::None, payload);
    }

    fn server(&mut self, payload: &[u8]) {
        self.packet(1, Flag::None, payload);
    }

    /// A request in one packet, and its answer in another.
    fn exchange(&mut self, request: &[u8], answer: &[u8]) {
        self.client(request);
        self.server(answer);
    }

    fn close(&mut self) {
        self.packet(0, Flag::Fin, &[]);
        self.packet(1, Flag::Fin, &[]);
        self.client(&[]);
    }

    /// The events that are read if the packets are in a file of `tcpdump`.
    fn told(&self) -> Vec<String> {
        told(&pcap(&self.packets, usize::MAX))
    }
}

/// A pcap file with Ethernet packets. At most `snap_bytes` of each packet were captured.
fn pcap(packets: &[Vec<u8>], snap_bytes: usize) -> Vec<u8> {
    let mut file = 0xA1B2_C3D4_u32.to_le_bytes().to_vec();
    file.extend([2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0, 0]);
    for (packet, at_us) in packets.iter().zip((BEGIN_US..).step_by(STEP_US as usize)) {
        let captured = packet.len().min(snap_bytes);
        for number in [at_us / 1_000_000, at_us % 1_000_000, captured as i64, packet.len() as i64] {
            file.extend((number as u32).to_le_bytes());
        }
        file.extend(&packet[..captured]);
    }
    file
}

/// The events of a capture, one per line. Packets that are unrelated are left out.
fn told(file: &[u8]) -> Vec<String> {
    told_as(None, file)
}

fn told_as(format: Option<LogFormat>, file: &[u8]) -> Vec<String> {
    let mut told = Vec::new();
    let read = read_log(Cursor::new(file.to_vec()), format, &mut |number, event| {
        if !matches!(event, Event::Unrelated) {
            told.push(format!("{number} {}", words(&event)));
        }
        Ok(())
    });
    read.unwrap();
    told
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn words(event: &Event<'_>) -> String {
    match event {
        Event::Statement(statement) => statement_words(statement),
        Event::Connected { session, user, database, .. } => {
            let names = [user, database].map(|name| name.map_or("-".to_owned(), text));
            format!("{} connected {} {}", text(session), names[0], names[1])
        }
        Event::Database { session, name } => format!("{} uses {}", text(session), text(name)),
        Event::Closed { session, .. } => format!("{} closed", text(session)),
        Event::Command(name) => format!("command {name}"),
        Event::Trouble(trouble) => format!("trouble {}", trouble.name()),
        other => format!("{other:?}"),
    }
}

/// Formats a statement: session, time since the start in steps, text, latency in µs, rows sent and affected,
/// values, error.
fn statement_words(statement: &Statement<'_>) -> String {
    let steps = (statement.at_us - BEGIN_US) / STEP_US;
    let mut words = format!("{} @{steps} {}", text(statement.session), text(statement.text));
    for (name, value) in
        [("us", statement.latency_us), ("rows", statement.rows_sent), ("affected", statement.rows_affected)]
    {
        words += &value.map_or_else(String::new, |value| format!(" {name}={value}"));
    }
    let bound = statement.bound.iter().map(|value| value.as_deref().map_or("NULL".to_owned(), text));
    words = bound.fold(words, |words, value| format!("{words} [{value}]"));
    words + &statement.error.map_or_else(String::new, |error| format!(" error={}", text(error)))
}
