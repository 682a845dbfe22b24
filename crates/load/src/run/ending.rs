//! The end of a job. The job waits for events in flight, and counts the events that did not end.

use std::sync::PoisonError;
use std::sync::atomic::Ordering;
use std::time::Instant;

use super::{INTERRUPT_EVERY, POLL, Run, STOP_TIMEOUT};
use crate::measure::reporter::Reporter;
use crate::measure::unfinished::Unfinished;
use crate::protocol::frame::Frame;
use crate::schedule::control::Phase;
use crate::schedule::seconds;

impl Run<'_> {
    /// Waits for events in flight, up to the time limit. With
    /// [`ends_with_last_event`](crate::Tuning::ends_with_last_event), the wait is part of the measured time.
    pub(super) fn wind_down(&mut self, reporter: Option<&mut Reporter>) {
        let mut reporter = reporter.filter(|_| self.shared.job.tuning.ends_with_last_event);
        let tick = seconds(self.shared.job.tick_seconds.max(0.01));
        let mut next_tick = Instant::now() + tick;
        self.shared.control.advance(Phase::Stopping);
        let expected = self.started;
        let patience =
            if self.going() { seconds(self.shared.job.tuning.end_seconds_max) } else { STOP_TIMEOUT };
        let mut limit = Instant::now() + patience;
        while self.ended < expected && Instant::now() < limit && self.ready > 0 {
            self.listen_until(Instant::now() + POLL);
            if self.stop.load(Ordering::Relaxed) {
                limit = limit.min(Instant::now() + STOP_TIMEOUT);
            }
            if let Some(reporter) = reporter.as_deref_mut().filter(|_| Instant::now() >= next_tick) {
                (self.sink)(Frame::Tick(reporter.tick()));
                next_tick += tick;
            }
        }
        if let Some(reporter) = reporter {
            (self.sink)(Frame::Tick(reporter.tick()));
        }
        if self.ended < expected {
            let at_events: u32 = self.plan.recorders().iter().map(|recorder| recorder.gauges().0).sum();
            // A worker that hangs in its script has not reported its events in flight, so it counts as one connection.
            self.unfinished = at_events.max((expected - self.ended) as u32);
        }
        self.shared.control.advance(Phase::Aborting);
        let limit = Instant::now() + STOP_TIMEOUT;
        while self.ended < expected && Instant::now() < limit {
            // The interrupt is repeated, because a worker that runs no Lua at the moment does not notice it.
            self.interrupt();
            self.listen_until(Instant::now() + INTERRUPT_EVERY);
        }
    }

    /// The events that did not end.
    pub(super) fn left_behind(&self) -> Unfinished {
        let control = &self.shared.control;
        let mut left = Unfinished::default();
        self.reports.iter().for_each(|report| left.merge(&report.unfinished));
        let now_ns = control.epoch().elapsed().as_nanos() as u64;
        let since_ns = self.plan.workers.iter().map(|worker| worker.busy_since_ns.load(Ordering::Relaxed));
        since_ns.filter(|&since_ns| since_ns > 0).for_each(|since_ns| left.abandon(since_ns, now_ns));
        if let Some(schedule) = self.shared.schedule.as_ref().filter(|_| !self.plan.event_loops) {
            let mut schedule = schedule.lock().unwrap_or_else(PoisonError::into_inner);
            left.merge(&Unfinished::of_schedule(&mut schedule, control));
        }
        left
    }
}
