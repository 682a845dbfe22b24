//! A script's own reports: `sysbench.hooks.report_intermediate` and `report_cumulative`.

use dyno_load::{Target, UnmeasuredConnections};
use dyno_script::{
    ConnectionId, Counter, Entry, Host, Progress, Reply, Request, Runtime, ScriptError, Stat, TaskId,
};

use crate::log::Log;

/// A second instance of the script. Only its hooks are called.
pub(crate) struct Hooks {
    runtime: Runtime,
    task: TaskId,
    connections: UnmeasuredConnections,
}

impl Hooks {
    /// Runs the script's top level, which sets the hooks. The hooks may connect to the target.
    pub(crate) fn new(mut runtime: Runtime, target: Target, log: &mut Log<'_>) -> Result<Self, ScriptError> {
        let mut connections = UnmeasuredConnections::new(target);
        let mut host = HookHost { log, connections: &mut connections };
        let task = runtime.spawn_connected(0, &mut host)?;
        runtime.hush();
        Ok(Self { runtime, task, connections })
    }

    /// Lets the script report an interval. Returns false if the script leaves the report to Dyno.
    pub(super) fn intermediate(&mut self, stat: &Stat, log: &mut Log<'_>) -> Result<bool, ScriptError> {
        self.call(Entry::ReportIntermediate(stat), log)
    }

    /// Lets the script report a run. Returns false if the script leaves the report to Dyno.
    pub(super) fn cumulative(&mut self, stat: &Stat, log: &mut Log<'_>) -> Result<bool, ScriptError> {
        self.call(Entry::ReportCumulative(stat), log)
    }

    /// Lets the script end its list of reports, if it has begun one.
    pub(super) fn end(&mut self, log: &mut Log<'_>) -> Result<(), ScriptError> {
        self.call(Entry::ReportEnd, log).map(|_| ())
    }

    fn call(&mut self, entry: Entry<'_>, log: &mut Log<'_>) -> Result<bool, ScriptError> {
        if !self.runtime.start(self.task, entry)? {
            return Ok(false);
        }
        let mut host = HookHost { log, connections: &mut self.connections };
        let mut reply = Reply::Done;
        while let Progress::Waiting(request) = self.runtime.resume(self.task, &mut host, reply)? {
            reply = host.connections.answer(&request);
        }
        if let Some(line) = self.runtime.take_unfinished_line() {
            host.log.script(&line);
        }
        Ok(true)
    }
}

/// The host of a script that runs outside of the load. It prints the script's output, and opens connections of its
/// own.
pub(crate) struct HookHost<'a, 'b> {
    pub(crate) log: &'a mut Log<'b>,
    pub(crate) connections: &'a mut UnmeasuredConnections,
}

impl Host for HookHost<'_, '_> {
    fn row_count(&mut self, connection: ConnectionId) -> u64 {
        self.connections.row_count(connection)
    }

    fn field_count(&mut self, connection: ConnectionId) -> u32 {
        self.connections.field_count(connection)
    }

    fn field_names(&mut self, connection: ConnectionId) -> Vec<String> {
        self.connections.field_names(connection)
    }

    fn next_row(&mut self, connection: ConnectionId, fields: &mut Vec<Option<Vec<u8>>>) -> bool {
        self.connections.next_row(connection, fields)
    }

    fn more_results(&mut self, connection: ConnectionId) -> bool {
        self.connections.more_results(connection)
    }

    fn count(&mut self, _counter: Counter, _n: u64) {}

    fn print(&mut self, line: &str) {
        self.log.script(line);
    }

    fn exit(&mut self, status: i32) {
        std::process::exit(status);
    }

    fn call(&mut self, request: Request<'_>) -> Reply {
        self.connections.answer(&request)
    }
}
