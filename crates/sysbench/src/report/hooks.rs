//! A script's own reports: `sysbench.hooks.report_intermediate` and `report_cumulative`.

use dyno_script::{
    ConnectionId, Counter, Entry, Host, Progress, Reply, Request, Runtime, ScriptError, SqlFailure, Stat,
    TaskId,
};

use crate::log::Log;

/// The script once more, in a state where only its hooks are called.
#[derive(Debug)]
pub(crate) struct Hooks {
    runtime: Runtime,
    task: TaskId,
}

impl Hooks {
    /// Runs the script's top level, which sets the hooks.
    pub(crate) fn new(mut runtime: Runtime) -> Result<Self, ScriptError> {
        let task = runtime.spawn(0)?;
        Ok(Self { runtime, task })
    }

    /// Reports an interval; false where the script leaves that to Dyno.
    pub(super) fn intermediate(&mut self, stat: &Stat, log: &mut Log<'_>) -> Result<bool, ScriptError> {
        self.call(Entry::ReportIntermediate(stat), log)
    }

    /// Reports a run; false where the script leaves that to Dyno.
    pub(super) fn cumulative(&mut self, stat: &Stat, log: &mut Log<'_>) -> Result<bool, ScriptError> {
        self.call(Entry::ReportCumulative(stat), log)
    }

    /// Ends the list of reports that was begun, if one was.
    pub(super) fn end(&mut self, log: &mut Log<'_>) -> Result<(), ScriptError> {
        self.call(Entry::ReportEnd, log).map(|_| ())
    }

    fn call(&mut self, entry: Entry<'_>, log: &mut Log<'_>) -> Result<bool, ScriptError> {
        if !self.runtime.start(self.task, entry)? {
            return Ok(false);
        }
        let mut printer = Printer { log };
        let mut reply = Reply::Done;
        while let Progress::Waiting(_) = self.runtime.resume(self.task, &mut printer, reply)? {
            reply = no_database();
        }
        Ok(true)
    }
}

fn no_database() -> Reply {
    let message = "a report hook cannot use a database".to_owned();
    Reply::Failed(SqlFailure { message, ..SqlFailure::default() })
}

/// Hooks can print, and nothing else.
struct Printer<'a, 'b> {
    log: &'a mut Log<'b>,
}

impl Host for Printer<'_, '_> {
    fn row_count(&mut self, _connection: ConnectionId) -> u64 {
        0
    }

    fn field_count(&mut self, _connection: ConnectionId) -> u32 {
        0
    }

    fn next_row(&mut self, _connection: ConnectionId, _fields: &mut Vec<Option<Vec<u8>>>) -> bool {
        false
    }

    fn more_results(&mut self, _connection: ConnectionId) -> bool {
        false
    }

    fn count(&mut self, _counter: Counter, _n: u64) {}

    fn print(&mut self, line: &str) {
        self.log.script(line);
    }

    fn exit(&mut self, status: i32) {
        std::process::exit(status);
    }

    fn call(&mut self, _request: Request<'_>) -> Reply {
        no_database()
    }
}
