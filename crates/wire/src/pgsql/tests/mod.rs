//! Conversations with servers that say exactly what a test wants.
//! How real servers behave is tested where connections have sockets.

mod command;
mod login;
mod prepared;
mod robustness;
mod scram;
mod server;

use super::Connection;
use crate::testing::{LOGIN, hear, refusal, rows, sent};
use crate::{Event, Summary};

/// A connection that is logged in, with nothing left to send.
fn logged_in() -> Connection {
    let mut connection = Connection::new(LOGIN());
    assert_eq!(hear(&mut connection, &server::welcome()), Event::Ready);
    sent(&mut connection);
    connection
}

/// A result set, complete.
fn result_set(rows: u64, fields: u32) -> Summary {
    Summary { rows, fields, ..Summary::default() }
}
