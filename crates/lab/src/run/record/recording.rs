//! Records a trial without slices from the frames of its load.

use dyno_load::{Counts, Frame, Latency, TIMELINE_BIN_SECONDS, Tick, Total};
use dyno_store::{
    LatencyNs, LatencyRecord, Measured, Operation, Phase, SampleRecord, Timeline, TrialRecord, Usage,
};

use super::meter::{Meter, Reading};
use super::tally::Tally;
use crate::run::observer::{LatencyNow, Pace};

/// The part of a trial's record that has been collected so far.
pub(crate) struct Recording {
    operation: Operation,
    meter: Meter,
    tally: Tally,
    /// The reading at the most recent tick.
    latest: Reading,
    start: Option<Reading>,
    samples: Vec<SampleRecord>,
}

impl Recording {
    pub(crate) fn new(operation: Operation, mut meter: Meter, tally: Tally) -> Self {
        let latest = meter.read();
        Self { operation, meter, tally, latest, start: None, samples: Vec::new() }
    }

    /// Records a frame when it arrives.
    pub(crate) fn note(&mut self, frame: &Frame) {
        match frame {
            Frame::Connected(_) => self.latest = self.meter.read(),
            Frame::Measuring if self.start.is_none() => {
                self.latest = self.meter.read();
                self.start = Some(self.latest);
                self.tally.begin();
                self.meter.memory.begin();
            }
            Frame::Tick(tick) => self.sample(tick),
            Frame::Measuring
            | Frame::Slice(_)
            | Frame::Reached { .. }
            | Frame::Log { .. }
            | Frame::Names { .. }
            | Frame::Finished(_)
            | Frame::Failed { .. } => {}
        }
    }

    /// Takes the first readings before a load without warm-up begins. Without this call, [`note`](Self::note) takes
    /// them when the warm-up has ended.
    ///
    /// A server may take a tenth of a second to report its counters. What a load without warm-up did meanwhile would
    /// not be counted, because such a load has ended when the last readings are taken. The meter comes last, so that
    /// it does not measure the reading of the counters.
    pub(crate) fn begin(&mut self) {
        self.tally.begin();
        self.meter.memory.begin();
        self.latest = self.meter.read();
        self.start = Some(self.latest);
    }

    fn sample(&mut self, tick: &Tick) {
        let now = self.meter.read();
        self.tally.second();
        self.meter.memory.second();
        self.samples.push(SampleRecord {
            number: tick.number,
            phase: if tick.warmup { Phase::Warmup } else { Phase::Measure },
            measured: Measured {
                seconds: tick.seconds,
                counts: counts(&tick.counts, self.operation),
                due: tick.due,
                latency: latency_record(&tick.latency),
            },
            usage: self.meter.usage(&self.latest, &now, &tick.usage),
        });
        self.latest = now;
    }

    /// Adds the measurements to a trial's record: samples, counters, and resource usage. The usage is counted until the
    /// last tick, which comes before the connections close.
    pub(crate) fn finish(self, begun: TrialRecord, total: Option<&Total>) -> TrialRecord {
        let measured = total.map(|total| Measured {
            seconds: total.seconds,
            counts: counts(&total.counts, self.operation),
            due: total.due,
            latency: latency_record(&with_censored(total)),
        });
        let usage = match (total, &self.start) {
            (Some(total), Some(start)) => self.meter.usage(start, &self.latest, &total.usage),
            _ => Usage::default(),
        };
        let warmup: Vec<&SampleRecord> =
            self.samples.iter().filter(|sample| sample.phase == Phase::Warmup).collect();
        let warmup_seconds: f64 = warmup.iter().map(|sample| sample.measured.seconds).sum();
        TrialRecord {
            measured,
            usage,
            warmup_seconds: (!warmup.is_empty()).then_some(warmup_seconds),
            memory: self.meter.memory.finish(total.map(|total| total.usage.memory_bytes_max)),
            error_codes: total.map(|total| total.error_codes.clone()).unwrap_or_default(),
            unfinished: total.map(|total| u64::from(total.unfinished)),
            latency_censored: total
                .filter(|total| !total.censored.histogram().is_empty())
                .map(|total| total.censored.to_bytes()),
            gaps: total.and_then(|total| total.gaps).map(|gaps| dyno_store::GapsRecord {
                longest_seconds: gaps.longest_seconds,
                longest_began_seconds: Some(gaps.longest_began_seconds),
                last_seconds: gaps.last_seconds,
            }),
            timeline: total
                .filter(|total| !total.timeline.is_empty())
                .map(|total| Timeline { bin_seconds: TIMELINE_BIN_SECONDS, bins: total.timeline.clone() }),
            samples: self.samples,
            counters: self.tally.finish(),
            ..begun
        }
    }
}

