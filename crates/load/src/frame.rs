//! Frames: what the load process says while it works, one JSON document a line on its standard output.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::latency::Latency;

/// One message of the load process.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "frame", rename_all = "snake_case")]
pub enum Frame {
    /// Every connection is open and initialised; the load begins.
    Connected(Connected),
    /// The job has come to a point that only what is printed in order depends on.
    Reached {
        /// Which.
        milestone: Milestone,
    },
    /// The warm-up is over; what follows counts.
    Measuring,
    /// What happened since the last tick.
    Tick(Tick),
    /// A slice is over; every connection rests again. Only of a job that is [`sliced`](crate::Job::sliced).
    Slice(Slice),
    /// A line that the script printed, or a notice.
    Log {
        /// The line.
        text: String,
    },
    /// The job is done. The last frame.
    Finished(Total),
    /// The job ended early. The last frame; `total` is what was measured until then, if measuring had begun.
    Failed {
        /// One line: what failed, where.
        message: String,
        /// What was measured before.
        total: Option<Total>,
    },
}

/// A point in a job of events.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Milestone {
    /// The script's `init` has run; connections are opened next.
    Initialized,
    /// Time or events are used up: no event begins any more.
    Ending,
    /// The load is over; what the script prints from here on is its `done`.
    Over,
}

/// How the load is run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Connected {
    /// Open connections.
    pub connections: u32,
    /// Threads that carry them.
    pub threads: u32,
    /// `event loop (io_uring)`, `event loop (epoll)` or `thread a connection`.
    pub method: String,
    /// Whether the script has opened a connection to a database.
    #[serde(default)]
    pub database: bool,
}

/// What one interval gave.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Tick {
    /// Interval's number, from 0 where the load began.
    pub number: u32,
    /// Whether the interval is part of the warm-up, which no result counts.
    pub warmup: bool,
    /// The interval's length.
    pub seconds: f64,
    /// What was done.
    pub counts: Counts,
    /// Ignored errors by their code: the server's number, or the SQL state where it has none.
    #[serde(default)]
    pub error_codes: BTreeMap<String, u64>,
    /// Time from when each event was due until it ended.
    pub latency: Latency,
    /// Time that statements took.
    #[serde(default)]
    pub statements: StatementLatency,
    /// Where the interval ends at one of the job's checkpoints: how evenly connections were served since the last.
    #[serde(default)]
    pub checkpoint: Option<Fairness>,
    /// What the load process itself burned.
    pub usage: Usage,
    /// Connections that run an event at this moment.
    pub running: u32,
    /// Events that were due and have not begun (open loop).
    pub backlog: u64,
}

/// What the load process is to do next in a sliced job.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SliceOrder {
    /// Time at the beginning of the slice that does not count: caches and threads have to wake up.
    pub lead_seconds: f64,
    /// Time that counts, after that.
    pub seconds: f64,
    /// Length of the bins of [`Slice::bins`]; none asks for no bins.
    #[serde(default)]
    pub bin_seconds: Option<f64>,
}

/// What one slice gave: from its order until every connection rested again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Slice {
    /// When its counted time began, since the load began.
    pub began_us: u64,
    /// Its counted time: the mean of the connections' own, each of which ends with the event that was under way when the
    /// ordered time was over. So no stall is left out.
    pub seconds: f64,
    /// What was finished in the counted time, or after it by events that began before its end.
    pub counts: Counts,
    /// Events, each by the share of its time that counts: those that began before the counted time, in part.
    pub event_shares: f64,
    /// What was finished from the order until every connection rested, the lead included: what `usage` was burned for.
    pub counts_whole: Counts,
    /// Ignored errors by their code.
    #[serde(default)]
    pub error_codes: BTreeMap<String, u64>,
    /// Latency of the events that began in the counted time, also of those that ended after it.
    pub latency: Latency,
    /// What the load process burned from the order until every connection rested.
    pub usage: Usage,
    /// Statements that ended in each bin since the slice's order; empty if none were asked for.
    #[serde(default)]
    pub bins: Vec<u32>,
}

/// The measured time as a whole: the merged ticks after the warm-up.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Total {
    /// Measured time.
    pub seconds: f64,
    /// What was done in it.
    pub counts: Counts,
    /// Ignored errors by their code.
    #[serde(default)]
    pub error_codes: BTreeMap<String, u64>,
    /// Latency of its events.
    pub latency: Latency,
    /// Time that its statements took.
    #[serde(default)]
    pub statements: StatementLatency,
    /// What the load process burned in it.
    pub usage: Usage,
    /// Events that were due and had not begun at the end (open loop).
    pub backlog: u64,
    /// Connections that were still at an event when the job stopped waiting for them.
    #[serde(default)]
    pub unfinished: u32,
    /// The longest that a script kept an event loop from its other connections.
    pub stall_us_max: u64,
    /// Events and the seconds they took, by connection: for the fairness figures.
    pub fairness: Fairness,
    /// The same since the last checkpoint, where one was reached.
    #[serde(default)]
    pub since_checkpoint: Option<Fairness>,
}

/// What was done, by kind.
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
    /// Errors that were ignored, each of which restarted its event.
    pub errors: u64,
    /// Connections made anew.
    pub reconnects: u64,
    /// Rows that bulk inserts sent.
    pub rows: u64,
}

impl Counts {
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
        self.rows += other.rows;
    }
}

/// Time from when statements were asked for until their answer was in, by what they did, as [`Counts`] has it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StatementLatency {
    /// Of those that returned rows.
    pub reads: Latency,
    /// Of those that changed rows.
    pub writes: Latency,
    /// Of all others.
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

    /// Forgets every latency.
    pub(crate) fn clear(&mut self) {
        for latency in [&mut self.reads, &mut self.writes, &mut self.others] {
            if !latency.histogram().is_empty() {
                latency.clear();
            }
        }
    }

    pub(crate) fn record_us(&mut self, kind: Kind, latency_us: u64) {
        match kind {
            Kind::Read => self.reads.record_us(latency_us),
            Kind::Write => self.writes.record_us(latency_us),
            Kind::Other => self.others.record_us(latency_us),
        }
    }
}

/// What a statement did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// It returned rows.
    Read,
    /// It changed rows.
    Write,
    /// Neither.
    Other,
}

/// What the load process burned, by `getrusage(2)`.
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

/// How evenly connections were served: averages and standard deviations over connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Fairness {
    /// Mean events a connection.
    pub events_avg: f64,
    /// Standard deviation of events over connections.
    pub events_stddev: f64,
    /// Mean time in events a connection.
    pub seconds_avg: f64,
    /// Standard deviation of that time.
    pub seconds_stddev: f64,
}
