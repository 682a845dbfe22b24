//! What the workers of a job share, and the messages that they send to the reporter.

use std::sync::atomic::{AtomicBool, AtomicU64};
use std::sync::mpsc::Sender;
use std::sync::{Arc, Mutex};

use dyno_script::{
    Config, Host, InterruptHandle, MemoryLimit, Refused, Request, RunBy, Runtime, ScriptError, ScriptInfo,
    UniqueCounters,
};

use crate::measure::digests::ReplayFigures;
use crate::measure::recorder::Recorder;
use crate::measure::unfinished::Unfinished;
use crate::protocol::frame::Counts;
use crate::protocol::job::Job;
use crate::protocol::workload::builtin_workload;
use crate::schedule::arrivals::Schedule;
use crate::schedule::control::Control;
use crate::session::servers::Dialer;
use crate::statements::distinct::{Noted, StatementNotes};
use crate::worker::replay::CommitOrder;

/// The shared state of a job's workers.
pub(crate) struct Shared {
    pub(crate) job: Job,
    pub(crate) control: Control,
    pub(crate) dialer: Dialer,
    /// The script's declarations, once they are known.
    pub(crate) info: Option<ScriptInfo>,
    /// The schedule of events, which threads share. Each event loop has a schedule of its own instead.
    pub(crate) schedule: Option<Mutex<Schedule>>,
    /// The schedule of the current slice, which threads share, if the slice has a rate.
    pub(crate) slice_schedule: Mutex<Option<Schedule>>,
    pub(crate) unique: UniqueCounters,
    /// The order of commits, for a replay that keeps it.
    pub(crate) order: Option<CommitOrder>,
    pub(crate) memory: MemoryLimit,
    /// Whether a connection to a database was requested.
    pub(crate) database: AtomicBool,
    pub(crate) messages: Sender<Message>,
}

/// A message of a worker to the reporter.
pub(crate) enum Message {
    /// A worker has started. Its script can be interrupted from here on.
    Started(InterruptHandle),
    /// The worker's connections are open and initialised. Contains the worker's I/O method.
    Ready(&'static str),
    /// A line that the script printed.
    Printed(String),
    /// Words that may be names of tables, from a statement that may change tables. Words that were gathered before are
    /// not sent again.
    Names(Vec<String>),
    /// The slice's time is over, and the worker's connections have ended their last events.
    Rested,
    /// The job cannot continue.
    Failed(String),
    /// The script's `thread_done`, which runs after the measured time, has failed.
    FailedLate(String),
    /// The script asks to end the process with this exit status.
    Exit(i32),
    /// `init` or `done` has ended.
    HookEnded(Result<(), String>),
    /// The connections that `init` opened are closed.
    HooksOver,
    /// The worker has ended.
    Ended(Box<WorkerReport>),
}

/// The error message of a job with a worker that panicked.
pub(crate) const PANICKED: &str =
    "a worker of the load panicked, so what it did is not known; please report this with the lines above";

/// A worker's figures of the measured time.
#[derive(Clone, Debug, Default)]
pub(crate) struct WorkerReport {
    /// Longest time that a script kept an event loop from serving its other connections.
    pub(crate) stall_us_max: u64,
    /// Ages of the worker's events that had not ended when the job ended.
    pub(crate) unfinished: Unfinished,
    /// The distinct statements that the worker recorded, if any.
    pub(crate) noted: Option<Box<Noted>>,
    /// The worker's part of a replay.
    pub(crate) replay: Option<Box<ReplayFigures>>,
}

/// The connections that a worker runs, as a range of thread ids in this process.
#[derive(Clone, Debug)]
pub(crate) struct Assignment {
    pub(crate) tids: std::ops::Range<u32>,
    pub(crate) recorder: Arc<Recorder>,
    /// Due time of the event that a thread runs, in ns since the load began; 0 if the thread runs no event. Event loops
    /// report their own events.
    pub(crate) busy_since_ns: Arc<AtomicU64>,
}

impl Shared {
    /// Creates a Lua state with the job's script. If `marks_functions` is true, a profile measures the calls of native
    /// functions. The script's declarations must be known.
    pub(crate) fn runtime(&self, blocking: bool, marks_functions: bool) -> Result<Runtime, ScriptError> {
        let info = self.info.clone().unwrap_or_default();
        let config = Config { marks_functions, ..self.config(blocking) };
        Runtime::declared(&config, info).map_err(|refused| refused.error)
    }

