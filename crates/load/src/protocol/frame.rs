//! Frames: the output of the load process, one JSON document per line.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::measure::latency::Latency;
use crate::protocol::replay::Replayed;
use crate::statements::distinct::Noted;

/// One message of the load process.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "frame", rename_all = "snake_case")]
pub enum Frame {
    /// Every connection is open and initialised; the load begins.
    Connected(Connected),
    /// The job has reached a point, for output in the right order.
    Reached { milestone: Milestone },
    /// The warm-up is over, and measuring begins.
    Measuring,
    /// The work since the last tick.
    Tick(Tick),
    /// A slice is over, and all connections rest. Only sent by a [`sliced`](crate::Job::sliced) job.
    Slice(Slice),
    /// A line that the script printed, or a notice.
    Log { text: String },
    /// New words of statements that make or change tables, sent before the statement. Only for a target that
    /// asks for [them](crate::ChangedNames).
    Names { words: Vec<String> },
    /// The job is done. This is the last frame.
    Finished(Total),
    /// The job ended early. This is the last frame. `total` has the measurements until then, if measuring had begun.
    Failed {
        /// What failed and where, in one line.
        message: String,
        /// The measurements until then.
        total: Option<Total>,
        /// Whether `total` has the whole measured time. It does if only `thread_done` or `done` of the script failed,
        /// which run afterwards.
        #[serde(default)]
        is_whole: bool,
    },
}

/// A point in a job of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Milestone {
    /// The script's `init` has run; connections are opened next.
    Initialized,
    /// Time or events are used up, so no further event begins.
    Ending,
    /// The load is over. Further output of the script comes from its `done`.
    Over,
}

/// How the load is run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Connected {
    pub connections: u32,
    /// Threads that carry them.
    pub threads: u32,
    /// `event loop (io_uring)`, `event loop (epoll)` or `thread a connection`.
    pub method: String,
    /// Whether the script has opened a connection to a database.
    #[serde(default)]
    pub database: bool,
}

/// The figures of one interval.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Tick {
    /// The interval's number, from 0 at the start of the load.
    pub number: u32,
    /// Whether the interval is part of the warm-up, which results do not include.
    pub warmup: bool,
    pub seconds: f64,
    pub counts: Counts,
    /// Ignored errors by code: the error number, or the SQL state of a server that has no numbers.
    #[serde(default)]
    pub error_codes: BTreeMap<String, u64>,
    /// Time from when each event was due until it ended.
    pub latency: Latency,
    /// Time that statements took.
    #[serde(default)]
    pub statements: StatementLatency,
    /// Fairness since the last checkpoint, if the interval ends at one of the job's checkpoints.
    #[serde(default)]
    pub checkpoint: Option<Fairness>,
    /// CPU time and memory of the load process.
    pub usage: Usage,
    /// Connections with an event in flight.
    pub running: u32,
    /// Due events that have not begun (open loop).
    pub backlog: u64,
    /// Events that became due in the interval; `None` in a closed loop.
    #[serde(default)]
    pub due: Option<u64>,
    /// Whether, at the end of the interval, no event was in flight and none was due, so that nothing can finish. Only
    /// set at a rate, or with think times.
    #[serde(default)]
    pub is_idle: bool,
}

/// An order to a job that waits for them, one line of JSON.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Begin the load. Only for a job that is a [share](crate::Job::share), once.
    Begin,
    /// Run a slice. Only for a [`sliced`](crate::Job::sliced) job.
    Slice(SliceOrder),
    /// Begin to measure. Only for a job whose connections [join](crate::Job::joins), once.
    Measure,
}

/// An order for one slice of a sliced job.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SliceOrder {
    /// Lead: time at the beginning of the slice that is not measured, in which caches fill and threads wake
    /// up.
    pub lead_seconds: f64,
    /// Measured time after the lead.
    pub seconds: f64,
    /// Length of the bins of [`Slice::bins`]; `None` asks for no bins.
    #[serde(default)]
    pub bin_seconds: Option<f64>,
    /// Events due a second, over all connections, spaced as independent arrivals (open loop); `None` for a
    /// closed loop. Only for a job with [`paced_slices`](crate::Job::paced_slices).
    #[serde(default)]
    pub rate: Option<f64>,
}

/// The figures of one slice, from its order until all connections rest.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Slice {
    /// Beginning of its measured time, since the load began.
    pub began_us: u64,
    /// Its measured time: the mean of the connections' own times, which last until the end of the event that
    /// was in flight when the ordered time was over. Stalls are therefore included. At a rate it is the
    /// ordered time.
    pub seconds: f64,
    /// Work that finished in the measured time, or after it in events that began before its end.
    pub counts: Counts,
    /// Events, weighted by the share of their time that was measured. Events that began in the lead count in part.
    pub event_shares: f64,
    /// Work that finished from the order until all connections rested, including the lead: the work that
    /// caused `usage`.
    pub counts_whole: Counts,
    /// Ignored errors by their code.
    #[serde(default)]
    pub error_codes: BTreeMap<String, u64>,
    /// Latency of the events that began in the measured time, including those that ended after it. At a rate,
    /// latency of the events that became due in it.
    pub latency: Latency,
    /// Ages of the events that became due in the measured time and had not begun at its end (open loop). They
    /// never begin.
    #[serde(default)]
    pub waiting: Latency,
    /// Number of these events, and of those that became due in the lead.
    #[serde(default)]
    pub backlog: u64,
    /// Usage of the load process from the order until all connections rested.
    pub usage: Usage,
    /// Statements that ended in each bin since the slice's order; empty if no bins were asked for.
    #[serde(default)]
    pub bins: Vec<u32>,
}

