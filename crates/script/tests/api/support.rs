//! A test bench for scripts. It runs them, answers their requests and records their output.

use std::collections::VecDeque;

use dyno_script::{
    Config, ConnectionId, Counter, Entry, Host, Progress, Reply, Request, Runtime, ScriptError, SqlFailure,
    TaskId,
};

/// A host that answers each request with the next of its replies, or with a default when there are none.
#[derive(Default)]
pub(crate) struct Answers {
    pub(crate) replies: VecDeque<Reply>,
    pub(crate) rows: VecDeque<Vec<Option<&'static str>>>,
    /// Names of the columns of every result.
    pub(crate) names: Vec<&'static str>,
    pub(crate) asked: Vec<String>,
    pub(crate) printed: Vec<String>,
    pub(crate) counted: Vec<(Counter, u64)>,
    /// The exit status that the script requested.
    pub(crate) exited: Option<i32>,
    connections: u32,
    statements: u32,
}

impl Answers {
    /// Records a request and returns its reply.
    fn answer(&mut self, request: &Request<'_>) -> Reply {
        self.asked.push(describe(request));
        if let Some(reply) = self.replies.pop_front() {
            return reply;
        }
        match request {
            Request::Connect => {
                self.connections += 1;
                Reply::Connected(self.connections - 1)
            }
            Request::Prepare { .. } => {
                self.statements += 1;
                Reply::Prepared(self.statements)
            }
            Request::Query { sql, .. } => Reply::Result { has_rows: sql.starts_with(b"SELECT") },
            Request::Receive { .. } => Reply::Result { has_rows: false },
            Request::Execute { .. } | Request::NextResult { .. } => Reply::Result { has_rows: true },
            Request::NextEvent => Reply::Continue(false),
            _ => Reply::Done,
        }
    }
}

fn describe(request: &Request<'_>) -> String {
    match request {
        Request::Query { connection, sql } => format!("query {connection}: {}", String::from_utf8_lossy(sql)),
        Request::Prepare { connection, sql, types } => {
            let types = if types.is_empty() { String::new() } else { format!(" {types:?}") };
            format!("prepare {connection}: {}{types}", String::from_utf8_lossy(sql))
        }
        Request::Send { connection, sql } => {
            format!("send {connection}: {}", String::from_utf8_lossy(sql))
        }
        Request::Load { connection, sql, data } => {
            let [sql, data] = [sql, data].map(|bytes| String::from_utf8_lossy(bytes));
            format!("load {connection}: {sql}<- {data}")
        }
        other => format!("{other:?}"),
    }
}

impl Host for Answers {
    fn row_count(&mut self, _: ConnectionId) -> u64 {
        self.rows.len() as u64
    }
    fn field_count(&mut self, _: ConnectionId) -> u32 {
        self.rows.front().map_or(0, |row| row.len() as u32)
    }
    fn field_names(&mut self, _: ConnectionId) -> Vec<String> {
        self.names.iter().map(|name| (*name).to_owned()).collect()
    }
    fn next_row(&mut self, _: ConnectionId, fields: &mut Vec<Option<Vec<u8>>>) -> bool {
        fields.clear();
        let row = self.rows.pop_front();
        fields.extend(row.iter().flatten().map(|field| field.map(|text| text.as_bytes().to_vec())));
        row.is_some()
    }
    fn more_results(&mut self, _: ConnectionId) -> bool {
        self.rows.len() > 1
    }
    fn count(&mut self, counter: Counter, n: u64) {
        self.counted.push((counter, n));
    }
    fn print(&mut self, line: &str) {
        self.printed.push(line.to_owned());
    }
    fn exit(&mut self, status: i32) {
        self.exited = Some(status);
    }
    fn call(&mut self, request: Request<'_>) -> Reply {
        self.answer(&request)
    }
}

/// How an entry point ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum End {
    Undefined,
    Finished { stop: bool },
    Restart,
}

/// A runtime with its host.
pub(crate) struct Bench {
    pub(crate) runtime: Runtime,
    pub(crate) host: Answers,
}

/// The default configuration of scripts in tests.
pub(crate) fn config(source: &str) -> Config {
    Config {
        name: "test.lua".into(),
        source: source.into(),
        search_path: Vec::new(),
        builtin: |_| None,
        arguments: vec!["test.lua".into(), "run".into()],
        options: [].into(),
        globals: [].into(),
        sysbench_version: "1.0.20".into(),
        driver: "mysql".into(),
        command: "run".into(),
        threads: 1,
        seed: 42,
        unique: dyno_script::UniqueCounters::default(),
        memory: dyno_script::MemoryLimit::new(256 << 20),
        blocking: false,
        marks_functions: false,
    }
}

impl Bench {
    pub(crate) fn new(source: &str) -> Self {
        Self::with(config(source))
    }

    pub(crate) fn with(config: Config) -> Self {
        let runtime = Runtime::new(config).unwrap_or_else(|error| panic!("{error}"));
        Self { runtime, host: Answers::default() }
    }

    pub(crate) fn spawn(&mut self, tid: u32) -> TaskId {
        self.runtime.spawn(tid).unwrap_or_else(|error| panic!("{error}"))
    }

    /// Runs a task through an entry point.
    pub(crate) fn run(&mut self, task: TaskId, entry: Entry<'_>) -> Result<End, ScriptError> {
        if !self.runtime.start(task, entry)? {
            return Ok(End::Undefined);
        }
        let mut reply = Reply::Done;
        loop {
            reply = match self.runtime.resume(task, &mut self.host, reply)? {
                Progress::Waiting(request) => self.host.answer(&request),
                Progress::Finished { stop } => return Ok(End::Finished { stop }),
                Progress::Restart => return Ok(End::Restart),
            };
        }
    }
}

/// Runs `body` as a command and returns its output. In `body`, `con` is a connection.
pub(crate) fn printed(body: &str) -> Vec<String> {
    printed_by(Bench::new(&as_command(body)))
}

/// Runs the command `go` of a bench's script and returns its output.
pub(crate) fn printed_by(mut bench: Bench) -> Vec<String> {
    run_go(&mut bench).unwrap_or_else(|error| panic!("{error}"));
    bench.host.printed
}

/// Runs the command `go` of a bench's script and returns its error.
pub(crate) fn failure_of(mut bench: Bench) -> String {
    run_go(&mut bench).expect_err("the script should fail").to_string()
}

pub(crate) fn run_go(bench: &mut Bench) -> Result<End, ScriptError> {
    let task = bench.spawn(0);
    bench.run(task, Entry::Command("go"))
}

/// A script whose command `go` runs `body`. `body` begins in the script's second line.
pub(crate) fn as_command(body: &str) -> String {
    format!(
        "function go() local con = sysbench.sql.driver():connect()\n{body}\nend\n\
         sysbench.cmdline.commands = {{ go = {{ go }} }}"
    )
}

pub(crate) fn refusal(errno: u32, state: &str, message: &str, ignorable: bool) -> Reply {
    Reply::Failed(SqlFailure { errno, state: state.into(), message: message.into(), ignorable })
}
