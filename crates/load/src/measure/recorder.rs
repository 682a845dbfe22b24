//! Records what the workers do. The reporter takes the records once per interval.

use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use dyno_script::SqlFailure;

use crate::measure::latency::Latency;
use crate::measure::per_connection::ConnectionStats;
use crate::measure::timeline;
use crate::measure::unfinished::Left;
use crate::protocol::frame::{Counts, Kind, StatementLatency};
use crate::schedule::arrivals::Schedule;

/// Records since the last [`Recorder::take`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Interval {
    pub(crate) counts: Counts,
    pub(crate) error_codes: BTreeMap<String, u64>,
    pub(crate) latency: Latency,
    pub(crate) statements: StatementLatency,
    pub(crate) served: ConnectionStats,
    /// Bins of the timeline, each with the number of events that ended in it.
    pub(crate) ended: Vec<(u32, u32)>,
}

impl Interval {
    fn add_errors(&mut self, codes: &mut BTreeMap<String, u64>) {
        for (code, count) in std::mem::take(codes) {
            *self.error_codes.entry(code).or_default() += count;
        }
    }
}

/// A part of a slice. In a job without slices, everything belongs to `Counted`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Part {
    /// The beginning of the slice, which is not measured (the lead).
    Lead,
    /// The measured part: from the end of the lead until all connections have ended their last events.
    #[default]
    Counted,
}

/// The records in a [`Recorder`], separately for the two parts of a slice.
#[derive(Debug, Default)]
struct Record {
    counted: Interval,
    lead: Counts,
    event_shares: f64,
    busy_ns: u64,
    /// Number of statements that ended in each bin of the slice.
    bins: Vec<u32>,
    left: Left,
}

/// The records of one event loop, or of all threads of a job. The lock is taken once per [`Batch`]. A worker writes to
/// its recorder in each iteration of its loop, so two recorders must not share a cache line. The alignment is 128
/// bytes, because processors fetch cache lines in pairs.
#[derive(Debug, Default)]
#[repr(align(128))]
pub(crate) struct Recorder {
    record: Mutex<Record>,
    running: AtomicU32,
    backlog: AtomicU64,
    /// Number of events that have become due since the load began (open loop).
    due: AtomicU64,
    /// Number of finished events and statements since the load began.
    finished: AtomicU64,
}

/// Records that only slices have, in addition to an [`Interval`] for the measured time.
#[derive(Clone, Debug, Default)]
pub(crate) struct Edges {
    /// Work that finished in the slice's lead.
    pub(crate) lead: Counts,
    /// Number of events, each weighted by the share of its time that lies in the measured part of the slice.
    pub(crate) event_shares: f64,
    /// Sum, over all connections, of the time from the end of the lead until the connection ended its last event.
    pub(crate) busy_ns: u64,
    /// Number of statements that ended in each bin of the slice.
    pub(crate) bins: Vec<u32>,
    /// Due events that had not begun at the end of the slice.
    pub(crate) left: Left,
}

impl Recorder {
    /// Takes all records since the last call, and adds them to `into`.
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
        into.ended.append(&mut interval.ended);
    }

    /// Takes the records that only slices have, since the last call, and adds them to `into`.
    pub(crate) fn take_edges(&self, into: &mut Edges) {
        let mut record = self.record.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        into.lead += std::mem::take(&mut record.lead);
        into.event_shares += std::mem::take(&mut record.event_shares);
        into.busy_ns += std::mem::take(&mut record.busy_ns);
        into.left.merge(&std::mem::take(&mut record.left));
        if into.bins.len() < record.bins.len() {
            into.bins.resize(record.bins.len(), 0);
        }
        into.bins.iter_mut().zip(record.bins.drain(..)).for_each(|(into, bin)| *into += bin);
    }

    /// Records the events that became due in a slice at a rate but did not begin.
    pub(crate) fn leave(&self, left: &Left) {
        self.record.lock().unwrap_or_else(std::sync::PoisonError::into_inner).left.merge(left);
    }

    /// Returns the number of connections with an event in flight, and the number of due events that have not begun, as
    /// reported most recently.
    pub(crate) fn gauges(&self) -> (u32, u64) {
        (self.running.load(Ordering::Relaxed), self.backlog.load(Ordering::Relaxed))
    }

    /// Number of finished events and statements since the load began.
    pub(crate) fn finished(&self) -> u64 {
        self.finished.load(Ordering::Relaxed)
    }

    pub(crate) fn set_running(&self, connections: u32) {
        self.running.store(connections, Ordering::Relaxed);
    }

    /// Adds `change` to the number of events in flight. Several workers may share a recorder.
    pub(crate) fn add_running(&self, change: i32) {
        self.running.fetch_add(change as u32, Ordering::Relaxed);
    }

    pub(crate) fn set_backlog(&self, events: u64) {
        self.backlog.store(events, Ordering::Relaxed);
    }

    /// Updates the number of events that have become due according to `schedule`, and the number of those that have not
    /// begun.
    pub(crate) fn count_due(&self, schedule: &mut Schedule, now_ns: u64) {
        self.set_backlog(schedule.backlog(now_ns));
        self.due.store(schedule.due_so_far(), Ordering::Relaxed);
    }

    /// Number of events that have become due since the load began.
    pub(crate) fn due(&self) -> u64 {
        self.due.load(Ordering::Relaxed)
    }
}

