use std::fs;
use std::io::Write as _;
use std::sync::atomic::AtomicBool;

use etherparse::PacketBuilder;
use flate2::write::GzEncoder;

use super::mysql::{logged_in, ok, query};
use super::{BEGIN_US, MYSQL, Talk, pcap, told, words};
use crate::capture::{Capture, PacketFile};
use crate::error::TrafficError;
use crate::file::{Order, TrafficFile};
use crate::import::{Options, import, read_log};
use crate::log::LogFormat;
use crate::sql::Dialect;

fn talk() -> Talk {
    let mut talk = logged_in(MYSQL);
    talk.exchange(&query("SELECT 1"), &ok());
    talk
}

const TOLD: [&str; 3] =
    ["6 c1 connected me shop", "6 command Connect", "7 c1 @6 SELECT 1 us=100 rows=0 affected=1"];

/// The packets with another header in place of their Ethernet header.
fn with_header(header: &[u8]) -> Vec<Vec<u8>> {
    talk().packets.iter().map(|packet| [header, &packet[14..]].concat()).collect()
}

fn with_link(link: u16, packets: &[Vec<u8>]) -> Vec<u8> {
    let mut file = pcap(packets, usize::MAX);
    file[20..22].copy_from_slice(&link.to_le_bytes());
    file
}

#[test]
fn packets_of_each_link_type_are_read() {
    let mut cooked = [0; 16];
    cooked[14..].copy_from_slice(&[8, 0]);
    let mut cooked_2 = [0; 20];
    cooked_2[..2].copy_from_slice(&[8, 0]);
    let mut vlan = [0; 18];
    vlan[12..].copy_from_slice(&[0x81, 0, 0, 5, 8, 0]);
    for (link, header) in [
        (0, &[2, 0, 0, 0][..]),
        (1, &vlan),
        (12, &[]),
        (101, &[]),
        (108, &[0, 0, 0, 2]),
        (113, &cooked),
        (228, &[]),
        (276, &cooked_2),
    ] {
        assert_eq!(told(&with_link(link, &with_header(header))), TOLD, "link type {link}");
    }
}

#[test]
fn ip_version_6_is_read() {
    let mut sequences = [0, 0];
    let mut packets = Vec::new();
    let mut packet = |side: usize, payload: &[u8]| {
        let builder =
            PacketBuilder::ethernet2([1; 6], [2; 6]).ipv6([side as u8; 16], [1 - side as u8; 16], 64);
        let ports = [50_000, MYSQL];
        let builder = builder.tcp(ports[side], ports[1 - side], sequences[side], 1000);
        let mut frame = Vec::new();
        builder.write(&mut frame, payload).unwrap();
        // Padding follows the segment, but is not part of it.
        frame.extend([0xFF; 6]);
        packets.push(frame);
        sequences[side] += payload.len() as u32;
    };
    packet(0, &query("SELECT 1"));
    packet(1, &ok());
    assert_eq!(told(&pcap(&packets, usize::MAX)), ["1 c1 @0 SELECT 1 us=100 rows=0 affected=1"]);
}

/// A pcap file in big-endian byte order, with times in ns.
fn big_endian_nanoseconds(packets: &[Vec<u8>]) -> Vec<u8> {
    let mut file = 0xA1B2_3C4D_u32.to_be_bytes().to_vec();
    file.extend([0, 2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 1]);
    for (number, packet) in packets.iter().enumerate() {
        let length = packet.len() as u32;
        for number in [(BEGIN_US / 1_000_000) as u32, 100_000 * number as u32, length, length] {
            file.extend(number.to_be_bytes());
        }
        file.extend(packet);
    }
    file
}

/// A block of pcapng.
fn block(kind: u32, body: &[u8]) -> Vec<u8> {
    let padding = vec![0; body.len().next_multiple_of(4) - body.len()];
    let length = (12 + body.len() + padding.len()) as u32;
    [&kind.to_le_bytes(), &length.to_le_bytes(), body, &padding, &length.to_le_bytes()].concat()
}

/// A pcapng file with two interfaces. The second has times in units of 2^-20 s.
fn pcapng(packets: &[Vec<u8>]) -> Vec<u8> {
    let mut section = 0x1A2B_3C4D_u32.to_le_bytes().to_vec();
    section.extend([1, 0, 0, 0]);
    section.extend([0xFF; 8]);
    let mut file = block(0x0A0D_0D0A, &section);
    file.extend(block(1, &[1, 0, 0, 0, 0, 0, 4, 0]));
    file.extend(block(1, &[1, 0, 0, 0, 0, 0, 4, 0, 9, 0, 1, 0, 0x94, 0, 0, 0, 0, 0, 0, 0]));
    file.extend(block(99, b"unknown"));
    for (number, packet) in packets.iter().enumerate() {
        let interface = number as u32 % 2;
        let at_us = BEGIN_US as u64 + 100 * number as u64;
        let time = if interface == 0 { at_us } else { ((u128::from(at_us) << 20) / 1_000_000 + 1) as u64 };
        let mut body = interface.to_le_bytes().to_vec();
        body.extend(((time >> 32) as u32).to_le_bytes());
        body.extend((time as u32).to_le_bytes());
        body.extend((packet.len() as u32).to_le_bytes());
        body.extend((packet.len() as u32).to_le_bytes());
        body.extend(packet);
        file.extend(block(6, &body));
    }
    file
}

