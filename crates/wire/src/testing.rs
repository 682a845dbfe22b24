//! Conversations with servers whose bytes the test chooses. The tests of both protocols use this module.

use crate::{Client, Event, Login, ProtocolError};

pub(crate) const LOGIN: fn() -> Login =
    || Login { user: "user".into(), password: "pencil".into(), database: "db".into(), ..Login::default() };

/// Takes the client's pending output, and marks it as sent.
pub(crate) fn sent(connection: &mut impl Client) -> Vec<u8> {
    let bytes = connection.output().to_vec();
    connection.consume_output(bytes.len());
    bytes
}

/// Feeds bytes from the server and expects that the client accepts them.
pub(crate) fn hear(connection: &mut impl Client, bytes: &[u8]) -> Event {
    connection.receive(bytes);
    connection.advance().unwrap()
}

/// Feeds bytes from the server and expects that the client returns an error.
pub(crate) fn refusal(connection: &mut impl Client, bytes: &[u8]) -> String {
    connection.receive(bytes);
    connection.advance().unwrap_err().to_string()
}

/// The rows of the current result.
pub(crate) fn rows(connection: &mut impl Client) -> Vec<Vec<Option<String>>> {
    let mut fields = Vec::new();
    let mut rows = Vec::new();
    while connection.next_row(&mut fields) {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        rows.push(fields.drain(..).map(|field| field.map(text)).collect());
    }
    rows
}

/// A call of the client, and the server's answer to it.
pub(crate) type Turn<C> = (fn(&mut C), Vec<u8>);

/// Everything that a connection returns to its caller, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Seen {
    pub(crate) events: Vec<Event>,
    pub(crate) rows: Vec<Vec<Option<Vec<u8>>>>,
    names: Vec<String>,
}

impl Seen {
    /// Takes all available events.
    fn take(&mut self, connection: &mut impl Client) -> Result<(), ProtocolError> {
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

/// Runs a conversation. `split` divides the server's bytes into the parts that arrive.
pub(crate) fn hold<C: Client>(
    mut connection: C,
    turns: &[Turn<C>],
    mut split: impl FnMut(&[u8]) -> Vec<&[u8]>,
) -> Result<Seen, ProtocolError> {
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

/// Runs a conversation several times: with whole answers, byte by byte, and split at every position. Expects that
/// all runs give the same events.
pub(crate) fn hold_however_split<C: Client>(connect: impl Fn() -> C, turns: &[Turn<C>]) -> Seen {
    let whole = hold(connect(), turns, |answer| vec![answer]).unwrap();
    assert_eq!(hold(connect(), turns, |answer| answer.chunks(1).collect()).as_ref(), Ok(&whole));
    let longest = turns.iter().map(|(_, answer)| answer.len()).max().unwrap();
    for at in 1..longest {
        let halves = hold(connect(), turns, |answer| {
            let (before, after) = answer.split_at(at.min(answer.len()));
            vec![before, after]
        });
        assert_eq!(halves.as_ref(), Ok(&whole), "split at {at}");
    }
    whole
}
