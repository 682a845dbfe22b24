//! Requests and replies between a running script and its host.

/// A connection of one task, numbered from 0 in the order in which the script opened them.
pub type ConnectionId = u32;

/// Number of a prepared statement of one connection. The host assigns it.
pub type StatementId = u32;

/// A value bound to a parameter of a prepared statement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Param<'a> {
    Null,
    Int(i64),
    Float(f64),
    /// Text, dates and times: the bytes of the script's own string.
    Text(&'a [u8]),
}

/// The type with which a parameter is declared when its statement is prepared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamType {
    /// A 64-bit integer. sysbench uses it for all its types of whole numbers.
    Int,
    /// A double-precision number. sysbench uses it for `FLOAT` and `DOUBLE`.
    Float,
    /// Text of any length. sysbench uses it for `CHAR` and `VARCHAR`.
    Text,
    /// The server infers the type. This is for dates and times, for which sysbench has no parameters.
    Inferred,
}

/// A part of a pipeline, which is a sequence of statements that are sent together.
#[derive(Clone, Copy, Debug)]
pub enum Piped<'a> {
    /// A prepared statement to execute.
    Execute { statement: StatementId, params: &'a [Param<'a>] },
    /// A statement to parse, bind and execute. Its placeholders are written `?`.
    Once { sql: &'a [u8], params: &'a [Param<'a>] },
    /// A point of synchronization. After an error in a statement, the server skips all statements up to this point.
    Sync,
}

/// A request of a script. The host executes it, then resumes the task with a [`Reply`].
#[derive(Debug)]
pub enum Request<'a> {
    /// Open a connection → [`Reply::Connected`].
    Connect,
    /// Close a connection → [`Reply::Done`].
    Disconnect { connection: ConnectionId },
    /// Close a connection and open it again; prepared statements are lost → [`Reply::Done`].
    Reconnect { connection: ConnectionId },
    /// Run a text query → [`Reply::Result`].
    Query { connection: ConnectionId, sql: &'a [u8] },
    /// Send a text query without waiting for its answer → [`Reply::Done`]. The connection's next request is
    /// [`Request::Receive`].
    Send { connection: ConnectionId, sql: &'a [u8] },
    /// Send a text query with the data that it reads (`COPY … FROM STDIN`), without waiting for its answer →
    /// [`Reply::Done`]. The connection's next request is [`Request::Receive`].
    Load { connection: ConnectionId, sql: &'a [u8], data: &'a [u8] },
    /// Wait for the answer to a sent query → [`Reply::Result`].
    Receive { connection: ConnectionId },
    /// Prepare a statement → [`Reply::Prepared`].
    Prepare {
        connection: ConnectionId,
        /// The statement's text, with placeholders written `?`.
        sql: &'a [u8],
        /// Types of the parameters, in order. Missing types are inferred.
        types: &'a [ParamType],
    },
    /// Execute a prepared statement → [`Reply::Result`].
    Execute {
        connection: ConnectionId,
        statement: StatementId,
        /// The values of the parameters, in order.
        params: &'a [Param<'a>],
    },
    /// Parse, bind and execute a statement, in one round trip if the protocol allows it → [`Reply::Result`].
    ExecuteOnce {
        connection: ConnectionId,
        /// The statement's text, with placeholders written `?`.
        sql: &'a [u8],
        /// The values of the parameters, in order.
        params: &'a [Param<'a>],
    },
    /// Add a part to a pipeline, which is sent later → [`Reply::Done`].
    Pipe { connection: ConnectionId, part: Piped<'a> },
    /// Send the pipeline → [`Reply::Result`] of its first statement. [`Request::NextResult`] reads the other
    /// results.
    RunPipeline { connection: ConnectionId },
    /// Close a prepared statement → [`Reply::Done`].
    CloseStatement { connection: ConnectionId, statement: StatementId },
    /// Read the next result of a multi-result query → [`Reply::Result`].
    NextResult { connection: ConnectionId },
    /// Let other tasks run for some time (`ffi.C.usleep`) → [`Reply::Done`].
    Sleep { us: u64 },
    /// A script's own `thread_run` requests the next event (`ffi.C.sb_more_events`) → [`Reply::Continue`]. The
    /// event lasts until the script counts it with [`Counter::Event`] (`ffi.C.sb_event_stop`).
    NextEvent,
}

/// The reply with which a task is resumed.
#[derive(Clone, Debug)]
pub enum Reply {
    /// The request is complete. This reply also starts an entry point.
    Done,
    Connected(ConnectionId),
    Prepared(StatementId),
    /// A statement was executed.
    Result {
        /// Whether the statement returned a result set, whose rows [`Host::next_row`] reads.
        has_rows: bool,
    },
    /// The server or the connection failed.
    Failed(SqlFailure),
    /// Whether there is another event to run.
    Continue(bool),
}

/// A failed request, in the form in which scripts get it (`sysbench.hooks.sql_error_ignorable`).
#[derive(Clone, Debug, Default)]
pub struct SqlFailure {
    /// The server's error number; 0 if there is none.
    pub errno: u32,
    /// SQLSTATE.
    pub state: String,
    pub message: String,
    /// Whether the options say that an error of this kind restarts the event.
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
    /// Rows sent by bulk inserts. This counter gives the rate at which tables are being filled. sysbench has no such
    /// counter.
    BulkRow,
}

/// Services of the host that do not wait.
pub trait Host {
    /// Number of rows of the connection's most recent result.
    fn row_count(&mut self, connection: ConnectionId) -> u64;
    /// Number of columns of the connection's most recent result.
    fn field_count(&mut self, connection: ConnectionId) -> u32;
    /// Names of the columns of the connection's most recent result.
    fn field_names(&mut self, connection: ConnectionId) -> Vec<String>;
    /// Reads the next row as text, NULL as `None`. Returns false after the last row.
    fn next_row(&mut self, connection: ConnectionId, fields: &mut Vec<Option<Vec<u8>>>) -> bool;
    /// Whether another result of the same query follows.
    fn more_results(&mut self, connection: ConnectionId) -> bool;
    /// Adds to a counter (`sb_counter_inc`, bulk inserts).
    fn count(&mut self, counter: Counter, n: u64);
    /// Prints a line of the script, given without its line feed.
    fn print(&mut self, line: &str);
    /// Ends the process with this exit status, after writing all output of scripts (`os.exit`). If it returns, the
    /// script continues.
    fn exit(&mut self, status: i32);
    /// Answers a request at once, for schedulers with one thread per task. It is never called if requests yield.
    fn call(&mut self, request: Request<'_>) -> Reply;
}
