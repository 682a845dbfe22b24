//! The interface that both protocols implement: a connection is a state machine that takes bytes and returns
//! events.

use serde::{Deserialize, Serialize};

use crate::error::ProtocolError;

/// Credentials and options of a login. `Debug` output never contains the password.
#[derive(Clone, Default)]
pub struct Login {
    pub user: String,
    /// Password in clear text; empty for no password.
    pub password: String,
    /// Database to select at login; empty for no database.
    pub database: String,
    pub tls: TlsMode,
    /// Whether the transport is a unix socket.
    pub local: bool,
    /// Whether the server's identity is known: it is reached over the loopback interface, or the transport
    /// requires a verified certificate. A server behind a unix socket is always known.
    pub known: bool,
    /// What may be sent to a server whose identity is not known.
    pub trust: Trust,
    pub metadata: Metadata,
}

impl Login {
    /// Whether the password may be sent to the server.
    pub(crate) fn is_known(&self) -> bool {
        self.local || self.known
    }
}

/// What a login may send to a server that has not proven its identity. By default a login sends only proofs (hashes
/// of the password and of a random number), never the password. The names are those of the options of MySQL's and
/// PostgreSQL's own clients.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Trust {
    /// The RSA key (PEM) of a MySQL server, known beforehand (`server-public-key-path`).
    /// `caching_sha2_password` and `sha256_password` encrypt the password with it, so that only the key's
    /// owner can read it. It is used only without TLS, because over TLS these plugins send the password
    /// unencrypted.
    pub public_key: Option<String>,
    /// Whether `caching_sha2_password` and `sha256_password` send the password to an unknown server
    /// (`get-server-public-key`): encrypted with the key that the server sends, or over TLS without verification.
    /// Listeners cannot read it, but an impostor can.
    pub takes_public_key: bool,
    /// Whether `mysql_clear_password` sends the password to an unknown server (`enable-cleartext-plugin`). Without
    /// TLS, listeners can read it too.
    pub sends_clear_text: bool,
    /// The methods by which a PostgreSQL server may request a proof (`require_auth`). If the list is empty, all
    /// methods are permitted, but [`Password`](PgsqlMethod::Password) only with known servers.
    pub methods: Vec<PgsqlMethod>,
}

/// A method of authentication of PostgreSQL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PgsqlMethod {
    /// The password in clear text.
    Password,
    Md5,
    ScramSha256,
    /// The server accepts everybody.
    None,
}

impl PgsqlMethod {
    /// All methods, with the names that libpq's `require_auth` gives them.
    pub const ALL: [(Self, &str); 4] = [
        (Self::Password, "password"),
        (Self::Md5, "md5"),
        (Self::ScramSha256, "scram-sha-256"),
        (Self::None, "none"),
    ];

    /// Parses a list in the form of `require_auth`: names separated by commas.
    ///
    /// # Errors
    /// A word is not the name of a method. The error is the first such word.
    pub fn list(text: &str) -> Result<Vec<Self>, String> {
        let known = |word: &str| Self::ALL.into_iter().find(|(_, name)| *name == word);
        let find = |word: &str| known(word).map(|(method, _)| method).ok_or_else(|| word.to_owned());
        text.split(',').map(str::trim).filter(|word| !word.is_empty()).map(find).collect()
    }
}

/// Whether a MySQL server sends descriptions of the columns with each result. PostgreSQL always describes the
/// columns once for each prepared statement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Metadata {
    /// Each result contains the descriptions.
    #[default]
    Full,
    /// The server leaves out descriptions where it can. MariaDB sends the descriptions of a prepared statement once
    /// (`MARIADB_CLIENT_CACHE_METADATA`, since 10.6). MySQL sends none (`resultset_metadata`, since 8.0.3). Names
    /// of columns are then empty, and rows of prepared statements cannot be read. The login fails if the server
    /// supports neither option.
    Spared,
}

/// Whether a connection is encrypted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TlsMode {
    /// Never request TLS.
    #[default]
    Disabled,
    /// Use TLS if the server offers it.
    Preferred,
    /// Fail if the server does not offer TLS.
    Required,
}

/// Number of a prepared statement, unique within its connection.
pub type StatementId = u32;

/// One parameter of a prepared statement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value<'a> {
    Null,
    Int(i64),
    Float(f64),
    Bytes(&'a [u8]),
}

/// A part of a pipeline, which is a sequence of statements that are sent together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Piped<'a> {
    /// A prepared statement to execute.
    Execute { statement: StatementId, params: &'a [Value<'a>] },
    /// A statement to parse, bind and execute. Its placeholders are written `?`.
    Once { sql: &'a [u8], params: &'a [Value<'a>] },
    /// A point of synchronization. After an error in a statement, the server skips all statements up to this point.
    Sync,
}

/// Result of [`Client::advance`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// More bytes from the server are needed.
    NeedInput,
    /// The caller must send the output, start TLS on the transport, then call [`Client::tls_established`].
    StartTls,
    /// The login is complete; commands may be sent.
    Ready,
    /// A statement is prepared.
    Prepared(StatementId),
    /// One result is complete.
    Done(Summary),
    /// The server refused the login or a command. After a refused command the connection stays usable.
    Failed(ServerError),
}

