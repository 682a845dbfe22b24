use proptest::prelude::*;

use super::mysql::{greeting, logged_in, ok, packet, query};
use super::{Flag, MYSQL, POSTGRES, Talk, pcap, told, told_as, words};
use crate::capture::flows::Flows;
use crate::capture::{Capture, PacketFile};
use crate::import::read_log;
use crate::log::{Event, LogFormat};
use crate::sql::Dialect;

/// A connection with three statements. Each is sent in two packets and answered in one, so the statements are in
/// packets 7 to 15.
fn statements() -> Talk {
    let mut talk = logged_in(MYSQL);
    for number in 1..=3 {
        let query = query(&format!("SELECT {number}"));
        talk.client(&query[..7]);
        talk.client(&query[7..]);
        talk.server(&ok());
    }
    talk
}

fn texts(told: &[String]) -> Vec<String> {
    let is_text = |line: &&String| line.contains(" @");
    told.iter().filter(is_text).map(|line| line.split(' ').skip(3).take(2).collect()).collect()
}

#[test]
fn retransmitted_and_late_segments_change_nothing() {
    let all = texts(&statements().told());
    assert_eq!(all, ["SELECT1", "SELECT2", "SELECT3"]);
    let mut talk = statements();
    talk.packets.swap(6, 7);
    talk.packets.swap(10, 9);
    let again = talk.packets[6].clone();
    talk.packets.insert(9, again.clone());
    talk.packets.push(again);
    assert_eq!(texts(&talk.told()), all);
}

#[test]
fn a_gap_loses_what_is_in_it_and_no_more() {
    // The start of the second request is missing.
    let mut talk = statements();
    talk.packets.remove(9);
    let told = talk.told();
    assert_eq!(texts(&told), ["SELECT1"]);
    assert_eq!(told.iter().filter(|line| line.contains("trouble")).count(), 1, "{told:?}");
    // The second answer is missing. The third request does not wait for it.
    let mut talk = statements();
    talk.packets.remove(11);
    for _ in 0..40 {
        talk.exchange(&query("SELECT 9"), &ok());
    }
    let told = talk.told();
    let troubles: Vec<_> = told.iter().filter(|line| line.contains("trouble")).collect();
    assert_eq!(troubles.len(), 1, "{told:?}");
    assert!(troubles[0].ends_with("packets_missing"));
    assert_eq!(texts(&told).last().unwrap(), "SELECT9");
}

#[test]
fn what_a_snap_length_cuts_off_is_told() {
    let mut talk = logged_in(MYSQL);
    let length = talk.packets.iter().map(Vec::len).max().unwrap();
    talk.exchange(&query(&format!("SELECT '{}'", "x".repeat(500))), &ok());
    talk.exchange(&query("SELECT 2"), &ok());
    let told = told(&pcap(&talk.packets, length));
    assert_eq!(told[2..], ["7 trouble packet_cut", "9 c1 @8 SELECT 2 us=100 rows=0 affected=1"]);
    // No packet has its whole TCP header.
    let told = told_as(Some(LogFormat::PcapMysql), &pcap(&talk.packets, 40));
    assert!(told.iter().all(|line| line.ends_with("packet_cut")), "{told:?}");
}

#[test]
fn a_port_that_is_used_again_is_another_session() {
    let mut talk = logged_in(MYSQL);
    talk.exchange(&query("SELECT 1"), &ok());
    let first = talk.packets.clone();
    // A new connection with the same addresses begins, although the end of the first connection was not captured.
    let mut again = logged_in(MYSQL);
    again.next = [5, 6];
    again.packets.clear();
    again.handshake();
    again.server(&greeting());
    again.packet(0, Flag::Reset, &[]);
    let told = told(&pcap(&[first, again.packets].concat(), usize::MAX));
    assert_eq!(told[2..], ["7 c1 @6 SELECT 1 us=100 rows=0 affected=1", "8 c1 closed", "13 c2 closed"]);
}

#[test]
fn a_session_that_needs_too_much_memory_is_given_up() {
    for port in [MYSQL, 33_060] {
        let mut talk = logged_in(port);
        let long = query(&"x".repeat(3 << 20));
        long.chunks(50_000).for_each(|piece| talk.client(piece));
        talk.server(&ok());
        talk.exchange(&query("SELECT 1"), &ok());
        let file = pcap(&talk.packets, usize::MAX);
        let mut capture = Capture { flows: Flows::new(Dialect::Mysql, 1 << 20) };
        let mut file = PacketFile::new(file.as_slice());
        let mut told = Vec::new();
        let mut see = |_: u64, event: Event<'_>| {
            if !matches!(event, Event::Unrelated) {
                told.push(words(&event));
            }
            Ok(())
        };
        while capture.packet(&mut file, &mut see).unwrap().unwrap() {}
        assert_eq!(told[2], "trouble too_long");
        assert!(told[3].contains("SELECT 1 us=100"), "{told:?}");
        assert_eq!(told.len(), 4);
    }
}

#[test]
fn a_session_without_its_last_answer_is_cut() {
    let mut talk = logged_in(MYSQL);
    talk.client(&query("SELECT 1"));
    assert_eq!(talk.told()[2..], ["7 trouble cut"]);
    talk.packet(1, Flag::Reset, &[]);
    assert_eq!(talk.told()[2..], ["8 trouble cut", "8 c1 closed"]);
}

#[test]
fn other_traffic_is_unrelated() {
    let mut other = Talk::open(POSTGRES);
    other.exchange(b"\0\0\0\x08\x04\xD2\x16\x2F", b"N");
    let mut web = Talk::open(80);
    web.exchange(b"GET / HTTP/1.1\r\n\r\n", b"HTTP/1.1 200 OK\r\n\r\n");
    web.client_port = 1;
    let mut talk = logged_in(MYSQL);
    talk.client_port = 40_001;
    let mut mine = logged_in(MYSQL).packets;
    mine.extend(other.packets);
    mine.extend(web.packets);
    let told = told(&pcap(&mine, usize::MAX));
    assert_eq!(told, ["6 c1 connected me shop", "6 command Connect"]);
}

#[test]
fn an_unasked_packet_of_a_server_is_a_loss() {
    let mut talk = logged_in(MYSQL);
    talk.server(&packet(1, b"\x01\x01"));
    talk.exchange(&query("SELECT 1"), &ok());
    // A server may send an error that says why it closes the session.
    talk.server(&packet(0, b"\xFF\xBF\x0F#HY000The client was disconnected"));
    assert_eq!(talk.told()[2..], ["7 trouble packets_missing", "8 c1 @7 SELECT 1 us=100 rows=0 affected=1"]);
}

proptest! {
    /// No change of a capture causes a panic. Each event has the number of a packet in the capture, or the number
    /// after the last packet.
    #[test]
    fn any_bytes_are_read(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 0..20),
        length in any::<prop::sample::Index>(),
    ) {
        let mut file = pcap(&statements().packets, usize::MAX);
        for (at, byte) in changes {
            let at = at.index(file.len() - 24) + 24;
            file[at] = byte;
        }
        file.truncate(24 + length.index(file.len() - 23));
        for format in [LogFormat::PcapMysql, LogFormat::PcapPostgresql] {
            let content = std::io::Cursor::new(file.clone());
            let mut is_there = true;
            let read = read_log(content, Some(format), &mut |number, _| {
                is_there &= (1..=17).contains(&number);
                Ok(())
            });
            prop_assert!(read.is_ok() && is_there);
        }
    }
}