/// Length of a bin of [`Total::timeline`].
pub const TIMELINE_BIN_SECONDS: f64 = 0.01;

/// The figures of the measured time: the merged ticks after the warm-up.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Total {
    /// Measured time.
    pub seconds: f64,
    /// The work in it.
    pub counts: Counts,
    /// Ignored errors by their code.
    #[serde(default)]
    pub error_codes: BTreeMap<String, u64>,
    /// Latency of its events, and of those in flight at its end that ended afterwards.
    pub latency: Latency,
    /// Ages of the events that never ended: those that were due and had not begun at the end of the measured
    /// time, those in flight that were abandoned, and those that failed with their connection. Each is a lower
    /// bound of a latency.
    #[serde(default)]
    pub censored: Latency,
    /// Time that its statements took.
    #[serde(default)]
    pub statements: StatementLatency,
    /// Usage of the load process.
    pub usage: Usage,
    /// Due events that had not begun at the end (open loop).
    pub backlog: u64,
    /// Events that became due in the measured time; `None` in a closed loop, and for slices.
    #[serde(default)]
    pub due: Option<u64>,
    /// Connections still in an event when the time limit of the end was reached.
    #[serde(default)]
    pub unfinished: u32,
    /// Stretches in which something was due but nothing finished; `None` for slices and commands.
    #[serde(default)]
    pub gaps: Option<Gaps>,
    /// Number of events that ended in each bin of [`TIMELINE_BIN_SECONDS`] since measuring began. Only for a job that
    /// [reconnects](crate::LostConnections::Reconnect).
    #[serde(default)]
    pub timeline: Vec<u32>,
    /// Longest time that a script kept an event loop from its other connections.
    pub stall_us_max: u64,
    /// Fairness of events and their seconds over connections.
    pub fairness: Fairness,
    /// Fairness since the last checkpoint, if one was reached.
    #[serde(default)]
    pub since_checkpoint: Option<Fairness>,
    /// Its statements; empty unless the job [notes](crate::Job::notes_statements) them.
    #[serde(default)]
    pub noted: Noted,
    /// What it replayed; `None` if the job has no [traffic](crate::Job::replay).
    #[serde(default)]
    pub replay: Option<Box<Replayed>>,
}

/// Stretches of the measured time in which no event and no statement finished, exact to 0.1 s. At a rate, a
/// time in which no event is in flight or due does not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Gaps {
    pub longest_seconds: f64,
    /// Start of the longest gap, in seconds since measuring began.
    pub longest_began_seconds: f64,
    /// Length of the stretch at the end of the measured time.
    pub last_seconds: f64,
}

/// Work by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Finished events (transactions).
    pub events: u64,
    /// Queries that returned rows.
    pub reads: u64,
    /// Queries that changed rows.
    pub writes: u64,
    /// Other queries (`BEGIN`, a write that changed nothing).
    pub others: u64,
    /// Ignored errors, each of which reran its event.
    pub errors: u64,
    /// Connections made anew.
    pub reconnects: u64,
    /// Events that failed with their connection and are not rerun. Only in a job that
    /// [reconnects](crate::LostConnections::Reconnect).
    #[serde(default)]
    pub failed: u64,
    /// Rows that bulk inserts sent.
    pub rows: u64,
}

impl Counts {
    /// Errors that did not end the load, including those of failed events.
    pub fn ignored_errors(&self) -> u64 {
        self.errors + self.failed
    }

    /// Queries of every kind.
    pub fn queries(&self) -> u64 {
        self.reads + self.writes + self.others
    }
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.events += other.events;
        self.reads += other.reads;
        self.writes += other.writes;
        self.others += other.others;
        self.errors += other.errors;
        self.reconnects += other.reconnects;
        self.failed += other.failed;
        self.rows += other.rows;
    }
}

/// Time from the request of a statement until its answer, by kind, as in [`Counts`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StatementLatency {
    /// Statements that returned rows.
    pub reads: Latency,
    /// Statements that changed rows.
    pub writes: Latency,
    pub others: Latency,
}

impl StatementLatency {
    /// Adds other statements' latencies.
    pub fn merge(&mut self, other: &Self) {
        let pairs = [
            (&mut self.reads, &other.reads),
            (&mut self.writes, &other.writes),
            (&mut self.others, &other.others),
        ];
        for (into, from) in pairs {
            if !from.histogram().is_empty() {
                into.merge(from);
            }
        }
    }

    pub(crate) fn clear(&mut self) {
        for latency in [&mut self.reads, &mut self.writes, &mut self.others] {
            if !latency.histogram().is_empty() {
                latency.clear();
            }
        }
    }

    pub(crate) fn record_ns(&mut self, kind: Kind, latency_ns: u64) {
        match kind {
            Kind::Read => self.reads.record_ns(latency_ns),
            Kind::Write => self.writes.record_ns(latency_ns),
            Kind::Other => self.others.record_ns(latency_ns),
        }
    }
}

/// The kind of a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Read,
    Write,
    Other,
}

/// Usage of the load process, by `getrusage(2)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// CPU time in user space.
    pub user_us: u64,
    /// CPU time in the kernel.
    pub system_us: u64,
    /// Context switches, voluntary and not.
    pub context_switches: u64,
    /// Largest resident memory so far.
    pub memory_bytes_max: u64,
}

/// Fairness: averages and standard deviations over connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Fairness {
    /// Mean events per connection.
    pub events_avg: f64,
    /// Standard deviation of events over connections.
    pub events_stddev: f64,
    /// Mean time in events per connection.
    pub seconds_avg: f64,
    /// Standard deviation of that time.
    pub seconds_stddev: f64,
}
