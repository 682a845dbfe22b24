//! Runs the load from the first event to the last: the warm-up, then ticks or slices.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use super::{POLL, Run};
use crate::measure::reporter::Reporter;
use crate::protocol::frame::{Connected, Frame, Order};
use crate::schedule::control::Phase;
use crate::schedule::seconds;

impl Run<'_> {
    /// Measures from the first event to the last.
    pub(super) fn measure(&mut self) -> Reporter {
        let shared = Arc::clone(&self.shared);
        let job = &shared.job;
        let connections = self.connections();
        (self.sink)(Frame::Connected(Connected {
            connections,
            threads: self.plan.workers.len() as u32,
            method: if self.plan.event_loops {
                format!("event loop ({})", self.method)
            } else {
                format!("a thread a connection ({})", self.method)
            },
            database: shared.database.load(Ordering::Relaxed),
        }));
        if job.awaits_begin && !self.wait_for(Order::Begin) {
            return self.reporter();
        }
        // As in sysbench, events of the warm-up do not count towards the number that ends the run.
        self.shared.control.count_down(!job.warms_up());
        self.shared.control.advance(Phase::Running);
        let mut reporter = self.reporter();
        if job.sliced {
            self.run_slices(&mut reporter);
            return reporter;
        }
        if !job.joins.is_empty() && !self.wait_to_measure(&mut reporter) {
            return reporter;
        }
        if job.warms_up() {
            self.warm_up(&mut reporter);
            // `count_down` must be called before `tick`, so that every event that begins in the measured time counts
            // towards the number that ends the run. As in sysbench, an event that is in flight now is measured, but
            // does not count towards that number.
            shared.control.count_down(true);
            (self.sink)(Frame::Tick(reporter.tick()));
        }
        // If all workers ended during the warm-up, there is nothing to measure. Without a warm-up, the records of
        // workers that have already ended belong to the measured time.
        if self.going() && (!job.warms_up() || self.ended < self.plan.workers.len()) {
            reporter.begin_measuring();
            if self.plan.events {
                reporter.watch_gaps();
            }
            if job.reconnects() {
                reporter.watch_timeline(shared.control.epoch());
            }
            (self.sink)(Frame::Measuring);
            self.tick_until(&mut reporter, job.seconds);
        }
        reporter
    }

    /// Runs the load for the time of the warm-up. Then continues, tick by tick, while the rate is not steady.
    fn warm_up(&mut self, reporter: &mut Reporter) {
        let shared = Arc::clone(&self.shared);
        let job = &shared.job;
        if job.warmup_seconds_max > 0.0 {
            reporter.watch_course();
        }
        let began = Instant::now();
        if job.warmup_seconds > 0.0 {
            self.tick_until(reporter, Some(job.warmup_seconds));
        }
        loop {
            let left_seconds = job.warmup_seconds_max - began.elapsed().as_secs_f64();
            let goes_on = self.going() && self.ended < self.plan.workers.len();
            if left_seconds <= 0.0 || !goes_on || reporter.has_level() {
                return;
            }
            self.tick_until(reporter, Some(job.tick_seconds.min(left_seconds)));
        }
    }

    fn reporter(&self) -> Reporter {
        let job = &self.shared.job;
        let reporter = Reporter::new(
            self.plan.recorders(),
            self.plan.workers.last().map_or(0, |worker| worker.tids.end),
            &job.tuning.checkpoints_seconds,
            job.warms_up() || !job.joins.is_empty(),
            self.shared.control.epoch(),
        );
        if job.is_paced() { reporter.paced(job.rate.is_some()) } else { reporter }
    }

    /// Sends ticks for `length_seconds`, or until the workers or the job end.
    pub(super) fn tick_until(&mut self, reporter: &mut Reporter, length_seconds: Option<f64>) {
        let tick = seconds(self.shared.job.tick_seconds.max(0.01));
        let began = Instant::now();
        let end = length_seconds.map(|length| began + seconds(length.max(0.0)));
        let mut next_tick = began + tick;
        loop {
            let until = end.map_or(next_tick, |end| end.min(next_tick));
            while Instant::now() < until && self.going() && self.ended < self.plan.workers.len() {
                self.listen_until(until.min(Instant::now() + POLL));
                reporter.look();
            }
            let over = end.is_some_and(|end| Instant::now() >= end);
            let through = !self.going() || self.ended == self.plan.workers.len();
            if over && !reporter.is_warming_up() {
                // The phase changes before the last tick. Events that end after that tick have therefore begun within
                // the measured time.
                self.shared.control.advance(Phase::Stopping);
            }
            if Instant::now() >= next_tick || over || through {
                (self.sink)(Frame::Tick(reporter.tick()));
                next_tick += tick;
            }
            if over || through {
                return;
            }
        }
    }
}
