//! One Lua state and the tasks in it.

use crate::config::Config;
use crate::error::ScriptError;
use crate::info::ScriptInfo;
use crate::report::Stat;
use crate::request::{Host, Reply, Request};

/// A LuaJIT state for one OS thread, in which many tasks run as coroutines, each with globals of its own.
#[derive(Debug)]
pub struct Runtime {
    info: ScriptInfo,
}

/// A task of one [`Runtime`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TaskId(u32);

/// A function of the script that a task can be sent into.
#[derive(Clone, Copy, Debug)]
pub enum Entry<'a> {
    /// `init()`, once a run.
    Init,
    /// `done()`, once a run.
    Done,
    /// `thread_init(tid)`, once a task.
    ThreadInit,
    /// `event(tid)`.
    Event,
    /// `thread_done(tid)`, once a task.
    ThreadDone,
    /// A `thread_run(tid)` of the script's own.
    ThreadRun,
    /// The function of a command.
    Command(&'a str),
    /// `sysbench.hooks.report_intermediate(stat)`.
    ReportIntermediate(&'a Stat),
    /// `sysbench.hooks.report_cumulative(stat)`.
    ReportCumulative(&'a Stat),
}

/// How far a task came.
#[derive(Debug)]
pub enum Progress<'a> {
    /// It waits for this.
    Waiting(Request<'a>),
    /// The entry point is through.
    Finished {
        /// It returned something other than nil or false, which ends a task of events.
        stop: bool,
    },
    /// The event met an error after which it is to be run again.
    Restart,
}

impl Runtime {
    /// Compiles the script and runs its top level once, to learn what it declares.
    ///
    /// # Errors
    /// The script is no Lua, its top level raises an error, or an option has a value that it cannot have.
    pub fn new(config: Config) -> Result<Self, ScriptError> {
        let _ = config;
        Ok(Self { info: ScriptInfo::default() })
    }

    /// What the script declares.
    pub fn info(&self) -> &ScriptInfo {
        &self.info
    }

    /// Makes a task: an environment in which the script's top level is run.
    ///
    /// # Errors
    /// The top level raises an error.
    pub fn spawn(&mut self, tid: u32) -> Result<TaskId, ScriptError> {
        Ok(TaskId(tid))
    }

    /// Sends a task that has nothing to do into an entry point, which begins with the next
    /// [`resume`](Self::resume); false where the script does not define it.
    ///
    /// # Errors
    /// The script has something else than a function in its place.
    pub fn start(&mut self, task: TaskId, entry: Entry<'_>) -> Result<bool, ScriptError> {
        let _ = (task, entry);
        Ok(false)
    }

    /// Runs a task until it waits or is through.
    ///
    /// # Errors
    /// The script raised an error. The task can be sent into another entry point.
    pub fn resume(
        &mut self,
        task: TaskId,
        host: &mut dyn Host,
        reply: Reply,
    ) -> Result<Progress<'_>, ScriptError> {
        let _ = (task, host, reply);
        Ok(Progress::Restart)
    }

    /// A handle with which any thread can stop what the script does at the moment.
    pub fn interrupt_handle(&self) -> InterruptHandle {
        InterruptHandle
    }
}

/// Stops a running script from any thread.
#[derive(Clone, Debug)]
pub struct InterruptHandle;

impl InterruptHandle {
    /// Makes the script fail with [`ScriptError::Interrupted`] wherever it is.
    pub fn interrupt(&self) {}
}
