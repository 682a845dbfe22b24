//! Conversations with servers that say exactly what a test wants.
//! How real servers behave is tested where connections have sockets.

mod command;
mod login;
mod prepared;
mod robustness;
mod server;

use super::Connection;
use crate::testing::{LOGIN, hear, refusal, rows, sent};
use crate::{Event, Summary};

/// A connection that is logged in, with nothing left to send.
fn logged_in(form: server::Form) -> Connection {
    let mut connection = Connection::new(LOGIN());
    assert_eq!(hear(&mut connection, &server::greeting(form, "mysql_native_password")), Event::NeedInput);
    assert_eq!(hear(&mut connection, &server::numbered(2, &[server::ok(0, 0)])), Event::Ready);
    sent(&mut connection);
    connection
}

/// A result set, complete.
fn result_set(rows: u64, fields: u32) -> Event {
    Event::Done(Summary { rows, fields, ..Summary::default() })
}