    /// Runs the script's top level to read its declarations.
    pub(crate) fn probe(&self, host: &mut dyn Host) -> Result<Runtime, Refused> {
        Runtime::connected(self.config(true), host)
    }

    /// Whether the script defines its own `thread_run`.
    pub(crate) fn own_thread_run(&self) -> bool {
        self.info.as_ref().is_some_and(|info| info.run == RunBy::OwnLoop)
    }

    fn config(&self, blocking: bool) -> Config {
        let job = &self.job;
        Config {
            name: job.script.name.clone(),
            source: job.script.source.clone(),
            search_path: job.script.search_path.clone(),
            builtin: builtin_workload,
            arguments: job.arguments(),
            options: job.options.clone(),
            globals: crate::protocol::globals::of(job),
            sysbench_version: job.tuning.sysbench_version.clone(),
            driver: job.target.driver.as_str().to_owned(),
            command: job.command.clone(),
            threads: job.connections_in_all(),
            seed: job.seed,
            unique: self.unique.clone(),
            memory: self.memory.clone(),
            blocking,
            marks_functions: false,
        }
    }

    /// Creates a recorder of distinct statements for the script with thread id `tid`, if its statements are to be
    /// recorded.
    pub(crate) fn notes(&self, tid: u32) -> Option<StatementNotes> {
        let is_wanted = self.job.notes_statements && self.runs_events() && tid == 0;
        is_wanted.then(|| StatementNotes::new(&self.job.target))
    }

    /// Reports the names in a statement that may change tables, if the target gathers names.
    pub(crate) fn tell_names(&self, request: &Request<'_>) {
        let Some(names) = &self.job.target.changed_names else { return };
        let words = names.asked(request);
        if !words.is_empty() {
            self.say(Message::Names(words));
        }
    }

    /// Whether the job runs events, rather than a command once per connection.
    pub(crate) fn runs_events(&self) -> bool {
        self.job.command == "run"
    }

    /// Asks the reporter to end the process. The reporter handles all earlier messages first.
    pub(crate) fn exit(&self, status: i32) -> ! {
        self.say(Message::Exit(status));
        loop {
            std::thread::park();
        }
    }

    /// Whether the job runs a command once, instead of once per connection.
    pub(crate) fn runs_alone(&self) -> bool {
        let commands = self.info.iter().flat_map(|info| &info.commands);
        !self.runs_events()
            && !commands.into_iter().any(|command| command.name == self.job.command && command.parallel)
    }

    /// Prints lines of the script.
    pub(crate) fn print_all(&self, lines: Vec<String>) {
        for line in lines {
            self.say(Message::Printed(line));
        }
    }

    /// Sends a message to the reporter, which outlives its workers.
    pub(crate) fn say(&self, message: Message) {
        let _ = self.messages.send(message);
    }
}

/// Adds `n` to the count that corresponds to a script's counter.
pub(super) fn count(counts: &mut Counts, counter: dyno_script::Counter, n: u64) {
    use dyno_script::Counter;
    match counter {
        Counter::Other => counts.others += n,
        Counter::Read => counts.reads += n,
        Counter::Write => counts.writes += n,
        Counter::Error => counts.errors += n,
        Counter::Reconnect => counts.reconnects += n,
        Counter::BulkRow => counts.rows += n,
        // Events are counted elsewhere, together with their latency. Bytes are counted only by the script itself.
        Counter::Event | Counter::BytesRead | Counter::BytesWritten => {}
    }
}
