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
    /// The job has reached a milestone. The receiver needs this to write its output in the right order.
    Reached { milestone: Milestone },
    /// The warm-up is over, and measuring begins.
    Measuring,
    /// The work since the last tick.
    Tick(Tick),
    /// A slice is over, and no connection has an event in flight. Only sent by a [`sliced`](crate::Job::sliced) job.
    Slice(Slice),
    /// A line that the script printed, or a notice.
    Log { text: String },
    /// Words from statements that create or change tables, if they have not been sent before. The frame is sent before
    /// the statement, and only if the target asks for [these words](crate::ChangedNames).
    Names { words: Vec<String> },
    /// The job is done. This is the last frame.
    Finished(Total),
    /// The job ended early. This is the last frame.
    Failed {
        /// What failed and where, in one line.
        message: String,
        /// The measurements up to the failure; `None` if measuring had not begun.
        total: Option<Total>,
        /// Whether `total` covers the whole measured time. This is the case if only the script's `thread_done` or
        /// `done` failed, because these functions run after the measured time.
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

/// How the load is carried out.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Connected {
    pub connections: u32,
    /// Number of threads that run the connections.
    pub threads: u32,
    /// `event loop (io_uring)`, `event loop (epoll)` or `a thread a connection (blocking calls)`.
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
    /// Fairness since the previous checkpoint, if the interval ends at one of the job's checkpoints.
    #[serde(default)]
    pub checkpoint: Option<Fairness>,
    /// CPU time and memory of the load process.
    pub usage: Usage,
    /// Number of connections with an event in flight.
    pub running: u32,
    /// Number of due events that have not begun (open loop).
    pub backlog: u64,
    /// Number of events that became due in the interval; `None` in a closed loop.
    #[serde(default)]
    pub due: Option<u64>,
    /// Whether the load was idle at the end of the interval: no event was in flight or due, so nothing can finish. It
    /// is always false in a closed loop without think times.
    #[serde(default)]
    pub is_idle: bool,
}

/// An order to a job that waits for orders. It is one line of JSON.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Order {
    /// Begin the load. Sent once, only to a job that [awaits](crate::Job::awaits_begin) it.
    Begin,
    /// Run a slice. Sent only to a [`sliced`](crate::Job::sliced) job.
    Slice(SliceOrder),
    /// Begin to measure. Sent once, only to a job whose connections [join](crate::Job::joins).
    Measure,
}

/// An order for one slice of a sliced job.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SliceOrder {
    /// Length of the lead: time at the beginning of the slice that is not measured, in which caches fill and
    /// threads wake up.
    pub lead_seconds: f64,
    /// Length of the measured time after the lead.
    pub seconds: f64,
    /// Length of the bins of [`Slice::bins`], in seconds; `None` asks for no bins.
    #[serde(default)]
    pub bin_seconds: Option<f64>,
    /// Rate of an open loop, in events that become due per second over all connections. The events arrive
    /// independently. `None` for a closed loop. Only a job with [`paced_slices`](crate::Job::paced_slices) may have
    /// a rate.
    #[serde(default)]
    pub rate: Option<f64>,
}

/// The figures of one slice, from its order until no connection has an event in flight any more.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Slice {
    /// Beginning of the slice's measured time, in µs since the load began.
    pub began_us: u64,
    /// The slice's measured time, which is the mean of the connections' own times. If an event is in flight when the
    /// ordered time is over, the connection's time lasts until the end of this event. Stalls are therefore included. At
    /// a rate, the measured time is the ordered time.
    pub seconds: f64,
    /// Work that finished in the measured time. It includes events that began before the end of that time and finished
    /// later.
    pub counts: Counts,
    /// Number of events, each weighted by the share of its time that lies in the measured time. Events that began in
    /// the lead therefore count in part.
    pub event_shares: f64,
    /// Work that finished from the order until all connections had ended their last events, including the lead. This is
    /// the work that caused `usage`.
    pub counts_whole: Counts,
    /// Ignored errors by their code.
    #[serde(default)]
    pub error_codes: BTreeMap<String, u64>,
    /// Latency of the events that began in the measured time, including those that ended later. In a slice at a rate,
    /// latency of the events that became due in the measured time.
    pub latency: Latency,
    /// Ages of the events that became due in the measured time and had not begun at its end (open loop). These
    /// events never begin.
    #[serde(default)]
    pub waiting: Latency,
    /// Number of events that did not begin: the events in `waiting`, and those that became due in the lead.
    #[serde(default)]
    pub backlog: u64,
    /// Usage of the load process from the slice's order until all connections had ended their last events.
    pub usage: Usage,
    /// Number of statements that ended in each bin since the slice's order; empty if the order asked for no bins.
    #[serde(default)]
    pub bins: Vec<u32>,
}

