//! Recognises the protocol of a connection by its first bytes.

use super::session::Session;
use super::{mysql, postgres};
use crate::sql::Dialect;

/// The port that servers of a product listen on by default.
pub(super) fn default_port(dialect: Dialect) -> u16 {
    match dialect {
        Dialect::Mysql => 3306,
        Dialect::Postgresql => 5432,
    }
}

/// Bytes of one side of a connection whose protocol is not known.
pub(super) struct Seen<'a> {
    /// The bytes, from the start of a segment.
    pub(super) bytes: &'a [u8],
    /// Whether the client sent the bytes; `None` if it is not known which side is the client.
    pub(super) is_client: Option<bool>,
    /// Whether these are the first bytes of the connection.
    pub(super) has_begin: bool,
    pub(super) is_default_port: bool,
}

/// A recognised protocol.
pub(super) struct Recognised {
    pub(super) session: Box<dyn Session>,
    /// Whether the client sent the bytes.
    pub(super) is_client: bool,
}

/// Recognises a protocol. `None` if the bytes belong to another protocol, or do not show which protocol they belong to.
pub(super) fn recognise(dialect: Dialect, seen: &Seen<'_>) -> Option<Recognised> {
    let &Seen { bytes, is_client, has_begin, is_default_port } = seen;
    let may_be_client = is_client != Some(false);
    let may_be_server = is_client != Some(true);
    let is_mysql = dialect == Dialect::Mysql;
    let is_refusal = is_default_port && has_begin && mysql::is_refusal(bytes);
    // The first bytes of a connection are enough to recognise the protocol, whatever the port is.
    if is_mysql && may_be_server && (mysql::is_greeting(bytes) || is_refusal) {
        return Some(Recognised { session: Box::new(mysql::Session::from_begin()), is_client: false });
    }
    if !is_mysql && may_be_client && postgres::is_startup(bytes) {
        return Some(Recognised { session: Box::new(postgres::Session::from_begin()), is_client: true });
    }
    let joined = || -> Box<dyn Session> {
        if is_mysql { Box::new(mysql::Session::joined()) } else { Box::new(postgres::Session::joined()) }
    };
    if is_default_port {
        return is_client.map(|is_client| Recognised { session: joined(), is_client });
    }
    let is_request = if is_mysql { mysql::is_request(bytes) } else { postgres::is_request(bytes) };
    (!has_begin && may_be_client && is_request).then(|| Recognised { session: joined(), is_client: true })
}