/// Counts of a complete result. [`Client::next_row`] reads its rows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Rows that a statement changed; 0 for a result set.
    pub affected_rows: u64,
    /// Rows of the result set.
    pub rows: u64,
    /// Columns of the result set; 0 if the statement returned none.
    pub fields: u32,
    /// Warnings that the server reported.
    pub warnings: u16,
    /// Whether another result of the same command follows. If so, call [`Client::next_result`].
    pub more: bool,
}

/// An error that the server sent.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ServerError {
    /// MySQL's error number; 0 for PostgreSQL.
    pub code: u16,
    pub state: String,
    pub message: String,
}

/// Client side of a connection's protocol. It has no socket: the caller sends and receives the bytes.
///
/// `query`, `prepare` or `execute` starts a command. The caller then sends [`output`](Client::output), passes the
/// bytes that arrive to [`receive`](Client::receive), and calls [`advance`](Client::advance) until it returns
/// something other than [`Event::NeedInput`]. Only one command runs at a time.
pub trait Client: Send {
    /// Bytes to send now.
    fn output(&self) -> &[u8];
    /// Marks the first `sent_bytes` of the output as sent.
    fn consume_output(&mut self, sent_bytes: usize);
    /// Takes bytes from the server. They may be split anywhere.
    fn receive(&mut self, bytes: &[u8]);
    /// Parses the bytes that have arrived, up to the next event.
    ///
    /// # Errors
    /// The server broke the protocol. The caller must then drop the connection.
    fn advance(&mut self) -> Result<Event, ProtocolError>;
    /// Marks the transport as encrypted.
    fn tls_established(&mut self);
    /// Starts a text query. It may contain several statements if the server allows it.
    fn query(&mut self, sql: &[u8]);
    /// Starts a text query that reads data from the client, as `COPY … FROM STDIN` and `LOAD DATA LOCAL INFILE` do. The
    /// server gets `data` when it requests data.
    fn load(&mut self, sql: &[u8], data: &[u8]);
    /// Starts preparing a statement. Its placeholders are written `?`.
    fn prepare(&mut self, sql: &[u8]) {
        self.prepare_typed(sql, &[]);
    }
    /// Starts preparing a statement, as [`prepare`](Self::prepare) does, with the types of its parameters. The
    /// types are object ids of `pg_type`. PostgreSQL infers a type that is 0 or missing. MySQL ignores `types` and
    /// infers all types.
    fn prepare_typed(&mut self, sql: &[u8], types: &[u32]);
    /// Starts executing a prepared statement.
    fn execute(&mut self, statement: StatementId, params: &[Value<'_>]);
    /// Starts executing a statement once: it is parsed, bound and executed in one round trip. Its placeholders are
    /// written `?`. Returns false, and starts nothing, if the protocol has no such command. MySQL's protocol has
    /// none.
    fn execute_once(&mut self, _sql: &[u8], _params: &[Value<'_>]) -> bool {
        false
    }
    /// Adds a part to the pipeline that [`run_pipeline`](Self::run_pipeline) sends. No statement may be prepared
    /// between this call and that one. Returns false, and adds nothing, if the protocol has no pipelines. MySQL's
    /// protocol has none.
    fn pipe(&mut self, _part: Piped<'_>) -> bool {
        false
    }
    /// Starts the pipeline. Its parts are sent together, with a point of synchronization at the end. Each statement
    /// has a result. After [`Summary::more`], [`next_result`](Self::next_result) starts reading the next result. If
    /// a statement fails, the results before it are returned first. Then the pipeline fails, and no other results
    /// are returned.
    fn run_pipeline(&mut self) {}
    /// Closes a prepared statement. The message is sent with the next command; the server does not answer it.
    fn close_statement(&mut self, statement: StatementId);
    /// Starts reading the next result of the same command. [`Summary::more`] says whether there is one.
    fn next_result(&mut self);
    /// Queues the message that ends the session.
    fn quit(&mut self);
    /// Reads the next row of the current result into `fields`, as text. NULL is `None`. Clears `fields` first.
    /// Returns false after the last row. Binary values are formatted as the server would print them.
    fn next_row(&mut self, fields: &mut Vec<Option<Vec<u8>>>) -> bool;
    /// Names of the current result's columns.
    fn field_names(&self) -> Vec<String>;
    /// The statement that the caller must execute first after the login, because an option of the login needs it.
    /// `None` if no option needs a statement.
    fn first_statement(&self) -> Option<&'static str> {
        None
    }
    /// Version that the server sent at login; empty before the login.
    fn server_version(&self) -> &str;
}
