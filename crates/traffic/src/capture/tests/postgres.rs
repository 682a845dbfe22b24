use super::{POSTGRES, Talk, pcap, told_as};
use crate::log::LogFormat;

fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    [&[kind], &(body.len() as u32 + 4).to_be_bytes()[..], body].concat()
}

fn first(body: &[u8]) -> Vec<u8> {
    [&(body.len() as u32 + 4).to_be_bytes()[..], body].concat()
}

fn query(text: &str) -> Vec<u8> {
    message(b'Q', &[text.as_bytes(), b"\0"].concat())
}

fn complete(tag: &str) -> Vec<u8> {
    message(b'C', &[tag.as_bytes(), b"\0"].concat())
}

fn ready() -> Vec<u8> {
    message(b'Z', b"I")
}

fn error(state: &str) -> Vec<u8> {
    message(b'E', &[b"SERROR\0VERROR\0C", state.as_bytes(), b"\0Mno\0\0"].concat())
}

fn login() -> Vec<u8> {
    first(b"\0\x03\0\0user\0me\0database\0shop\0\0")
}

/// A connection whose user has logged in with a password. The login is in packets 4 to 7.
fn logged_in(port: u16) -> Talk {
    let mut talk = Talk::open(port);
    talk.exchange(&login(), &message(b'R', &[0, 0, 0, 3]));
    talk.client(&message(b'p', b"secret\0"));
    talk.server(
        &[message(b'R', &[0; 4]), message(b'S', b"a\0b\0"), message(b'K', &[0; 8]), ready()].concat(),
    );
    talk
}

fn told(talk: &Talk) -> Vec<String> {
    let told = talk.told();
    assert_eq!(told[..2], ["7 c1 connected me shop", "7 command Connect"]);
    assert!(!told.iter().any(|line| line.contains("secret")), "{told:?}");
    told[2..].to_vec()
}

fn row() -> Vec<u8> {
    message(b'D', &[0, 1, 0, 0, 0, 1, b'x'])
}

#[test]
fn statements_have_latencies_rows_and_errors() {
    let mut talk = logged_in(6000);
    let columns = message(b'T', &[0, 0]);
    talk.client(&query("SELECT a FROM t"));
    let answer = [columns.clone(), row(), row(), complete("SELECT 2"), ready()].concat();
    talk.server(&answer[..10]);
    talk.server(&answer[10..]);
    talk.exchange(&query("UPDATE t SET a = 1"), &[complete("UPDATE 3"), ready()].concat());
    let two = [columns, row(), complete("SELECT 1"), error("22012"), ready()].concat();
    talk.exchange(&query("SELECT 1; SELECT 1/0"), &two);
    talk.exchange(&query(""), &[message(b'I', b""), ready()].concat());
    talk.client(&message(b'X', b""));
    talk.close();
    assert_eq!(
        told(&talk),
        [
            "8 c1 @7 SELECT a FROM t us=200 rows=2",
            "11 c1 @10 UPDATE t SET a = 1 us=100 rows=0 affected=3",
            "13 c1 @12 SELECT 1; SELECT 1/0 us=100 rows=1 error=22012",
            "15 command Empty query",
            "18 c1 closed",
        ]
    );
}

fn bind(statement: &str, value: &[u8]) -> Vec<u8> {
    let length = (value.len() as u32).to_be_bytes();
    let body = [b"\0", statement.as_bytes(), b"\0\0\x01\0\x01\0\x01", &length, value, b"\0\0"].concat();
    message(b'B', &body)
}

fn execute() -> Vec<u8> {
    message(b'E', b"\0\0\0\0\0")
}

fn sync() -> Vec<u8> {
    message(b'S', b"")
}

#[test]
fn prepared_statements_have_their_values() {
    let mut talk = logged_in(POSTGRES);
    let parse = message(b'P', b"s\0SELECT a FROM t WHERE b = $1\0\0\0");
    let describe = message(b'D', b"Ss\0");
    let described = [message(b't', b"\0\x01\0\0\0\x17"), message(b'n', b"")].concat();
    talk.exchange(&[parse, describe, sync()].concat(), &[message(b'1', b""), described, ready()].concat());
    let bound = message(b'2', b"");
    let answer = [bound.clone(), row(), complete("SELECT 1"), ready()].concat();
    talk.exchange(&[bind("s", &[0, 0, 0, 42]), execute(), sync()].concat(), &answer);
    let refused = [bound.clone(), error("22003"), ready()].concat();
    talk.exchange(&[bind("s", &[0, 0, 0, 43]), execute(), sync()].concat(), &refused);
    talk.exchange(&[bind("unknown", b"x"), execute(), sync()].concat(), &answer);
    assert_eq!(
        told(&talk),
        [
            "8 command Parse",
            "10 c1 @9 SELECT a FROM t WHERE b = $1 us=100 rows=1 [42]",
            "12 c1 @11 SELECT a FROM t WHERE b = $1 us=100 [43] error=22003",
            "14 command Execute without text",
        ]
    );
}

