//! Makes ticks, slices and the total from the workers' records.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use crate::machine::usage;
use crate::measure::digests::ReplayFigures;
use crate::measure::gaps::GapWatch;
use crate::measure::per_connection::ConnectionStats;
use crate::measure::recorder::{Edges, Interval, Recorder};
use crate::measure::timeline::Timeline;
use crate::measure::unfinished::Unfinished;
use crate::measure::warm_up::Course;
use crate::protocol::frame::{Fairness, Slice, Tick, Total, Usage};
use crate::protocol::replay::Replayed;
use crate::worker::WorkerReport;

/// The ends of intervals are never exact. An interval therefore also reaches a checkpoint if it ends at most this long
/// before the checkpoint.
const SLACK_SECONDS: f64 = 0.005;

/// Collects the workers' records once per interval.
pub(crate) struct Reporter {
    recorders: Vec<Arc<Recorder>>,
    warmup: bool,
    number: u32,
    /// When the current interval began, and the usage at that time.
    interval_began: (Instant, Usage),
    total: Total,
    /// Whether the load is paced: an event waits until it is due, at a given rate or after a think time.
    is_paced: bool,
    /// Number of events that had become due before the interval began; `None` in a closed loop.
    due: Option<u64>,
    /// Watches for gaps in the measured time of a load of events; `None` before measuring begins, and in slices.
    gaps: Option<GapWatch>,
    /// The times at which measured events ended. `None` unless the job asks for a timeline.
    timeline: Option<Timeline>,
    /// Records the rate during a warm-up, if the warm-up lasts until the rate is steady.
    course: Option<Course>,
    served: ConnectionStats,
    served_since_checkpoint: ConnectionStats,
    /// Checkpoints in seconds of measured time, in order.
    checkpoints: VecDeque<f64>,
    checkpoint_reached: bool,
}

impl Reporter {
    /// Creates a reporter. `checkpoints` are times in seconds of measured time.
    pub(crate) fn new(
        recorders: Vec<Arc<Recorder>>,
        connections: u32,
        checkpoints: &[f64],
        warmup: bool,
        epoch: Instant,
    ) -> Self {
        let mut checkpoints = checkpoints.to_vec();
        checkpoints.sort_by(f64::total_cmp);
        Self {
            recorders,
            warmup,
            number: 0,
            interval_began: (epoch, usage::now()),
            total: Total::default(),
            is_paced: false,
            due: None,
            gaps: None,
            timeline: None,
            course: None,
            served: ConnectionStats::of(connections),
            served_since_checkpoint: ConnectionStats::of(connections),
            checkpoints: checkpoints.into(),
            checkpoint_reached: false,
        }
    }

    /// Turns the reporter into one for a load whose events wait until they are due. If `has_rate` is true, they are due
    /// at a given rate, otherwise after a think time.
    pub(crate) fn paced(self, has_rate: bool) -> Self {
        Self { is_paced: true, due: has_rate.then_some(0), ..self }
    }

    /// Whether no event is in flight and none is due.
    fn is_idle(&self) -> bool {
        self.is_paced && self.recorders.iter().all(|recorder| recorder.gauges() == (0, 0))
    }

    /// Begins the measured time.
    pub(crate) fn begin_measuring(&mut self) {
        self.warmup = false;
        self.course = None;
    }

    /// Begins to watch whether the rate is steady.
    pub(crate) fn watch_course(&mut self) {
        self.course = Some(Course::begin(Instant::now(), self.finished()));
    }

    /// Whether the rate of the warm-up is steady. False if this is not known yet, or if the rate is not watched.
    pub(crate) fn has_level(&self) -> bool {
        self.course.as_ref().is_some_and(Course::has_level)
    }

    pub(crate) fn is_warming_up(&self) -> bool {
        self.warmup
    }

    /// Begins to watch for stretches in which nothing finishes.
    pub(crate) fn watch_gaps(&mut self) {
        self.gaps = Some(GapWatch::begin(Instant::now(), self.finished()));
    }

    /// Begins to record when events end. `epoch` is when the load began.
    pub(crate) fn watch_timeline(&mut self, epoch: Instant) {
        self.timeline = Some(Timeline::begin(epoch));
    }

