//! However a conversation's bytes are split, the client reports the same events. No input makes the client panic.

use proptest::prelude::*;

use super::server::{
    authentication, bound, closed, columns, complete, error, message, notice, parsed, ready, row, welcome,
};
use crate::pgsql::Connection;
use crate::testing::{LOGIN, Turn, hold, hold_however_split};
use crate::{Client as _, Value};

/// A conversation that contains every kind of message.
fn conversation() -> Vec<Turn<Connection>> {
    let set =
        || [columns(&["a", "b"]), row(&[Some("1"), None]), row(&[Some("x"), Some("")]), complete("SELECT 2")];
    let refused = || error("ERROR", "22012", "division by zero");
    let copied =
        [message(b'H', b"\0\0\0"), message(b'd', b"1\n"), message(b'c', b""), complete("COPY 1"), ready()];
    let results = [set().concat(), notice("WARNING"), complete("UPDATE 3"), refused(), ready()];
    vec![
        (|_| {}, [authentication(5, b"salt"), welcome()].concat()),
        (|connection| connection.query(b"SELECT 1; UPDATE t SET k = 1; SELECT 1/0"), results.concat()),
        (|connection| connection.prepare(b"SELECT ?"), [parsed(), columns(&["a", "b"]), ready()].concat()),
        (
            |connection| connection.execute(1, &[Value::Int(1)]),
            [&bound(), &set()[1..].concat(), &ready()].map(Vec::as_slice).concat(),
        ),
        (|connection| connection.execute(1, &[Value::Null]), [bound(), refused(), ready()].concat()),
        (|connection| connection.close_statement(1), closed()),
        (|connection| connection.query(b"COPY t TO STDOUT"), copied.concat()),
        (
            |connection| connection.query(b"COPY t FROM STDIN"),
            [message(b'G', b"\0\0\0"), refused(), ready()].concat(),
        ),
    ]
}

#[test]
fn every_split_reads_the_same() {
    let seen = hold_however_split(|| Connection::new(LOGIN()), &conversation());
    assert_eq!((seen.events.len(), seen.rows.len()), (9, 4));
}

/// Generates a complete message of any kind, or arbitrary bytes.
fn noise() -> impl Strategy<Value = Vec<u8>> {
    let bytes = || prop::collection::vec(any::<u8>(), 0..40);
    let tag = prop::sample::select(b"123ACDEGHIKNRSTWZcdnstv".as_slice());
    prop_oneof![4 => (tag, bytes()).prop_map(|(tag, body)| message(tag, &body)), 1 => bytes()]
}

proptest! {
    #[test]
    fn one_wrong_byte_does_no_harm(turn in 0..8_usize, place: prop::sample::Index, byte: u8, chunk in 1..50_usize) {
        let mut turns = conversation();
        let answer = &mut turns[turn].1;
        *place.get_mut(answer) = byte;
        // The client detects only some of the changed bytes. It must never panic or hang.
        let _ = hold(Connection::new(LOGIN()), &turns, |answer| answer.chunks(chunk).collect());
    }

    #[test]
    fn noise_does_no_harm(commands in 0..8_usize, noise in prop::collection::vec(noise(), 1..20), chunk in 1..50_usize) {
        let mut turns = conversation();
        turns.truncate(commands + 1);
        turns[commands].1 = noise.concat();
        let _ = hold(Connection::new(LOGIN()), &turns, |answer| answer.chunks(chunk).collect());
    }
}
