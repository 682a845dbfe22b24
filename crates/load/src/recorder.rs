//! Where workers put what they did and the reporter takes it from, once an interval.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use dyno_script::SqlFailure;

use crate::frame::{Counts, Kind, StatementLatency};
use crate::latency::Latency;
use crate::served::ConnectionStats;

/// What happened since the last [`Recorder::take`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Interval {
    pub(crate) counts: Counts,
    pub(crate) error_codes: BTreeMap<String, u64>,
    pub(crate) latency: Latency,
    pub(crate) statements: StatementLatency,
    pub(crate) served: ConnectionStats,
}

impl Interval {
    fn add_errors(&mut self, codes: &mut BTreeMap<String, u64>) {
        for (code, count) in std::mem::take(codes) {
            *self.error_codes.entry(code).or_default() += count;
        }
    }
}

/// Which part of a slice something was finished in. Of a job that is not sliced, everything counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Part {
    /// Before its counted time.
    Lead,
    /// Afterwards, until every connection rests.
    #[default]
    Counted,
}

/// What is recorded, by part of the slice.
#[derive(Debug, Default)]
struct Record {
    counted: Interval,
    lead: Counts,
    event_shares: f64,
    busy_ns: u64,
    /// Statements by bin of the slice.
    bins: Vec<u32>,
}

/// One worker's side of the record. The lock is taken once a [`Batch`], so it is all but free.
#[derive(Debug, Default)]
pub(crate) struct Recorder {
    record: Mutex<Record>,
    running: AtomicU32,
    backlog: AtomicU64,
}

/// What is told of a slice, besides what was finished in its counted time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Edges {
    /// What was finished before it.
    pub(crate) lead: Counts,
    /// Events, each by the share of its time that counts.
    pub(crate) event_shares: f64,
    /// From the beginning of the counted time until a connection rested: the sum of all connections.
    pub(crate) busy_ns: u64,
    /// Statements by bin of the slice.
    pub(crate) bins: Vec<u32>,
}

impl Recorder {
    /// Moves what was recorded since the last call into `into`, whose own content is added to.
    pub(crate) fn take(&self, into: &mut Interval) {
        let mut record = self.record.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let interval = &mut record.counted;
        into.counts += interval.counts;
        interval.counts = Counts::default();
        into.add_errors(&mut interval.error_codes);
        if !interval.latency.histogram().is_empty() {
            into.latency.merge(&interval.latency);
            interval.latency.clear();
            into.served.merge(&interval.served);
            interval.served.clear();
        }
        into.statements.merge(&interval.statements);
        interval.statements.clear();
    }

    /// The same of what only slices tell.
    pub(crate) fn take_edges(&self, into: &mut Edges) {
        let mut record = self.record.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        into.lead += std::mem::take(&mut record.lead);
        into.event_shares += std::mem::take(&mut record.event_shares);
        into.busy_ns += std::mem::take(&mut record.busy_ns);
        if into.bins.len() < record.bins.len() {
            into.bins.resize(record.bins.len(), 0);
        }
        into.bins.iter_mut().zip(record.bins.drain(..)).for_each(|(into, bin)| *into += bin);
    }

    /// Connections with an event under way, and due events that have not begun, as last said.
    pub(crate) fn gauges(&self) -> (u32, u64) {
        (self.running.load(Ordering::Relaxed), self.backlog.load(Ordering::Relaxed))
    }

    pub(crate) fn set_running(&self, connections: u32) {
        self.running.store(connections, Ordering::Relaxed);
    }

    /// For workers that share a recorder: one more or one less.
    pub(crate) fn add_running(&self, change: i32) {
        self.running.fetch_add(change as u32, Ordering::Relaxed);
    }

    pub(crate) fn set_backlog(&self, events: u64) {
        self.backlog.store(events, Ordering::Relaxed);
    }
}

/// What a worker did since its last turn of the loop, not yet visible to the reporter.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    pub(crate) counts: Counts,
    error_codes: BTreeMap<String, u64>,
    /// Connection and latency (ns) of each event.
    events: Vec<(u32, u64)>,
    /// Kind and latency (µs) of each statement.
    statements: Vec<(Kind, u64)>,
    event_shares: f64,
    busy_ns: u64,
    /// Statements by bin of the slice.
    bins: Vec<u32>,
    /// The part of the slice that all of this is of.
    part: Part,
}

impl Batch {
    /// Notes a finished event whose latency does not count, as it began before the slice's counted time.
    pub(crate) fn early_event(&mut self) {
        self.counts.events += 1;
    }

    /// Goes on in another part of the slice; what was done before is handed over.
    pub(crate) fn enter(&mut self, part: Part, recorder: &Recorder) {
        self.flush(recorder);
        self.part = part;
    }

    /// Notes the share of a finished event's time that counts.
    pub(crate) fn share(&mut self, share: f64) {
        self.event_shares += share;
    }

    /// Notes that a connection rests, so long after the beginning of the slice's counted time.
    pub(crate) fn rests(&mut self, busy_ns: u64) {
        self.busy_ns += busy_ns;
    }

    /// Says of which part of the slice its content is.
    pub(crate) fn set_part(&mut self, part: Part) {
        self.part = part;
    }

    /// Notes in which bin of the slice a statement ended.
    pub(crate) fn bin(&mut self, bin: usize) {
        if self.bins.len() <= bin {
            self.bins.resize(bin + 1, 0);
        }
        self.bins[bin] += 1;
    }

    /// Notes a finished event of a connection.
    pub(crate) fn event(&mut self, connection: u32, latency_ns: u64) {
        self.counts.events += 1;
        self.events.push((connection, latency_ns));
    }

    /// Notes a finished statement, and counts it the way sysbench does: what returns rows reads, what changed some
    /// writes.
    pub(crate) fn statement(&mut self, fields: u32, affected_rows: u64, latency_ns: u64) {
        let (count, kind) = match (fields, affected_rows) {
            (0, 0) => (&mut self.counts.others, Kind::Other),
            (0, _) => (&mut self.counts.writes, Kind::Write),
            _ => (&mut self.counts.reads, Kind::Read),
        };
        *count += 1;
        self.statements.push((kind, latency_ns / 1000));
    }

    /// Notes a failure after which its event is run again.
    pub(crate) fn ignored(&mut self, failure: &SqlFailure) {
        let code = if failure.errno == 0 { failure.state.clone() } else { failure.errno.to_string() };
        *self.error_codes.entry(code).or_default() += 1;
    }

    /// Hands everything over.
    pub(crate) fn flush(&mut self, recorder: &Recorder) {
        if self.counts == Counts::default() && self.error_codes.is_empty() && self.busy_ns == 0 {
            return;
        }
        let mut record = recorder.record.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let record = &mut *record;
        let interval = &mut record.counted;
        match self.part {
            Part::Lead => record.lead += self.counts,
            Part::Counted => interval.counts += self.counts,
        }
        record.event_shares += std::mem::take(&mut self.event_shares);
        record.busy_ns += std::mem::take(&mut self.busy_ns);
        if record.bins.len() < self.bins.len() {
            record.bins.resize(self.bins.len(), 0);
        }
        record.bins.iter_mut().zip(self.bins.drain(..)).for_each(|(into, bin)| *into += bin);
        interval.add_errors(&mut self.error_codes);
        for (connection, latency_ns) in self.events.drain(..) {
            interval.latency.record_us(latency_ns / 1000);
            interval.served.event(connection, latency_ns);
        }
        for (kind, latency_us) in self.statements.drain(..) {
            interval.statements.record_us(kind, latency_us);
        }
        self.counts = Counts::default();
    }
}