#[test]
fn a_pipeline_fails_up_to_its_sync() {
    let mut talk = logged_in(POSTGRES);
    let parse = |text: &str| message(b'P', &[b"\0", text.as_bytes(), b"\0\0\0"].concat());
    let none = message(b'B', b"\0\0\0\0\0\0\0\0");
    talk.client(&[parse("SELECT 1"), none.clone(), execute()].concat());
    talk.client(&[parse("nonsense"), none.clone(), execute()].concat());
    talk.client(&[sync(), parse("SELECT 3"), none, execute(), sync()].concat());
    let done = [message(b'1', b""), message(b'2', b""), row(), complete("SELECT 1")].concat();
    talk.server(&[done.clone(), error("42601"), ready()].concat());
    talk.server(&[done, ready()].concat());
    assert_eq!(
        told(&talk),
        [
            "8 command Parse",
            "8 c1 @7 SELECT 1 us=300 rows=1",
            "9 c1 @8 nonsense us=200 error=42601",
            "10 command Parse",
            "10 c1 @9 SELECT 3 us=200 rows=1",
        ]
    );
}

#[test]
fn rows_that_are_fetched_later_are_no_other_statement() {
    let mut talk = logged_in(POSTGRES);
    let parse = message(b'P', b"\0SELECT 1\0\0\0");
    let none = message(b'B', b"c\0\0\0\0\0\0\0\0");
    let some = message(b'E', b"c\0\0\0\0\x01");
    let flush = message(b'H', b"");
    let begun = [message(b'1', b""), message(b'2', b""), row(), message(b's', b"")].concat();
    talk.exchange(&[parse, none, some.clone(), flush].concat(), &begun);
    talk.exchange(&[some, sync()].concat(), &[row(), complete("SELECT 1"), ready()].concat());
    assert_eq!(told(&talk), ["8 command Parse", "8 c1 @7 SELECT 1 us=100 rows=1", "10 command Fetch"]);
}

#[test]
fn copied_rows_are_counted_and_passed_over() {
    let mut talk = logged_in(POSTGRES);
    talk.exchange(&query("COPY t FROM STDIN"), &message(b'G', &[0, 0, 0]));
    talk.client(&message(b'd', b"Q\0\0\0\x05\0"));
    talk.exchange(&message(b'c', b""), &[complete("COPY 2"), ready()].concat());
    let out = [message(b'H', &[0, 0, 0]), message(b'd', b"x\n"), message(b'c', b""), complete("COPY 1")];
    talk.exchange(&query("COPY t TO STDOUT"), &[out.concat(), ready()].concat());
    assert_eq!(
        told(&talk),
        ["8 c1 @7 COPY t FROM STDIN us=400 rows=0 affected=2", "13 c1 @12 COPY t TO STDOUT us=100 rows=1",]
    );
}

#[test]
fn encryption_is_told_once_and_its_refusal_is_not() {
    let request = first(&80_877_103_u32.to_be_bytes());
    let mut talk = Talk::open(POSTGRES);
    talk.exchange(&request, b"S");
    talk.exchange(b"\x16\x03\x01\0\x05hello", b"\x16\x03\x01\0\x05hello");
    assert_eq!(talk.told(), ["5 trouble encrypted"]);

    let mut talk = Talk::open(POSTGRES);
    talk.exchange(&request, b"N");
    talk.exchange(&login(), &[message(b'R', &[0; 4]), ready()].concat());
    assert_eq!(talk.told()[0], "7 c1 connected me shop");

    let mut direct = Talk::open(POSTGRES);
    direct.exchange(b"\x16\x03\x01\0\x05hello", b"\x16\x03\x01\0\x05hello");
    assert_eq!(direct.told(), ["4 trouble encrypted"]);
}

#[test]
fn a_refused_login_is_no_session() {
    let mut talk = Talk::open(POSTGRES);
    talk.exchange(&login(), &message(b'R', &[0, 0, 0, 3]));
    talk.exchange(&message(b'p', b"secret\0"), &error("28P01"));
    assert_eq!(talk.told(), ["7 command Connect"]);
}

#[test]
fn an_open_session_is_joined_at_a_request() {
    for port in [POSTGRES, 12_345] {
        let mut talk = Talk::joined(port);
        talk.server(&row()[3..]);
        talk.exchange(&query("SELECT 1"), &[row(), complete("SELECT 1"), ready()].concat());
        let told = told_as(Some(LogFormat::PcapPostgresql), &pcap(&talk.packets, usize::MAX));
        assert_eq!(told, ["2 c1 @1 SELECT 1 us=100 rows=1"], "port {port}");
    }
}
