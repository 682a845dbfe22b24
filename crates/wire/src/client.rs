//! What both protocols have in common: a connection as a state machine that is fed bytes and asked for events.

use crate::error::ProtocolError;

/// How a connection logs in. Passwords never appear in `Debug` output.
#[derive(Clone, Default)]
pub struct Login {
    pub user: String,
    /// Password in clear; empty means none.
    pub password: String,
    /// Database to use from the start; empty means none.
    pub database: String,
    /// What to do about TLS.
    pub tls: TlsMode,
    /// Whether the transport is a unix socket, over which a clear password may be sent.
    pub local: bool,
}

/// Whether a connection is to be encrypted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TlsMode {
    /// Never ask for TLS.
    #[default]
    Disabled,
    /// TLS where the server offers it.
    Preferred,
    /// Fail where the server does not offer TLS.
    Required,
}

/// A number for a statement the server has prepared, unique in its connection.
pub type StatementId = u32;

/// One parameter of a prepared statement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    /// SQL NULL.
    Null,
    Int(i64),
    /// A floating point number.
    Float(f64),
    Bytes(&'a [u8]),
}

/// What a connection came to after [`Client::advance`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// More bytes from the server are needed.
    NeedInput,
    /// Send the output, make the transport TLS, then call [`Client::tls_established`].
    StartTls,
    /// Logged in; commands may be sent.
    Ready,
    /// A statement is prepared.
    Prepared(StatementId),
    /// One result is complete.
    Done(Summary),
    /// The server refused: at login or in answer to a command. The connection goes on after a command.
    Failed(ServerError),
}

/// A complete result, in numbers. Its rows are read with [`Client::next_row`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Rows that a statement changed (0 for a result set).
    pub affected_rows: u64,
    /// The result set's rows.
    pub rows: u64,
    /// The result set's columns; 0 means that the statement gave no result set.
    pub fields: u32,
    /// Warnings that the server counted.
    pub warnings: u16,
    /// Another result of the same command follows: call [`Client::next_result`].
    pub more: bool,
}

/// What the server says was wrong.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ServerError {
    /// MySQL's error number; 0 with PostgreSQL.
    pub code: u16,
    pub state: String,
    pub message: String,
}

/// One connection's side of a protocol, without a socket: the caller moves the bytes.
///
/// A command is started by `query`, `prepare` or `execute`; then send [`output`](Client::output), feed what
/// arrives to [`receive`](Client::receive), and call [`advance`](Client::advance) until it gives something
/// other than [`Event::NeedInput`]. One command at a time.
pub trait Client: Send {
    /// Bytes to send now.
    fn output(&self) -> &[u8];
    /// Notes that the first `sent_bytes` of the output went out.
    fn consume_output(&mut self, sent_bytes: usize);
    /// Takes bytes that arrived from the server, any split.
    fn receive(&mut self, bytes: &[u8]);
    /// Parses what has arrived, as far as the next event.
    ///
    /// # Errors
    /// A server that breaks the protocol; the connection must then be dropped.
    fn advance(&mut self) -> Result<Event, ProtocolError>;
    /// Notes that the transport is encrypted from here on.
    fn tls_established(&mut self);
    /// Starts a text query (several statements where the server allows it).
    fn query(&mut self, sql: &[u8]);
    /// Starts preparing a statement; parameters are written `?`.
    fn prepare(&mut self, sql: &[u8]);
    /// Starts executing a prepared statement.
    fn execute(&mut self, statement: StatementId, params: &[Value<'_>]);
    /// Forgets a prepared statement. Queued with the next command; the server does not answer.
    fn close_statement(&mut self, statement: StatementId);
    /// Goes on to the next result of the same command, after a [`Summary::more`].
    fn next_result(&mut self);
    /// Queues the goodbye of a polite disconnect.
    fn quit(&mut self);
    /// Reads the next row of the last result as text, NULL as `None`; false when there are no more.
    /// `fields` is cleared first. Binary results are given as the server would print them.
    fn next_row(&mut self, fields: &mut Vec<Option<Vec<u8>>>) -> bool;
    /// Names of the last result's columns.
    fn field_names(&self) -> Vec<String>;
    /// The server's version as it gave it at login; empty before.
    fn server_version(&self) -> &str;
}