/// Length of a bin of [`Total::timeline`], in seconds.
pub const TIMELINE_BIN_SECONDS: f64 = 0.01;

/// The figures of the measured time: the merged ticks after the warm-up.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Total {
    /// Length of the measured time.
    pub seconds: f64,
    /// The work that finished in the measured time.
    pub counts: Counts,
    /// Ignored errors by their code.
    #[serde(default)]
    pub error_codes: BTreeMap<String, u64>,
    /// Latency of the events that ended in the measured time, and of those that were in flight at its end and ended
    /// later.
    pub latency: Latency,
    /// Ages of the events that never ended: those that were due and had not begun at the end of the measured
    /// time, those in flight that were abandoned, and those that failed with their connection. Each is a lower
    /// bound of a latency.
    #[serde(default)]
    pub censored: Latency,
    /// Time that statements took.
    #[serde(default)]
    pub statements: StatementLatency,
    /// Usage of the load process.
    pub usage: Usage,
    /// Number of due events that had not begun at the end of the measured time (open loop).
    pub backlog: u64,
    /// Number of events that became due in the measured time; `None` in a closed loop, and for slices.
    #[serde(default)]
    pub due: Option<u64>,
    /// Number of connections that were still in an event when the time limit for the end was reached.
    #[serde(default)]
    pub unfinished: u32,
    /// Stretches in which something was due but nothing finished; `None` for slices and commands.
    #[serde(default)]
    pub gaps: Option<Gaps>,
    /// Number of events that ended in each bin since measuring began. A bin has [`TIMELINE_BIN_SECONDS`]. Only a
    /// job that [reconnects](crate::LostConnections::Reconnect) has a timeline.
    #[serde(default)]
    pub timeline: Vec<u32>,
    /// Longest time for which a script kept an event loop from serving its other connections, in µs.
    pub stall_us_max: u64,
    /// How evenly events and their time are distributed over connections.
    pub fairness: Fairness,
    /// Fairness since the most recent checkpoint, if one was reached.
    #[serde(default)]
    pub since_checkpoint: Option<Fairness>,
    /// The load's distinct statements; empty if the job does not [note](crate::Job::notes_statements) them.
    #[serde(default)]
    pub noted: Noted,
    /// What the job replayed; `None` if it has no [traffic](crate::Job::replay).
    #[serde(default)]
    pub replay: Option<Box<Replayed>>,
}

/// Stretches of the measured time in which no event and no statement finished, exact to 0.1 s. In a paced load, the
/// times in which no event is in flight or due do not belong to a stretch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Gaps {
    pub longest_seconds: f64,
    /// Start of the longest gap, in seconds since measuring began.
    pub longest_began_seconds: f64,
    /// Length of the stretch that lasts until the end of the measured time, in seconds.
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
    /// Ignored errors. After each of them, the event was run again. In a replay, these are the errors of statements,
    /// and nothing is run again.
    pub errors: u64,
    /// Number of times that a connection was opened again.
    pub reconnects: u64,
    /// Events that failed because they lost their connection, and that are not run again. Only a job that
    /// [reconnects](crate::LostConnections::Reconnect) has such events.
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

/// Time from sending a statement until its answer. The kinds are those of [`Counts`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StatementLatency {
    /// Statements that returned rows.
    pub reads: Latency,
    /// Statements that changed rows.
    pub writes: Latency,
    pub others: Latency,
}

impl StatementLatency {
    /// Adds the latencies of other statements.
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
    /// Number of context switches, voluntary and involuntary.
    pub context_switches: u64,
    /// Largest resident memory since the process started, in bytes.
    pub memory_bytes_max: u64,
}

/// Fairness: averages and standard deviations over connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Fairness {
    /// Mean, over connections, of a connection's number of events.
    pub events_avg: f64,
    /// Standard deviation, over connections, of a connection's number of events.
    pub events_stddev: f64,
    /// Mean, over connections, of the time that a connection spent in events.
    pub seconds_avg: f64,
    /// Standard deviation, over connections, of the time that a connection spent in events.
    pub seconds_stddev: f64,
}
