//! What carries a job's connections: event loops with many each, or threads with one each.

mod event_loop;
mod link;
mod retry;
mod slot;
mod thread;
mod timers;
mod trace;

use std::sync::atomic::AtomicBool;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex};

use dyno_script::{Config, InterruptHandle, Runtime, ScriptError};

use crate::arrivals::Schedule;
use crate::control::Control;
use crate::dial::Dialer;
use crate::frame::Counts;
use crate::job::Job;
use crate::recorder::Recorder;
use crate::workload::builtin_workload;

pub(crate) use event_loop::EventLoop;
pub(crate) use thread::{Thread, ThreadError};

/// What all workers of a job have in common.
pub(crate) struct Shared {
    pub(crate) job: Job,
    pub(crate) control: Control,
    pub(crate) dialer: Dialer,
    /// The script defines a `thread_run` of its own.
    pub(crate) own_thread_run: bool,
    /// When events are due, for threads, which share one schedule; event loops have their own shares.
    pub(crate) schedule: Option<Mutex<Schedule>>,
    pub(crate) unique: Arc<std::sync::atomic::AtomicU64>,
    /// A connection to a database was asked for.
    pub(crate) database: AtomicBool,
    pub(crate) messages: Sender<Message>,
}

/// What a worker says to the reporter.
pub(crate) enum Message {
    /// A worker can be stopped in the middle of a script from here on.
    Started(InterruptHandle),
    /// Its connections are open and initialised; how it moves bytes.
    Ready(&'static str),
    /// A line that the script printed.
    Printed(String),
    /// The worker's connections rest again after a slice.
    Rested,
    /// The job cannot go on.
    Failed(String),
    /// The script ends the process with this exit status.
    Exit(i32),
    /// `init` or `done` is through.
    HookEnded(Result<(), String>),
    /// What `init` has opened is closed.
    HooksOver,
    /// The worker is through.
    Ended(WorkerReport),
}

/// What a worker knows of the whole measured time.
#[derive(Clone, Debug, Default)]
pub(crate) struct WorkerReport {
    /// The longest turn of the loop, during which nothing was sent or received.
    pub(crate) stall_us_max: u64,
}

/// The connections that a worker carries, as a range of thread ids.
#[derive(Clone, Debug)]
pub(crate) struct Assignment {
    pub(crate) tids: std::ops::Range<u32>,
    pub(crate) recorder: Arc<Recorder>,
}

impl Shared {
    /// A Lua state with the job's script in it. Where that fails, what the script had printed is said.
    pub(crate) fn runtime(&self, blocking: bool) -> Result<Runtime, ScriptError> {
        let job = &self.job;
        Runtime::new(Config {
            name: job.script.name.clone(),
            source: job.script.source.clone(),
            search_path: job.script.search_path.clone(),
            builtin: builtin_workload,
            options: job.options.clone(),
            globals: crate::globals::of(job),
            driver: job.target.driver.as_str().to_owned(),
            command: job.command.clone(),
            threads: job.connections,
            seed: job.seed,
            unique: Arc::clone(&self.unique),
            blocking,
        })
        .map_err(|refused| {
            refused.printed.into_iter().for_each(|line| self.say(Message::Printed(line)));
            refused.error
        })
    }

    /// Whether the job runs events, rather than a command once a connection.
    pub(crate) fn runs_events(&self) -> bool {
        self.job.command == "run"
    }

    /// Has the reporter end the process, after all that has been said before.
    pub(crate) fn exit(&self, status: i32) -> ! {
        self.say(Message::Exit(status));
        loop {
            std::thread::park();
        }
    }

    /// Says something to the reporter, which outlives its workers.
    pub(crate) fn say(&self, message: Message) {
        let _ = self.messages.send(message);
    }
}

/// Adds to one of a script's counters.
pub(crate) fn count(counts: &mut Counts, counter: dyno_script::Counter, n: u64) {
    use dyno_script::Counter;
    match counter {
        Counter::Other => counts.others += n,
        Counter::Read => counts.reads += n,
        Counter::Write => counts.writes += n,
        Counter::Error => counts.errors += n,
        Counter::Reconnect => counts.reconnects += n,
        Counter::BulkRow => counts.rows += n,
        // Events are counted with their latency; bytes are the script's own business.
        Counter::Event | Counter::BytesRead | Counter::BytesWritten => {}
    }
}