    /// Checks whether work has finished since the last call. This function is called often, because a gap's length is
    /// only as exact as the time between two calls.
    pub(crate) fn look(&mut self) {
        // `is_idle` must be called before `finished`. An event that ends between the two calls then counts as in
        // flight.
        let is_owed = !self.is_idle();
        let finished = self.finished();
        if let Some(gaps) = &mut self.gaps {
            gaps.look(Instant::now(), finished, is_owed);
        }
        if let Some(course) = &mut self.course {
            course.look(Instant::now(), finished);
        }
    }

    fn finished(&self) -> u64 {
        self.recorders.iter().map(|recorder| recorder.finished()).sum()
    }

    /// Ends the interval. Intervals after the warm-up add to the total.
    pub(crate) fn tick(&mut self) -> Tick {
        self.look();
        let mut interval = Interval::default();
        let (mut running, mut backlog) = (0, 0);
        for recorder in &self.recorders {
            recorder.take(&mut interval);
            let gauges = recorder.gauges();
            running += gauges.0;
            backlog += gauges.1;
        }
        if let Some(timeline) = &mut self.timeline {
            timeline.add(&interval.ended);
        }
        let now = (Instant::now(), usage::now());
        let mut tick = Tick {
            number: self.number,
            warmup: self.warmup,
            seconds: now.0.duration_since(self.interval_began.0).as_secs_f64(),
            counts: interval.counts,
            error_codes: interval.error_codes,
            latency: interval.latency,
            statements: interval.statements,
            checkpoint: None,
            usage: now.1.since(self.interval_began.1),
            running,
            backlog,
            due: self.take_due(),
            is_idle: self.is_idle(),
        };
        self.interval_began = now;
        self.number += 1;
        if !tick.warmup {
            self.total.add(&tick);
            self.served_since_checkpoint.merge(&interval.served);
            self.served.merge(&interval.served);
            tick.checkpoint = self.checkpoint();
        }
        tick
    }

    /// Number of events that became due since the last call; `None` in a closed loop.
    fn take_due(&mut self) -> Option<u64> {
        let due: u64 = self.recorders.iter().map(|recorder| recorder.due()).sum();
        let before = self.due.as_mut()?;
        Some(due.saturating_sub(std::mem::replace(before, due)))
    }

    /// Ends a slice.
    ///
    /// If events are in flight when the slice's time is over, they are finished, and each connection's time lasts until
    /// the end of its last event. Stalls are therefore included. Towards the end, fewer and fewer connections are busy.
    /// This does not bias the rate: by Wald's identity, the number of events divided by the connections' own times is
    /// the rate of an endless run (Ross, "Stochastic Processes", 2nd ed., section 3.3).
    ///
    /// `paced_seconds` is the ordered time of a slice at a rate, in which connections wait while nothing is due.
    pub(crate) fn slice(
        &mut self,
        began_us: u64,
        connections: u32,
        paced_seconds: Option<f64>,
        usage: Usage,
    ) -> Slice {
        let (mut interval, mut edges) = (Interval::default(), Edges::default());
        for recorder in &self.recorders {
            recorder.take(&mut interval);
            recorder.take_edges(&mut edges);
        }
        let mut counts_whole = interval.counts;
        counts_whole += edges.lead;
        let busy_seconds = edges.busy_ns as f64 / 1e9 / f64::from(connections);
        let seconds = paced_seconds.unwrap_or(busy_seconds);
        self.total.add(&Tick {
            number: self.number,
            warmup: false,
            seconds,
            counts: interval.counts,
            error_codes: interval.error_codes.clone(),
            latency: interval.latency.clone(),
            statements: interval.statements,
            checkpoint: None,
            usage,
            running: 0,
            backlog: 0,
            due: None,
            is_idle: false,
        });
        self.number += 1;
        self.served.merge(&interval.served);
        Slice {
            began_us,
            seconds,
            counts: interval.counts,
            event_shares: edges.event_shares,
            counts_whole,
            error_codes: interval.error_codes,
            latency: interval.latency,
            waiting: edges.left.waiting,
            backlog: edges.left.backlog,
            usage,
            bins: edges.bins,
        }
    }

