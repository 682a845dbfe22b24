//! Any split of a conversation reads the same, and no bytes at all make the client panic.

use proptest::prelude::*;

use super::LOGIN;
use super::server::{
    Form, MORE, answer, column, error, greeting, more_data, numbered, ok, prepared, result, switch_to,
    text_result,
};
use crate::mysql::Connection;
use crate::{Client as _, Event, ProtocolError, Value};

/// What the client does next, and what the server says then.
type Turn = (fn(&mut Connection), Vec<u8>);

/// A conversation with something of everything.
fn conversation(form: Form) -> Vec<Turn> {
    let text = |status| text_result(form, &["a", "b"], &[&[Some("1"), None], &[Some(""), Some("x")]], status);
    let login = [
        greeting(form, "caching_sha2_password"),
        numbered(2, &[more_data(&[4])]),
        numbered(4, &[switch_to("mysql_native_password", b"12345678901234567890")]),
        numbered(6, &[ok(0, 2)]),
    ];
    let columns =
        [column("n", 3, 0, 0), column("d", 5, 0, 31), column("t", 12, 0, 6), column("s", 253, 0, 0)];
    let values = [&[0, 0, 5, 0, 0, 0][..], &2.5_f64.to_le_bytes(), &[4, 0xEA, 7, 1, 2], b"\x02ab"].concat();
    let binary = result(form, &columns, &[values, vec![0, 0b0011_1100]], 2);
    vec![
        (|_| {}, login.concat()),
        (|connection| connection.query(b"SELECT; UPDATE"), answer(&[text(MORE), vec![ok(3, 2)]].concat())),
        (|connection| connection.prepare(b"SELECT ?"), answer(&prepared(form, 1, 1, 4))),
        (|connection| connection.execute(0, &[Value::Int(1)]), answer(&binary)),
        (|connection| connection.execute(0, &[Value::Null]), answer(&[error(1205, "HY000", "Lock wait")])),
        (
            |connection| connection.query(b"LOAD"),
            [answer(&[b"\xFBfile".to_vec()]), numbered(3, &[ok(0, 2)])].concat(),
        ),
        (|connection| connection.close_statement(0), vec![]),
        (|connection| connection.query(b"SELECT"), answer(&text(2))),
    ]
}

/// All that a caller gets to see of a connection, in order.
#[derive(Clone, Debug, Default, PartialEq)]
struct Seen {
    events: Vec<Event>,
    rows: Vec<Vec<Option<Vec<u8>>>>,
    names: Vec<String>,
}

impl Seen {
    /// Takes all events that are there.
    fn take(&mut self, connection: &mut Connection) -> Result<(), ProtocolError> {
        loop {
            let event = connection.advance()?;
            let more = match &event {
                Event::NeedInput => return Ok(()),
                Event::Done(summary) => summary.more,
                _ => false,
            };
            self.events.push(event);
            self.names.extend(connection.field_names());
            let mut fields = Vec::new();
            while connection.next_row(&mut fields) {
                self.rows.push(fields.clone());
            }
            if more {
                connection.next_result();
            }
        }
    }
}

/// Holds a conversation in which the server's bytes arrive cut up by `split`.
fn hold(turns: &[Turn], mut split: impl FnMut(&[u8]) -> Vec<&[u8]>) -> Result<Seen, ProtocolError> {
    let mut connection = Connection::new(LOGIN());
    let mut seen = Seen::default();
    for (act, answer) in turns {
        act(&mut connection);
        for bytes in split(answer) {
            connection.receive(bytes);
            seen.take(&mut connection)?;
        }
    }
    Ok(seen)
}

#[test]
fn every_split_reads_the_same() {
    for form in [Form::Eof, Form::Ok] {
        let turns = conversation(form);
        let whole = hold(&turns, |answer| vec![answer]).unwrap();
        assert_eq!((whole.events.len(), whole.rows.len()), (8, 6));

        assert_eq!(hold(&turns, |answer| answer.chunks(1).collect()).as_ref(), Ok(&whole));
        let longest = turns.iter().map(|(_, answer)| answer.len()).max().unwrap();
        for at in 1..longest {
            let halves = hold(&turns, |answer| {
                let (before, after) = answer.split_at(at.min(answer.len()));
                vec![before, after]
            });
            assert_eq!(halves.as_ref(), Ok(&whole), "split at {at}");
        }
    }
}

/// A form of the protocol.
fn form() -> impl Strategy<Value = Form> {
    prop_oneof![Just(Form::Eof), Just(Form::Ok)]
}

/// A whole packet of any kind, or just bytes.
fn noise() -> impl Strategy<Value = Vec<u8>> {
    let bytes = || prop::collection::vec(any::<u8>(), 0..40);
    let first = prop::sample::select(b"\x00\x01\x02\x03\x04\x0A\xFB\xFC\xFE\xFF".as_slice());
    let packet = (1..4_u8, first, bytes())
        .prop_map(|(number, first, rest)| numbered(number, &[[vec![first], rest].concat()]));
    prop_oneof![4 => packet, 1 => bytes()]
}

proptest! {
    #[test]
    fn one_wrong_byte_does_no_harm(form in form(), turn in 0..6_usize, place: prop::sample::Index, byte: u8, chunk in 1..50_usize) {
        let mut turns = conversation(form);
        *place.get_mut(&mut turns[turn].1) = byte;
        // Whether it is noticed depends on the byte; that nothing panics and nothing hangs does not.
        let _ = hold(&turns, |answer| answer.chunks(chunk).collect());
    }

    #[test]
    fn noise_does_no_harm(form in form(), commands in 0..8_usize, noise in prop::collection::vec(noise(), 1..20), chunk in 1..50_usize) {
        let mut turns = conversation(form);
        turns.truncate(commands + 1);
        turns[commands].1 = noise.concat();
        let _ = hold(&turns, |answer| answer.chunks(chunk).collect());
    }
}
