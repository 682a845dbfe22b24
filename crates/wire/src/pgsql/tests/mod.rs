//! Conversations with servers whose bytes the test chooses. Tests of real servers are in the crates that have
//! sockets.

mod command;
mod login;
mod prepared;
mod robustness;
mod scram;
mod server;

use super::Connection;
use crate::testing::{LOGIN, hear, refusal, rows, sent};
use crate::{Event, Summary};

/// A logged-in connection with no pending output.
fn logged_in() -> Connection {
    let mut connection = Connection::new(LOGIN());
    assert_eq!(hear(&mut connection, &server::welcome()), Event::Ready);
    sent(&mut connection);
    connection
}

/// The summary of a complete result set.
fn result_set(rows: u64, fields: u32) -> Summary {
    Summary { rows, fields, ..Summary::default() }
}