    /// Returns the fairness since the previous checkpoint if the measured time has reached the next one; otherwise
    /// `None`.
    fn checkpoint(&mut self) -> Option<Fairness> {
        let reached = self.total.seconds + SLACK_SECONDS;
        if *self.checkpoints.front()? > reached {
            return None;
        }
        self.checkpoints.pop_front();
        let fairness = self.served_since_checkpoint.fairness();
        self.served_since_checkpoint.clear();
        self.checkpoint_reached = true;
        Some(fairness)
    }

    /// The total of the measured time. `unfinished` is the number of connections whose event was abandoned at the end.
    /// `left` contains the ages of the events that never ended.
    pub(crate) fn total(mut self, workers: &[WorkerReport], unfinished: u32, left: &Unfinished) -> Total {
        let mut late = Interval::default();
        self.recorders.iter().for_each(|recorder| recorder.take(&mut late));
        self.total.latency.merge(&late.latency);
        self.total.statements.merge(&late.statements);
        self.total.censored = left.ages();
        self.total.backlog = left.waiting.histogram().len();
        // The workers have not counted the events that became due in the last moment, so `due` may be too small. It is
        // at least the number of due events that have not begun.
        self.total.due = self.total.due.map(|due| due.max(self.total.backlog));
        self.total.unfinished = unfinished;
        self.total.gaps = self.gaps.map(|gaps| gaps.gaps());
        if let Some(mut timeline) = self.timeline.take() {
            timeline.add(&late.ended);
            self.total.timeline = timeline.into_bins();
        }
        self.total.stall_us_max = workers.iter().map(|worker| worker.stall_us_max).max().unwrap_or(0);
        self.total.noted = *workers.iter().find_map(|worker| worker.noted.clone()).unwrap_or_default();
        self.total.replay = replayed(workers);
        self.total.fairness = self.served.fairness();
        self.total.since_checkpoint =
            self.checkpoint_reached.then(|| self.served_since_checkpoint.fairness());
        self.total
    }
}

/// What all workers replayed; `None` if the job is not a replay.
fn replayed(workers: &[WorkerReport]) -> Option<Box<Replayed>> {
    let parts = workers.iter().filter_map(|worker| worker.replay.as_deref());
    let all = parts.fold(None, |all: Option<ReplayFigures>, part| {
        let mut all = all.unwrap_or_default();
        all.merge(part);
        Some(all)
    });
    all.map(|all| Box::new(all.replayed()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::recorder::Batch;

    #[test]
    fn the_total_is_what_was_ticked_after_the_warm_up() {
        let recorder = Arc::new(Recorder::default());
        let mut reporter =
            Reporter::new(vec![Arc::clone(&recorder)], 2, &[0.0, 3600.0], true, Instant::now());
        let record = |connection, latency_us: u64| {
            let mut batch = Batch::default();
            batch.event(connection, latency_us * 1000);
            batch.statement(1, 0, latency_us * 500);
            batch.flush(&recorder);
        };
        record(0, 1_000_000);
        assert!(reporter.tick().warmup);
        reporter.begin_measuring();
        record(0, 10);
        record(1, 20);
        let tick = reporter.tick();
        assert_eq!((tick.counts.events, tick.statements.reads.histogram().len()), (2, 2));
        // The checkpoint at 0 s is reached. The checkpoint after an hour is not.
        assert_eq!(tick.checkpoint.map(|fairness| fairness.events_avg), Some(1.0));
        record(1, 30);
        let tick = reporter.tick();
        assert_eq!((tick.number, tick.checkpoint), (2, None));
        let workers = [1, 3].map(|stall_us_max| WorkerReport { stall_us_max, ..WorkerReport::default() });
        let total = reporter.total(&workers, 0, &Unfinished::default());
        assert_eq!((total.counts.events, total.latency.histogram().max(), total.stall_us_max), (3, 30, 3));
        assert_eq!((total.fairness.events_avg, total.fairness.events_stddev), (1.5, 0.5));
        assert_eq!(total.since_checkpoint.map(|fairness| fairness.events_avg), Some(0.5));
        assert_eq!(
            (total.statements.reads.histogram().max(), total.statements.writes.histogram().len()),
            (15, 0)
        );
    }
}