/// Returns all latencies. For an event that never ended, the time since it began counts as its latency.
fn with_censored(total: &Total) -> Latency {
    let mut latency = total.latency.clone();
    latency.merge(&total.censored);
    latency
}

/// Converts latencies to the form of the results file.
pub(crate) fn latency_record(latency: &Latency) -> LatencyRecord {
    let exact = latency.exact().map(|exact| LatencyNs {
        min_ns: exact.min_ns,
        max_ns: exact.max_ns,
        sum_ns: exact.sum_ns,
    });
    LatencyRecord { histogram: latency.to_bytes(), exact }
}

/// The number of operations, of the kind that the step counts.
pub(crate) fn operations(counts: &Counts, operation: Operation) -> u64 {
    match operation {
        Operation::Query => counts.queries(),
        Operation::Transaction => counts.events,
        Operation::Row => counts.rows,
    }
}

/// Converts the counts of one second to the rate and latency that observers show.
pub(crate) fn pace(tick: &Tick, operation: Operation) -> Pace {
    let operations_per_second = operations(&tick.counts, operation) as f64 / tick.seconds;
    Pace { operations_per_second, latency: latency_now(&tick.latency) }
}

/// Returns percentiles for observers; `None` if no event ended.
pub(crate) fn latency_now(latency: &Latency) -> Option<LatencyNow> {
    let at = |quantile| Some(latency.quantile_us(quantile)?.round() as u64);
    Some(LatencyNow { p50_us: at(0.5)?, p95_us: at(0.95)?, p99_us: at(0.99)? })
}

/// Converts counts to the form of the results file.
pub(crate) fn counts(counts: &Counts, operation: Operation) -> dyno_store::CountsRecord {
    dyno_store::CountsRecord {
        operations: operations(counts, operation),
        events: counts.events,
        reads: counts.reads,
        writes: counts.writes,
        others: counts.others,
        errors: counts.errors,
        reconnects: counts.reconnects,
        failed: counts.failed,
    }
}

#[cfg(test)]
mod tests {
    use dyno_load::LATENCY_US_MAX;
    use dyno_store::LatencyCounts;

    use super::*;

    #[test]
    fn the_results_file_reads_what_a_load_writes() {
        for latencies_us in
            [vec![], vec![1, 250], vec![0, 3_000_000, 3_000_000], vec![LATENCY_US_MAX, 2 * LATENCY_US_MAX]]
        {
            let mut latency = Latency::default();
            for us in &latencies_us {
                latency.record_us(*us);
            }
            let record = latency_record(&latency);
            let counts = LatencyCounts::of(&record).unwrap();
            assert_eq!(counts.events(), latency.histogram().len(), "{latencies_us:?}");
            let most_us = latency.exact().map_or(0.0, |exact| exact.max_ns as f64 / 1e3);
            assert_eq!(counts.max_us().to_bits(), most_us.to_bits(), "{latencies_us:?}");
            let mean_us = latency.mean_ns().unwrap_or(0.0) / 1e3;
            assert_eq!(counts.mean_us().to_bits(), mean_us.to_bits(), "{latencies_us:?}");
            let bins = LatencyCounts::from_bytes(&record.histogram).unwrap();
            assert_eq!(Some(bins.max_us()), Some(latency.histogram().max() as f64), "{latencies_us:?}");
        }
    }
}