/// The error number, or the SQL state of a server that has no numbers.
pub(crate) fn code_of(failure: &SqlFailure) -> String {
    if failure.errno == 0 { failure.state.clone() } else { failure.errno.to_string() }
}

/// Records of one iteration of a worker's loop, not yet visible to the reporter.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    pub(crate) counts: Counts,
    error_codes: BTreeMap<String, u64>,
    /// Connection and latency (ns) of each event.
    events: Vec<(u32, u64)>,
    /// Kind and latency (ns) of each statement.
    statements: Vec<(Kind, u64)>,
    event_shares: f64,
    busy_ns: u64,
    /// Number of statements that ended in each bin of the slice.
    bins: Vec<u32>,
    /// Bins of the timeline, each with the number of events that ended in it.
    ended: Vec<(u32, u32)>,
    /// The part of the slice to which the records of this batch belong.
    part: Part,
}

impl Batch {
    /// Counts a finished event that began in the lead. Its latency is not recorded.
    pub(crate) fn early_event(&mut self) {
        self.counts.events += 1;
    }

    /// Hands the batch over to the recorder, and enters another part of the slice.
    pub(crate) fn enter(&mut self, part: Part, recorder: &Recorder) {
        self.flush(recorder);
        self.part = part;
    }

    /// Records which share of a finished event's time lies in the measured part of the slice.
    pub(crate) fn share(&mut self, share: f64) {
        self.event_shares += share;
    }

    /// Records that a connection has ended its last event in the slice. `busy_ns` is the time since the end of the
    /// lead.
    pub(crate) fn rests(&mut self, busy_ns: u64) {
        self.busy_ns += busy_ns;
    }

    /// Sets the part of the slice to which the following records belong.
    pub(crate) fn set_part(&mut self, part: Part) {
        self.part = part;
    }

    /// Records the bin in which a statement ended.
    pub(crate) fn bin(&mut self, bin: usize) {
        if self.bins.len() <= bin {
            self.bins.resize(bin + 1, 0);
        }
        self.bins[bin] += 1;
    }

    /// Records a finished event of a connection.
    pub(crate) fn event(&mut self, connection: u32, latency_ns: u64) {
        self.counts.events += 1;
        self.events.push((connection, latency_ns));
    }

    /// Records a finished statement. It is counted as in sysbench: a statement that returns rows is a read, and a
    /// statement that changed rows is a write.
    pub(crate) fn statement(&mut self, fields: u32, affected_rows: u64, latency_ns: u64) {
        let (count, kind) = match (fields, affected_rows) {
            (0, 0) => (&mut self.counts.others, Kind::Other),
            (0, _) => (&mut self.counts.writes, Kind::Write),
            _ => (&mut self.counts.reads, Kind::Read),
        };
        *count += 1;
        self.statements.push((kind, latency_ns));
    }

    /// Records on the timeline that an event ended. `at_ns` is the time in ns since the load began.
    pub(crate) fn ended_at(&mut self, at_ns: u64) {
        let bin = timeline::bin(at_ns);
        match self.ended.last_mut() {
            Some((last, events)) if *last == bin => *events += 1,
            _ => self.ended.push((bin, 1)),
        }
    }

    /// Records an event that failed because its connection was lost.
    pub(crate) fn failed(&mut self, failure: &SqlFailure) {
        self.counts.failed += 1;
        self.ignored(failure);
    }

    /// Records an error that does not end the load: the event is run again, or the statement is part of a replay.
    pub(crate) fn ignored(&mut self, failure: &SqlFailure) {
        *self.error_codes.entry(code_of(failure)).or_default() += 1;
    }

    pub(crate) fn flush(&mut self, recorder: &Recorder) {
        if self.counts == Counts::default() && self.error_codes.is_empty() && self.busy_ns == 0 {
            return;
        }
        recorder.finished.fetch_add(self.counts.events + self.counts.queries(), Ordering::Relaxed);
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
        interval.ended.append(&mut self.ended);
        for (connection, latency_ns) in self.events.drain(..) {
            interval.latency.record_ns(latency_ns);
            interval.served.event(connection, latency_ns);
        }
        for (kind, latency_ns) in self.statements.drain(..) {
            interval.statements.record_ns(kind, latency_ns);
        }
        self.counts = Counts::default();
    }
}
