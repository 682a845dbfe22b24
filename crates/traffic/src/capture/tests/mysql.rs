use super::{Flag, MYSQL, Talk, pcap, told_as};
use crate::log::LogFormat;

const PROTOCOL_41: u32 = 1 << 9;
const WITH_DATABASE: u32 = 1 << 3;
const COMPRESS: u32 = 1 << 5;
const SSL: u32 = 1 << 11;
const SECURE: u32 = 1 << 15;

pub(super) fn packet(sequence: u8, payload: &[u8]) -> Vec<u8> {
    let mut packet = (payload.len() as u32).to_le_bytes();
    packet[3] = sequence;
    [&packet, payload].concat()
}

fn command(code: u8, argument: &[u8]) -> Vec<u8> {
    packet(0, &[&[code], argument].concat())
}

pub(super) fn query(text: &str) -> Vec<u8> {
    command(3, text.as_bytes())
}

pub(super) const OK: &[u8] = &[0, 1, 0, 2, 0, 0, 0];

pub(super) fn ok() -> Vec<u8> {
    packet(1, OK)
}

/// A result of one column, in the form that has no EOF packets.
fn rows(values: &[&str]) -> Vec<u8> {
    let mut answer = [packet(1, &[1]), packet(2, b"\x03def\0\0\0")].concat();
    for (sequence, value) in (3..).zip(values) {
        answer.extend(packet(sequence, &[&[value.len() as u8], value.as_bytes()].concat()));
    }
    answer.extend(packet(3 + values.len() as u8, &[0xFE, 0, 0, 2, 0, 0, 0]));
    answer
}

pub(super) fn greeting() -> Vec<u8> {
    let mut payload = b"\x0A8.0.33\0\x05\0\0\0abcdefgh\0\xFF\xFF\x2D\x02\0\xFF\xFF\x15".to_vec();
    payload.extend([0; 10]);
    payload.extend(b"ijklmnopqrst\0mysql_native_password\0");
    packet(0, &payload)
}

fn response(capabilities: u32) -> Vec<u8> {
    let mut payload = capabilities.to_le_bytes().to_vec();
    payload.extend([0; 28]);
    if capabilities & SSL == 0 {
        payload.extend(b"me\0\x06secretshop\0");
    }
    packet(1, &payload)
}

/// A connection whose user has logged in. The login is in packets 4 to 6.
pub(super) fn logged_in(port: u16) -> Talk {
    let mut talk = Talk::open(port);
    talk.server(&greeting());
    talk.exchange(&response(PROTOCOL_41 | WITH_DATABASE | SECURE), &packet(2, OK));
    talk
}

const LOGIN: [&str; 2] = ["6 c1 connected me shop", "6 command Connect"];

fn told(talk: &Talk) -> Vec<String> {
    let told = talk.told();
    assert_eq!(told[..2], LOGIN);
    assert!(!told.iter().any(|line| line.contains("secret")), "{told:?}");
    told[2..].to_vec()
}

#[test]
fn statements_have_latencies_rows_and_errors() {
    let mut talk = logged_in(33_060);
    talk.exchange(&query("INSERT INTO t VALUES (1)"), &ok());
    talk.client(&query("SELECT a FROM t"));
    let answer = rows(&["x", "y"]);
    talk.server(&answer[..9]);
    talk.server(&answer[9..20]);
    talk.server(&answer[20..]);
    talk.exchange(&query("SELECT nonsense"), &packet(1, b"\xFF\x1E\x04#42S22Unknown"));
    talk.exchange(&command(2, b"other"), &ok());
    talk.exchange(&command(0x0E, b""), &ok());
    talk.client(&command(1, b""));
    talk.close();
    assert_eq!(
        told(&talk),
        [
            "7 c1 @6 INSERT INTO t VALUES (1) us=100 rows=0 affected=1",
            "9 c1 @8 SELECT a FROM t us=300 rows=2",
            "13 c1 @12 SELECT nonsense us=100 error=1054",
            "15 c1 uses other",
            "15 command Init DB",
            "17 command Ping",
            "19 command Quit",
            "20 c1 closed",
        ]
    );
}

#[test]
fn prepared_statements_have_their_values() {
    let mut talk = logged_in(MYSQL);
    let prepared = packet(1, &[0, 9, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0]);
    let definitions = [packet(2, b"\x03def"), packet(3, b"\x03def")].concat();
    talk.exchange(&command(0x16, b"SELECT a FROM t WHERE b = ?"), &[prepared, definitions].concat());
    let execute =
        |number: u8, rest: &[u8]| command(0x17, &[&[number, 0, 0, 0, 0, 1, 0, 0, 0], rest].concat());
    talk.exchange(&execute(9, &[0, 1, 8, 0, 42, 0, 0, 0, 0, 0, 0, 0]), &rows(&["x"]));
    talk.exchange(&execute(9, &[0, 0, 43, 0, 0, 0, 0, 0, 0, 0]), &rows(&[]));
    talk.exchange(&execute(8, &[]), &ok());
    talk.exchange(&[command(0x19, &[9, 0, 0, 0]), execute(9, &[])].concat(), &ok());
    assert_eq!(
        told(&talk),
        [
            "7 command Prepare",
            "9 c1 @8 SELECT a FROM t WHERE b = 42 us=100 rows=1",
            "11 c1 @10 SELECT a FROM t WHERE b = 43 us=100 rows=0",
            "13 command Execute without text",
            "15 command Close stmt",
            "15 command Execute without text",
        ]
    );
}

