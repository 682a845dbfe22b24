//! Requests and replies between a running script and its host.

/// A connection of one task, numbered from 0 in the order in which the script opened them.
pub type ConnectionId = u32;

/// A prepared statement of one connection, as the host numbers it.
pub type StatementId = u32;

/// A value bound to a parameter of a prepared statement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Param<'a> {
    /// SQL NULL.
    Null,
    Int(i64),
    /// A floating point number.
    Float(f64),
    /// Text, dates and times: the bytes of the script's own string.
    Text(&'a [u8]),
}

/// A request of a script. The host executes it, then resumes the task with a [`Reply`].
#[derive(Debug)]
pub enum Request<'a> {
    /// Open a connection → [`Reply::Connected`].
    Connect,
    /// Close a connection → [`Reply::Done`].
    Disconnect { connection: ConnectionId },
    /// Close and open again, statements forgotten → [`Reply::Done`].
    Reconnect { connection: ConnectionId },
    /// Run a text query → [`Reply::Result`].
    Query { connection: ConnectionId, sql: &'a [u8] },
    /// Send a text query and go on → [`Reply::Done`]. [`Request::Receive`] is the next that the connection is
    /// asked for.
    Send { connection: ConnectionId, sql: &'a [u8] },
    /// Wait for the answer to what was sent → [`Reply::Result`].
    Receive { connection: ConnectionId },
    /// Prepare a statement → [`Reply::Prepared`].
    Prepare {
        connection: ConnectionId,
        /// The statement's text, parameters written `?`.
        sql: &'a [u8],
    },
    /// Execute a prepared statement → [`Reply::Result`].
    Execute {
        connection: ConnectionId,
        statement: StatementId,
        /// Its parameters, in order.
        params: &'a [Param<'a>],
    },
    /// Forget a prepared statement → [`Reply::Done`].
    CloseStatement { connection: ConnectionId, statement: StatementId },
    /// Go on to the next result of a multi-result query → [`Reply::Result`].
    NextResult { connection: ConnectionId },
    /// Let others run for a while (`ffi.C.usleep`) → [`Reply::Done`].
    Sleep { us: u64 },
    /// A script's own `thread_run` asks for the next event (`ffi.C.sb_more_events`) → [`Reply::Continue`].
    /// The event then lasts until the script counts it with [`Counter::Event`] (`ffi.C.sb_event_stop`).
    NextEvent,
}

/// The answer that a task is resumed with.
#[derive(Clone, Debug)]
pub enum Reply {
    /// Done. Also starts an entry point.
    Done,
    /// The connection that was opened.
    Connected(ConnectionId),
    /// The statement that was prepared.
    Prepared(StatementId),
    /// A statement was executed.
    Result {
        /// It gave a result set, whose rows [`Host::next_row`] reads.
        has_rows: bool,
    },
    /// The server, or the way to it, failed.
    Failed(SqlFailure),
    /// Whether there is another event to run.
    Continue(bool),
}

/// A failed request, as scripts see it (`sysbench.hooks.sql_error_ignorable`).
#[derive(Clone, Debug, Default)]
pub struct SqlFailure {
    /// The server's error number; 0 where it has none.
    pub errno: u32,
    /// SQLSTATE.
    pub state: String,
    pub message: String,
    /// The options say that an error of this kind restarts the event.
    pub ignorable: bool,
}

/// sysbench's counters (`SB_CNT_*`), in its order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Counter {
    /// Queries that neither read nor write rows.
    Other,
    /// Queries that read.
    Read,
    /// Queries that write.
    Write,
    /// Transactions (events).
    Event,
    /// Ignored errors.
    Error,
    Reconnect,
    /// Bytes read (for scripts' own use).
    BytesRead,
    /// Bytes written (for scripts' own use).
    BytesWritten,
    /// Rows sent by bulk inserts; not in sysbench, it makes the rate of a load known while it runs.
    BulkRow,
}

/// Services of the host that do not wait.
pub trait Host {
    /// Rows of the connection's last result.
    fn row_count(&mut self, connection: ConnectionId) -> u64;
    /// Columns of the connection's last result.
    fn field_count(&mut self, connection: ConnectionId) -> u32;
    /// Reads the next row as text, NULL as `None`; false when there are no more.
    fn next_row(&mut self, connection: ConnectionId, fields: &mut Vec<Option<Vec<u8>>>) -> bool;
    /// Whether another result of the same query follows.
    fn more_results(&mut self, connection: ConnectionId) -> bool;
    /// Adds to a counter (`sb_counter_inc`, bulk inserts).
    fn count(&mut self, counter: Counter, n: u64);
    /// A line that the script printed, without its line feed.
    fn print(&mut self, line: &str);
    /// Ends the process with this exit status, once all that scripts have printed is out (`os.exit`). Where it
    /// comes back the script goes on.
    fn exit(&mut self, status: i32);
    /// Answers a request at once, for schedulers that give a task a thread of its own. Never called where
    /// requests yield.
    fn call(&mut self, request: Request<'_>) -> Reply;
}
