//! Ticks and the total, from what the workers recorded.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use crate::frame::{Counts, Fairness, Tick, Total, Usage};
use crate::latency::Latency;
use crate::recorder::{Interval, Recorder};
use crate::usage;
use crate::worker::WorkerReport;

/// Collects what workers recorded, once an interval.
pub(crate) struct Reporter {
    recorders: Vec<Arc<Recorder>>,
    warmup: bool,
    number: u32,
    /// When the interval, and the measured time, began.
    interval_began: (Instant, Usage),
    total: Total,
}

impl Reporter {
    pub(crate) fn new(recorders: Vec<Arc<Recorder>>, warmup: bool, epoch: Instant) -> Self {
        Self {
            recorders,
            warmup,
            number: 0,
            interval_began: (epoch, usage::now()),
            total: Total {
                seconds: 0.0,
                counts: Counts::default(),
                error_codes: BTreeMap::new(),
                latency: Latency::default(),
                usage: Usage::default(),
                backlog: 0,
                unfinished: 0,
                stall_us_max: 0,
                fairness: Fairness::default(),
            },
        }
    }

    /// What comes from here on counts.
    pub(crate) fn begin_measuring(&mut self) {
        self.warmup = false;
    }

    /// Ends the interval. Every interval after the warm-up is part of the total.
    pub(crate) fn tick(&mut self) -> Tick {
        let mut interval = Interval::default();
        let (mut running, mut backlog) = (0, 0);
        for recorder in &self.recorders {
            recorder.take(&mut interval);
            let gauges = recorder.gauges();
            running += gauges.0;
            backlog += gauges.1;
        }
        let now = (Instant::now(), usage::now());
        let tick = Tick {
            number: self.number,
            warmup: self.warmup,
            seconds: now.0.duration_since(self.interval_began.0).as_secs_f64(),
            counts: interval.counts,
            error_codes: interval.error_codes,
            latency: interval.latency,
            usage: now.1.since(self.interval_began.1),
            running,
            backlog,
        };
        self.interval_began = now;
        self.number += 1;
        if !tick.warmup {
            self.total.add(&tick);
        }
        tick
    }

    /// The measured time as a whole. `unfinished`: how many events were dropped at its end.
    pub(crate) fn total(mut self, workers: &[WorkerReport], unfinished: u32) -> Total {
        self.total.unfinished = unfinished;
        self.total.stall_us_max = workers.iter().map(|worker| worker.stall_us_max).max().unwrap_or(0);
        let connections: Vec<(u64, f64)> =
            workers.iter().flat_map(|worker| worker.connections.clone()).collect();
        self.total.fairness = fairness(&connections);
        self.total
    }
}

impl Total {
    fn add(&mut self, tick: &Tick) {
        self.seconds += tick.seconds;
        self.counts += tick.counts;
        for (code, count) in &tick.error_codes {
            *self.error_codes.entry(code.clone()).or_default() += count;
        }
        self.latency.merge(&tick.latency);
        self.usage.user_us += tick.usage.user_us;
        self.usage.system_us += tick.usage.system_us;
        self.usage.context_switches += tick.usage.context_switches;
        self.usage.memory_bytes_max = self.usage.memory_bytes_max.max(tick.usage.memory_bytes_max);
        self.backlog = tick.backlog;
    }
}

fn fairness(connections: &[(u64, f64)]) -> Fairness {
    let (events_avg, events_stddev) = spread(connections.iter().map(|&(events, _)| events as f64));
    let (seconds_avg, seconds_stddev) = spread(connections.iter().map(|&(_, seconds)| seconds));
    Fairness { events_avg, events_stddev, seconds_avg, seconds_stddev }
}

/// Mean and standard deviation of a whole population; zeros where it is empty.
fn spread(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let count = values.clone().count().max(1) as f64;
    // Not `sum`, which makes -0 of nothing.
    let mean = values.clone().fold(0.0, |sum, value| sum + value) / count;
    let variance = values.map(|value| (value - mean).powi(2)).fold(0.0, |sum, value| sum + value) / count;
    (mean, variance.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::recorder::Batch;

    #[test]
    fn the_total_is_what_was_ticked_after_the_warm_up() {
        let recorder = Arc::new(Recorder::default());
        let mut reporter = Reporter::new(vec![Arc::clone(&recorder)], true, Instant::now());
        let record = |latency_us| {
            let mut batch = Batch::default();
            batch.event(latency_us);
            batch.flush(&recorder);
        };
        record(1_000_000);
        assert!(reporter.tick().warmup);
        reporter.begin_measuring();
        record(10);
        record(20);
        assert_eq!(reporter.tick().counts.events, 2);
        record(30);
        assert_eq!(reporter.tick().number, 2);
        let report =
            |events, seconds| WorkerReport { connections: vec![(events, seconds)], stall_us_max: events };
        let total = reporter.total(&[report(1, 2.0), report(3, 2.0)], 0);
        assert_eq!((total.counts.events, total.latency.histogram().max()), (3, 30));
        assert_eq!(total.stall_us_max, 3);
        assert_eq!((total.fairness.events_avg, total.fairness.events_stddev), (2.0, 1.0));
        assert_eq!((total.fairness.seconds_avg, total.fairness.seconds_stddev), (2.0, 0.0));
    }
}