#[test]
fn a_file_of_the_client_is_no_command() {
    let mut talk = logged_in(MYSQL);
    talk.exchange(&query("LOAD DATA LOCAL INFILE 'f' INTO TABLE t"), &packet(1, b"\xFBf"));
    talk.client(&packet(2, b"\x03not a query"));
    talk.exchange(&packet(3, b""), &packet(4, OK));
    talk.exchange(&query("SELECT 1"), &rows(&["1"]));
    assert_eq!(
        told(&talk),
        [
            "7 c1 @6 LOAD DATA LOCAL INFILE 'f' INTO TABLE t us=400 rows=0 affected=1",
            "12 c1 @11 SELECT 1 us=100 rows=1"
        ]
    );
}

#[test]
fn a_changed_user_is_another_session() {
    let mut talk = logged_in(MYSQL);
    talk.exchange(&command(0x11, b"you\0\x06secretbooks\0"), &packet(1, b"\xFEmysql_native_password\0x\0"));
    talk.exchange(&packet(2, b"secret"), &packet(3, OK));
    talk.exchange(&query("SELECT 1"), &rows(&["1"]));
    assert_eq!(
        told(&talk),
        [
            "7 command Change user",
            "10 c1 closed",
            "10 c1 connected you books",
            "10 command Connect",
            "11 c1 @10 SELECT 1 us=100 rows=1"
        ]
    );
}

#[test]
fn what_is_encrypted_or_compressed_is_told_once() {
    let mut tls = Talk::open(MYSQL);
    tls.server(&greeting());
    tls.client(&response(PROTOCOL_41 | SSL));
    tls.exchange(b"\x16\x03\x01\0\x05hello", b"\x16\x03\x01\0\x05hello");
    assert_eq!(tls.told(), ["5 trouble encrypted"]);

    let mut compressed = Talk::open(MYSQL);
    compressed.server(&greeting());
    compressed.exchange(&response(PROTOCOL_41 | WITH_DATABASE | SECURE | COMPRESS), &packet(2, OK));
    compressed.exchange(&[5, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1], &[1]);
    assert_eq!(compressed.told()[2..], ["6 trouble encrypted"]);

    let mut joined = Talk::joined(MYSQL);
    joined.exchange(b"\x17\x03\x03\0\x05hello", b"\x17\x03\x03\0\x05hello");
    assert_eq!(joined.told(), ["1 trouble encrypted"]);
}

#[test]
fn a_refused_login_is_no_session() {
    let mut talk = Talk::open(MYSQL);
    talk.server(&greeting());
    talk.exchange(&response(PROTOCOL_41 | SECURE), &packet(2, b"\xFF\x15\x04#28000Access denied"));
    talk.close();
    assert_eq!(talk.told(), ["6 command Connect", "7 c1 closed"]);
    let mut talk = Talk::open(MYSQL);
    talk.server(&packet(0, b"\xFF\x10\x04Too many connections"));
    assert_eq!(talk.told(), ["4 command Connect"]);
}

#[test]
fn an_open_session_is_joined_at_a_request() {
    for port in [MYSQL, 12_345] {
        let mut talk = Talk::joined(port);
        talk.server(&rows(&["a", "b"])[7..]);
        talk.exchange(&query("SELECT 1"), &rows(&["1"]));
        talk.packet(1, Flag::Reset, &[]);
        let told = told_as(Some(LogFormat::PcapMysql), &pcap(&talk.packets, usize::MAX));
        assert_eq!(told, ["2 c1 @1 SELECT 1 us=100 rows=1", "4 c1 closed"], "port {port}");
    }
}

#[test]
fn what_only_looks_like_a_request_is_not_joined() {
    let mut talk = Talk::joined(12_345);
    talk.exchange(&query("SELECT 1"), b"something else");
    talk.exchange(b"more", b"and more");
    assert_eq!(told_as(Some(LogFormat::PcapMysql), &pcap(&talk.packets, usize::MAX)), [""; 0]);
    let mut talk = Talk::joined(MYSQL);
    talk.exchange(b"never a request", b"and no answer");
    assert_eq!(talk.told(), ["2 trouble not_recognised"]);
}

#[test]
fn a_connection_that_was_often_mistaken_is_ignored() {
    for (mistakes, told) in [(7, vec!["15 c1 @14 SELECT 2 us=100 rows=1".to_owned()]), (8, Vec::new())] {
        let mut talk = Talk::joined(12_345);
        (0..mistakes).for_each(|_| talk.exchange(&query("SELECT 1"), &packet(9, OK)));
        talk.exchange(&query("SELECT 2"), &rows(&["1"]));
        assert_eq!(told_as(Some(LogFormat::PcapMysql), &pcap(&talk.packets, usize::MAX)), told);
    }
}

#[test]
fn a_statement_that_is_too_long_is_told() {
    let mut talk = logged_in(MYSQL);
    let text = "x".repeat(17 << 20);
    let full = 0xFF_FFFF;
    let payload = [b"\x03", text.as_bytes()].concat();
    let sent = [packet(0, &payload[..full]), packet(1, &payload[full..])].concat();
    sent.chunks(60_000).for_each(|piece| talk.client(piece));
    talk.server(&packet(2, OK));
    talk.exchange(&query("SELECT 1"), &rows(&["1"]));
    let told = told(&talk);
    assert!(told[0].ends_with("trouble too_long"), "{told:?}");
    assert!(told[1].ends_with("SELECT 1 us=100 rows=1"), "{told:?}");
    assert_eq!(told.len(), 2);
}
