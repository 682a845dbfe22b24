//! Turns a trial's frames into what the results file keeps of it.

use dyno_load::{Counts, Frame, Latency, Tick, Total};
use dyno_store::{CounterRecord, Measured, Operation, Phase, SampleRecord, SliceRecord, Usage};

use super::meter::{Meter, Reading};
use super::observer::{LatencyNow, Pace};
use super::tally::Tally;

/// A trial as far as it went.
pub(crate) struct Recording {
    operation: Operation,
    meter: Meter,
    tally: Tally,
    /// At the last tick.
    latest: Reading,
    /// When measuring began.
    start: Option<Reading>,
    samples: Vec<SampleRecord>,
}

impl Recording {
    pub(crate) fn new(operation: Operation, mut meter: Meter, tally: Tally) -> Self {
        let latest = meter.read();
        Self { operation, meter, tally, latest, start: None, samples: Vec::new() }
    }

    /// Takes note of a frame as it comes in.
    pub(crate) fn note(&mut self, frame: &Frame) {
        match frame {
            Frame::Connected(_) => self.latest = self.meter.read(),
            Frame::Measuring => {
                self.latest = self.meter.read();
                self.start = Some(self.latest);
                self.tally.begin();
            }
            Frame::Tick(tick) => self.sample(tick),
            Frame::Slice(_)
            | Frame::Reached { .. }
            | Frame::Log { .. }
            | Frame::Finished(_)
            | Frame::Failed { .. } => {}
        }
    }

    fn sample(&mut self, tick: &Tick) {
        let now = self.meter.read();
        self.tally.second();
        self.samples.push(SampleRecord {
            number: tick.number,
            phase: if tick.warmup { Phase::Warmup } else { Phase::Measure },
            measured: Measured {
                seconds: tick.seconds,
                counts: counts(&tick.counts, self.operation),
                latency: tick.latency.to_bytes(),
            },
            usage: self.meter.usage(&self.latest, &now, &tick.usage),
        });
        self.latest = now;
    }

    /// The whole: what was measured, what was burned for it (up to the last tick, before connections close), the
    /// samples and the counters.
    pub(crate) fn finish(self, total: Option<&Total>) -> Recorded {
        let measured = total.map(|total| Measured {
            seconds: total.seconds,
            counts: counts(&total.counts, self.operation),
            latency: total.latency.to_bytes(),
        });
        let usage = match (total, &self.start) {
            (Some(total), Some(start)) => self.meter.usage(start, &self.latest, &total.usage),
            _ => Usage::default(),
        };
        Recorded {
            measured,
            usage,
            samples: self.samples,
            counters: self.tally.finish(),
            ..Recorded::default()
        }
    }
}

/// A trial as the results file keeps it.
#[derive(Default)]
pub(crate) struct Recorded {
    pub(crate) rest_cpu_us: Option<u64>,
    pub(crate) lead_seconds: Option<f64>,
    pub(crate) slices: Vec<SliceRecord>,
    pub(crate) measured: Option<Measured>,
    pub(crate) usage: Usage,
    pub(crate) samples: Vec<SampleRecord>,
    pub(crate) counters: Vec<CounterRecord>,
}

/// What a step's rate counts, of what was done.
pub(crate) fn operations(counts: &Counts, operation: Operation) -> u64 {
    match operation {
        Operation::Query => counts.queries(),
        Operation::Transaction => counts.events,
        Operation::Row => counts.rows,
    }
}

/// Progress of one second, for observers.
pub(crate) fn pace(tick: &Tick, operation: Operation) -> Pace {
    let operations_per_second = operations(&tick.counts, operation) as f64 / tick.seconds;
    Pace { operations_per_second, latency: latency_now(&tick.latency) }
}

/// Percentiles for observers; none if no event ended.
pub(crate) fn latency_now(latency: &Latency) -> Option<LatencyNow> {
    let histogram = latency.histogram();
    let at = |quantile| histogram.value_at_quantile(quantile);
    (!histogram.is_empty()).then(|| LatencyNow { p50_us: at(0.5), p95_us: at(0.95), p99_us: at(0.99) })
}

/// Counts as the results file has them.
pub(crate) fn counts(counts: &Counts, operation: Operation) -> dyno_store::Counts {
    dyno_store::Counts {
        operations: operations(counts, operation),
        events: counts.events,
        reads: counts.reads,
        writes: counts.writes,
        others: counts.others,
        errors: counts.errors,
        reconnects: counts.reconnects,
    }
}
