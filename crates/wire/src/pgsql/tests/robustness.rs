//! Any split of a conversation reads the same, and no bytes at all make the client panic.

use proptest::prelude::*;

use super::LOGIN;
use super::server::{
    authentication, bound, closed, columns, complete, error, message, notice, parsed, ready, row, welcome,
};
use crate::pgsql::Connection;
use crate::{Client as _, Event, ProtocolError, Value};

/// What the client does next, and what the server says then.
type Turn = (fn(&mut Connection), Vec<u8>);

/// A conversation with something of everything.
fn conversation() -> Vec<Turn> {
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
    let turns = conversation();
    let whole = hold(&turns, |answer| vec![answer]).unwrap();
    assert_eq!((whole.events.len(), whole.rows.len()), (9, 4));

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

/// A whole message of any kind, or just bytes.
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
        // Whether it is noticed depends on the byte; that nothing panics and nothing hangs does not.
        let _ = hold(&turns, |answer| answer.chunks(chunk).collect());
    }

    #[test]
    fn noise_does_no_harm(commands in 0..8_usize, noise in prop::collection::vec(noise(), 1..20), chunk in 1..50_usize) {
        let mut turns = conversation();
        turns.truncate(commands + 1);
        turns[commands].1 = noise.concat();
        let _ = hold(&turns, |answer| answer.chunks(chunk).collect());
    }
}
