//! However a conversation's bytes are split, the client reports the same events. No input makes the client panic.

use proptest::prelude::*;

use super::server::{
    Form, MORE, answer, column, error, greeting, more_data, numbered, ok, prepared, result, switch_to,
    text_result,
};
use crate::mysql::Connection;
use crate::testing::{LOGIN, Turn, hold, hold_however_split};
use crate::{Client as _, Login, Value};

/// A connection that may send the password, because it knows its server.
fn connection() -> Connection {
    Connection::new(Login { known: true, ..LOGIN() })
}

/// A conversation that contains every kind of packet.
fn conversation(form: Form) -> Vec<Turn<Connection>> {
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

#[test]
fn every_split_reads_the_same() {
    for form in [Form::Eof, Form::Ok] {
        let seen = hold_however_split(connection, &conversation(form));
        assert_eq!((seen.events.len(), seen.rows.len()), (8, 6));
    }
}

/// Generates either form of the protocol.
fn form() -> impl Strategy<Value = Form> {
    prop_oneof![Just(Form::Eof), Just(Form::Ok)]
}

/// Generates a complete packet of any kind, or arbitrary bytes.
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
        // The client detects only some of the changed bytes. It must never panic or hang.
        let _ = hold(connection(), &turns, |answer| answer.chunks(chunk).collect());
    }

    #[test]
    fn noise_does_no_harm(form in form(), commands in 0..8_usize, noise in prop::collection::vec(noise(), 1..20), chunk in 1..50_usize) {
        let mut turns = conversation(form);
        turns.truncate(commands + 1);
        turns[commands].1 = noise.concat();
        let _ = hold(connection(), &turns, |answer| answer.chunks(chunk).collect());
    }
}
