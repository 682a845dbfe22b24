//! The messages between a client and its caller.

/// How statements are sent (`pgbench --protocol`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// Statements are sent as text, in which the values of variables replace their names.
    Simple,
    /// Statements are parsed, bound and executed each time.
    Extended,
    /// Statements are prepared once, then bound and executed.
    Prepared,
}

impl Protocol {
    /// The protocol with this name, if there is one.
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "simple" => Some(Self::Simple),
            "extended" => Some(Self::Extended),
            "prepared" => Some(Self::Prepared),
            _ => None,
        }
    }
}

/// The settings of a client.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    pub protocol: Protocol,
    /// The seed of the whole run.
    pub seed: u64,
    /// The client's number, from 0: its `:client_id`.
    pub client: u32,
    /// Number of clients in the whole run.
    pub clients: u32,
    /// The value of `:scale`.
    pub scale: i64,
    /// How often a transaction is tried at most, including the first try. 0 means without limit.
    pub tries_max: u32,
    /// Whether the database's protocol has pipelines.
    pub has_pipelines: bool,
    /// Whether scripts may run programs in a shell.
    pub allows_shell: bool,
}

/// What the caller has to do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// Send [`Client::sql`].
    Query,
    /// Execute the statement with this number, whose text is [`Client::prepared_sql`], with [`Client::parameters`].
    Execute { statement: usize },
    /// Wait for `us` µs.
    Sleep { us: u64 },
    /// Run [`Client::shell_line`] in a shell, and pass the result to [`Client::shell_ran`].
    Shell,
    /// Begin a pipeline. With [`Protocol::Prepared`], first prepare the statements from `first` to below `end` that
    /// are not prepared yet, because a statement cannot be prepared inside a pipeline. [`Client::sql_of`] returns
    /// their texts.
    StartPipeline { first: usize, end: usize },
    /// Add the execution of the statement with this number to the pipeline, as with [`Step::Execute`].
    Pipe { statement: usize },
    /// Add a point of synchronization to the pipeline.
    Sync,
    /// Send the pipeline, and read its results.
    EndPipeline,
    /// The transaction has ended.
    End,
}

/// Which rows of a statement's results are stored in variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gather {
    Nothing,
    /// The one row of the last result is stored (`\gset`).
    Last,
    /// The last row of each result is stored (`\aset`).
    All,
}

/// A parameter of a statement.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Parameter<'a> {
    Null,
    Bool(bool),
    Int(i64),
    /// Written with 15 significant digits.
    Double(f64),
    Text(&'a [u8]),
}
