//! Entry points of scripts, and the progress of a task.

use crate::error::ScriptError;
use crate::lua::Stack;
use crate::prelude::Prelude;
use crate::report::Stat;
use crate::run::request::Request;
use crate::run::task::Task;

/// An entry point of a script.
#[derive(Clone, Copy, Debug)]
pub enum Entry<'a> {
    /// `init()`, once per run.
    Init,
    /// `done()`, once per run.
    Done,
    /// `thread_init(tid)`, once per task.
    ThreadInit,
    /// `event(tid)`.
    Event,
    /// `thread_done(tid)`, once per task.
    ThreadDone,
    /// The script's own `thread_run(tid)`.
    ThreadRun,
    Command(&'a str),
    /// `sysbench.hooks.report_intermediate(stat)`.
    ReportIntermediate(&'a Stat),
    /// `sysbench.hooks.report_cumulative(stat)`.
    ReportCumulative(&'a Stat),
    /// Ends the array that `sysbench.report_json` started. It runs after the last report of this task.
    ReportEnd,
}

#[derive(Debug)]
pub enum Progress<'a> {
    /// The task waits for a reply to this request.
    Waiting(Request<'a>),
    /// The entry point has ended.
    Finished {
        /// Whether the entry point returned something other than nil or false. After such an event, the task runs
        /// no other event.
        stop: bool,
    },
    /// The event failed with an error that restarts it. The script's `before_restart_event` hook has been called.
    Restart,
}

/// Pushes the function of an entry point on the task's empty stack, then the function's arguments. Pushes nil if
/// the script does not define the function. Returns the function's name.
pub(crate) fn push_entry<'a>(
    task: &Task,
    prelude: Prelude,
    main: Stack,
    entry: Entry<'a>,
) -> Result<&'a str, ScriptError> {
    let thread = task.thread;
    let (name, takes_tid) = match entry {
        Entry::Init => ("init", false),
        Entry::Done => ("done", false),
        Entry::ThreadInit => ("thread_init", true),
        Entry::Event => {
            task.push_first_global(prelude.event);
            if !thread.is_nil(1) {
                thread.push_number(f64::from(task.tid));
            }
            return Ok("event");
        }
        Entry::ThreadDone => ("thread_done", true),
        Entry::ThreadRun => ("thread_run", true),
        Entry::Command(name) => {
            prelude.push(main, "command");
            task.push_environment(main);
            main.push_bytes(name.as_bytes());
            main.call(2, 1).map_err(ScriptError::Runtime)?;
            main.move_to(thread, 1);
            return Ok(name);
        }
        Entry::ReportIntermediate(stat) => return Ok(push_report(task, "report_intermediate", stat)),
        Entry::ReportCumulative(stat) => return Ok(push_report(task, "report_cumulative", stat)),
        Entry::ReportEnd => {
            prelude.push(thread, "end_reports");
            return Ok("end_reports");
        }
    };
    task.push_global(name);
    if takes_tid && !thread.is_nil(1) {
        thread.push_number(f64::from(task.tid));
    }
    Ok(name)
}

fn push_report(task: &Task, hook: &'static str, stat: &Stat) -> &'static str {
    task.push_hook(hook);
    if !task.thread.is_nil(1) {
        stat.push(task.thread);
    }
    hook
}
