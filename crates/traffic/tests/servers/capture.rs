//! Captures of the traffic between clients and servers. A proxy makes them, because `tcpdump` needs privileges.

use std::fs;
use std::io::{Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use etherparse::PacketBuilder;

const CLIENT: [u8; 4] = [10, 0, 0, 1];
const SERVER: [u8; 4] = [10, 0, 0, 2];
const SERVER_PORT: u16 = 4000;
/// Largest payload of a segment, in bytes.
const SEGMENT_BYTES: usize = 1400;

/// Bytes that one side sent.
struct Sent {
    is_client: bool,
    bytes: Vec<u8>,
    at: Duration,
}

/// Forwards one connection to a server, and keeps what both sides send.
pub(crate) struct Proxy {
    /// The socket to which the client connects.
    pub(crate) socket: PathBuf,
    client_port: u16,
    relay: JoinHandle<Vec<Sent>>,
}

impl Proxy {
    pub(crate) fn new(server: &Path, folder: &Path, number: u16) -> Self {
        let socket = folder.join(format!("proxy{number}"));
        let listener = UnixListener::bind(&socket).unwrap();
        let server = server.to_owned();
        Self { socket, client_port: 40_000 + number, relay: thread::spawn(move || relay(&listener, &server)) }
    }

    /// The packets that `tcpdump` would have captured. Waits until both sides have disconnected.
    pub(crate) fn packets(self) -> Vec<u8> {
        let mut file = Vec::new();
        let mut next = [1000, 2000_u32];
        for sent in self.relay.join().unwrap() {
            for piece in sent.bytes.chunks(SEGMENT_BYTES) {
                let side = usize::from(!sent.is_client);
                let ends = [(CLIENT, self.client_port), (SERVER, SERVER_PORT)];
                let (from, to) = (ends[side], ends[1 - side]);
                let mut frame = Vec::new();
                PacketBuilder::ethernet2([1; 6], [2; 6])
                    .ipv4(from.0, to.0, 64)
                    .tcp(from.1, to.1, next[side], 1000)
                    .ack(next[1 - side])
                    .write(&mut frame, piece)
                    .unwrap();
                next[side] = next[side].wrapping_add(piece.len() as u32);
                for number in [
                    sent.at.as_secs() as u32,
                    sent.at.subsec_micros(),
                    frame.len() as u32,
                    frame.len() as u32,
                ] {
                    file.extend(number.to_le_bytes());
                }
                file.extend(frame);
            }
        }
        file
    }
}

/// Writes a file with the packets of several connections, which follow each other.
pub(crate) fn write(path: &Path, connections: Vec<Proxy>) {
    let mut file = 0xA1B2_C3D4_u32.to_le_bytes().to_vec();
    file.extend([2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 1, 0, 0, 0]);
    for connection in connections {
        file.extend(connection.packets());
    }
    fs::write(path, file).unwrap();
}

fn relay(listener: &UnixListener, server: &Path) -> Vec<Sent> {
    let (client, _) = listener.accept().unwrap();
    let server = UnixStream::connect(server).unwrap();
    let (sender, sent) = channel();
    let pairs = [(&client, &server, true), (&server, &client, false)];
    let copiers = pairs.map(|(from, to, is_client)| {
        let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
        let sender = sender.clone();
        thread::spawn(move || copy(from, to, is_client, &sender))
    });
    drop(sender);
    for copier in copiers {
        copier.join().unwrap();
    }
    sent.into_iter().collect()
}

fn copy(mut from: UnixStream, mut to: UnixStream, is_client: bool, sender: &Sender<Sent>) {
    let mut buffer = vec![0; 64 << 10];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        let bytes = buffer[..length].to_vec();
        let at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap();
        // The bytes are kept before the other side receives them, so an answer cannot be recorded before its
        // request.
        sender.send(Sent { is_client, bytes, at }).unwrap();
        if to.write_all(&buffer[..length]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(std::net::Shutdown::Write);
}
