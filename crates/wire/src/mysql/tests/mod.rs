//! Conversations with servers whose bytes the test chooses. Tests of real servers are in the crates that have
//! sockets.

mod command;
mod login;
mod metadata;
mod prepared;
mod robustness;
mod server;

use super::Connection;
use crate::testing::{LOGIN, hear, refusal, rows, sent};
use crate::{Event, Summary};

/// A logged-in connection with no pending output.
fn logged_in(form: server::Form) -> Connection {
    let mut connection = Connection::new(LOGIN());
    assert_eq!(hear(&mut connection, &server::greeting(form, "mysql_native_password")), Event::NeedInput);
    assert_eq!(hear(&mut connection, &server::numbered(2, &[server::ok(0, 0)])), Event::Ready);
    sent(&mut connection);
    connection
}

/// The event of a complete result set.
fn result_set(rows: u64, fields: u32) -> Event {
    Event::Done(Summary { rows, fields, ..Summary::default() })
}