#[test]
fn both_byte_orders_and_pcapng_are_read() {
    let packets = talk().packets;
    assert_eq!(told(&big_endian_nanoseconds(&packets)), TOLD);
    assert_eq!(told(&pcapng(&packets)), TOLD);
}

#[test]
fn packets_without_a_time_are_told() {
    let packets = talk().packets;
    let all = pcapng(&[]);
    let simple =
        packets.iter().map(|packet| block(3, &[&(packet.len() as u32).to_le_bytes(), &packet[..]].concat()));
    let file = [vec![all], simple.collect()].concat().concat();
    let expected: Vec<String> =
        (1..=packets.len()).map(|number| format!("{number} trouble no_time")).collect();
    assert_eq!(told(&file), expected);
}

#[test]
fn a_file_that_is_cut_or_damaged_is_told() {
    let packets = talk().packets;
    let file = pcap(&packets, usize::MAX);
    assert_eq!(told(&file[..file.len() - 1])[2..], ["8 trouble cut", "7 trouble cut"]);
    let mut damaged = file.clone();
    let last = file.len() - packets[7].len() - 8;
    damaged[last..last + 4].copy_from_slice(&[0xFF; 4]);
    assert_eq!(told(&damaged)[2], "8 trouble cut");
    let mut damaged = pcapng(&packets);
    let length = damaged.len();
    damaged[length - 4..].copy_from_slice(&[0; 4]);
    assert_eq!(told(&damaged)[2..], ["8 trouble damaged", "7 trouble cut"]);
}

#[test]
fn a_capture_without_a_known_server_is_refused() {
    let talk = Talk::open(80);
    let read = |format| {
        let file = std::io::Cursor::new(pcap(&talk.packets, usize::MAX));
        read_log(file, format, &mut |_, _| Ok(()))
    };
    assert!(matches!(read(None), Err(TrafficError::NoServer { .. })));
    assert!(matches!(read(Some(LogFormat::PcapMysql)), Ok(LogFormat::PcapMysql)));
    let text = std::io::Cursor::new(b"# Time: ".to_vec());
    let read = read_log(text, Some(LogFormat::PcapMysql), &mut |_, _| Ok(()));
    assert!(matches!(read, Err(TrafficError::Unknown { .. })));
}

#[test]
fn rotated_and_packed_files_are_one_capture() {
    let folder = tempfile::tempdir().unwrap();
    let mut talk = logged_in(4000);
    talk.exchange(&query("SELECT 1"), &ok());
    talk.exchange(&query("CREATE USER u IDENTIFIED BY 'hunter2'"), &ok());
    let logs: Vec<_> = [(0, 7), (7, 9), (9, 10)]
        .into_iter()
        .map(|(from, to)| {
            let mut gzip = GzEncoder::new(Vec::new(), flate2::Compression::fast());
            gzip.write_all(&pcap(&talk.packets[from..to], usize::MAX)).unwrap();
            let path = folder.path().join(format!("{from}.pcap.gz"));
            fs::write(&path, gzip.finish().unwrap()).unwrap();
            path
        })
        .collect();
    let out = folder.path().join("a.traffic");
    let stop = AtomicBool::new(false);
    let options =
        Options { out: &out, overwrite: true, format: None, redact: false, keep_users: false, stop: &stop };
    let imported = import(&logs, &options, &mut |_| ()).unwrap();
    assert_eq!((imported.statements, imported.sessions, imported.lost), (2, 1, 0));
    let summary = TrafficFile::open(&out).unwrap().summary(Order::Time, 100, 10).unwrap();
    let sources: Vec<_> = summary
        .sources
        .iter()
        .map(|source| (source.format.as_str(), source.lines, source.statements))
        .collect();
    assert_eq!(sources, [("pcap-mysql", 7, 0), ("pcap-mysql", 2, 1), ("pcap-mysql", 1, 1)]);
    assert!(!String::from_utf8_lossy(&fs::read(&out).unwrap()).contains("hunter2"));
}

#[test]
fn a_session_goes_on_in_the_next_file() {
    let packets = talk().packets;
    let mut capture = Capture::new(Dialect::Mysql);
    let mut told = Vec::new();
    for part in [&packets[..7], &packets[7..]] {
        capture.begin_file();
        let file = pcap(part, usize::MAX);
        let mut file = PacketFile::new(file.as_slice());
        let mut see = |number: u64, event: crate::log::Event<'_>| {
            told.push(format!("{number} {}", words(&event)));
            Ok(())
        };
        while capture.packet(&mut file, &mut see).unwrap().unwrap() {}
    }
    let last = told.last().unwrap();
    assert!(last.starts_with("1 c1 @6 SELECT 1"), "{last}");
}
