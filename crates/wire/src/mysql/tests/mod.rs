//! Conversations with servers that say exactly what a test wants.
//! How real servers behave is tested where connections have sockets.

mod command;
mod login;
mod prepared;
mod robustness;
mod server;

use super::Connection;
use crate::{Client as _, Event, Login, Summary};

const LOGIN: fn() -> Login =
    || Login { user: "user".into(), password: "pencil".into(), database: "db".into(), ..Login::default() };

/// What the client wants to send.
fn sent(connection: &mut Connection) -> Vec<u8> {
    let bytes = connection.output().to_vec();
    connection.consume_output(bytes.len());
    bytes
}

/// Feeds what the server says and expects that the client keeps to the protocol.
fn hear(connection: &mut Connection, bytes: &[u8]) -> Event {
    connection.receive(bytes);
    connection.advance().unwrap()
}

/// Feeds what the server says and expects that the client refuses it.
fn refusal(connection: &mut Connection, bytes: &[u8]) -> String {
    connection.receive(bytes);
    connection.advance().unwrap_err().to_string()
}

/// A connection that is logged in, with nothing left to send.
fn logged_in(form: server::Form) -> Connection {
    let mut connection = Connection::new(LOGIN());
    assert_eq!(hear(&mut connection, &server::greeting(form, "mysql_native_password")), Event::NeedInput);
    assert_eq!(hear(&mut connection, &server::numbered(2, &[server::ok(0, 0)])), Event::Ready);
    sent(&mut connection);
    connection
}

/// The rows of the current result.
fn rows(connection: &mut Connection) -> Vec<Vec<Option<String>>> {
    let mut fields = Vec::new();
    let mut rows = Vec::new();
    while connection.next_row(&mut fields) {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        rows.push(fields.drain(..).map(|field| field.map(text)).collect());
    }
    rows
}

/// A result set, complete.
fn result_set(rows: u64, fields: u32) -> Event {
    Event::Done(Summary { rows, fields, ..Summary::default() })
}
