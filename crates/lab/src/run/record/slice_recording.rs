//! Records a trial in slices.

use std::collections::BTreeMap;

use dyno_load::{Counts, Latency, Slice};
use dyno_store::{GapsRecord, Measured, Operation, Phase, SampleRecord, SliceRecord, TrialRecord, Usage};

use super::meter::{Meter, Reading};
use super::recording::{counts, latency_now, latency_record, operations};
use super::tally::Tally;
use crate::run::observer::Pace;

/// Consecutive slices that together last this long make one sample.
const SAMPLE_SECONDS: f64 = 1.0;

/// Sums over several slices.
#[derive(Default)]
struct Sum {
    seconds: f64,
    counts: Counts,
    latency: Latency,
    /// Resource usage in all slices. `None` before the first slice.
    usage: Option<Usage>,
}

/// The part of the record of a trial in slices that has been collected so far.
pub(crate) struct SliceRecording {
    operation: Operation,
    meter: Meter,
    tally: Tally,
    /// The reading at the end of the system's most recent slice.
    rested: Option<Reading>,
    rest_cpu_us: Option<u64>,
    whole: Sum,
    sample: Sum,
    samples: Vec<SampleRecord>,
    slices: Vec<SliceRecord>,
    error_codes: BTreeMap<String, u64>,
    /// Number of operations in all slices, including those in leads.
    operations_whole: u64,
}

impl SliceRecording {
    pub(crate) fn new(operation: Operation, meter: Meter, tally: Tally) -> Self {
        Self {
            operation,
            meter,
            tally,
            rested: None,
            rest_cpu_us: Some(0),
            whole: Sum::default(),
            sample: Sum::default(),
            samples: Vec::new(),
            slices: Vec::new(),
            error_codes: BTreeMap::new(),
            operations_whole: 0,
        }
    }

    /// Begins the measurement. The next slice is the first one that is measured.
    pub(crate) fn begin(&mut self) {
        self.tally.begin();
        self.meter.memory.begin();
    }

    /// Reads the meter before a slice. Also records the CPU time that the system used since its previous slice.
    pub(crate) fn slice_begins(&mut self) -> Reading {
        let now = self.meter.read();
        if let Some(rested) = &self.rested {
            let cpu_us = Meter::server_cpu_us(rested, &now);
            self.rest_cpu_us = self.rest_cpu_us.zip(cpu_us).map(|(sum, cpu_us)| sum + cpu_us);
        }
        now
    }

    /// Records a slice. `began` is the reading at its beginning. If the slice completes a sample, returns the sample's
    /// rate. The caller must then call [`Self::sample_ended`].
    pub(crate) fn slice_ended(
        &mut self,
        slice: &Slice,
        cycle: u32,
        started_us: u64,
        began: &Reading,
    ) -> Option<Pace> {
        let now = self.meter.read();
        let (counted, whole) =
            (operations(&slice.counts, self.operation), operations(&slice.counts_whole, self.operation));
        // The resource usage is known only for the whole slice including its lead. The measured operations get a
        // proportional part of this usage.
        let share = if whole > 0 { counted as f64 / whole as f64 } else { 0.0 };
        let usage = self.meter.usage(began, &now, &slice.usage).times(share);
        self.rested = Some(now);
        self.operations_whole += whole;
        for (code, count) in &slice.error_codes {
            *self.error_codes.entry(code.clone()).or_default() += count;
        }
        let operations = slice_operations(slice, self.operation);
        self.slices.push(SliceRecord { cycle, started_us, seconds: slice.seconds, operations });
        self.whole.add(slice, &usage);
        self.sample.add(slice, &usage);
        (self.sample.seconds >= SAMPLE_SECONDS).then(|| self.end_sample())
    }

    /// Records the end of a slice that is not measured, and counts the slice's operations. The server's counters
    /// include these operations, so the number is needed to compute the measured share of the counters.
    pub(crate) fn slice_left_out(&mut self, slice: &Slice) {
        self.rested = Some(self.meter.read());
        self.operations_whole += operations(&slice.counts_whole, self.operation);
    }

    /// Takes the readings at the end of a sample. The server must not be frozen, because it has to answer when its
    /// counters are read.
    pub(crate) fn sample_ended(&mut self) {
        self.tally.second();
        self.meter.memory.second();
    }

    fn end_sample(&mut self) -> Pace {
        let sum = std::mem::take(&mut self.sample);
        let pace = Pace {
            operations_per_second: operations(&sum.counts, self.operation) as f64 / sum.seconds,
            latency: latency_now(&sum.latency),
        };
        let usage = sum.usage.unwrap_or_default();
        self.samples.push(SampleRecord {
            number: self.samples.len() as u32,
            phase: Phase::Measure,
            measured: sum.measured(self.operation),
            usage,
        });
        pace
    }

    /// Completes the record of a search with the measurements of its probes. The search itself sets the rates of
    /// probes, so they are not recorded as samples of the system's rate. The system does not rest between probes, so no
    /// CPU time of rests is recorded.
    pub(crate) fn finish_search(self, begun: TrialRecord) -> TrialRecord {
        TrialRecord {
            samples: Vec::new(),
            slices: Vec::new(),
            lead_seconds: None,
            rest_cpu_us: None,
            gaps: None,
            ..self.finish(begun, 0.0, 0.0)
        }
    }

    /// Completes a trial's record with its slices and their measurements. `slice_seconds` is the length that was
    /// ordered for each slice.
    pub(crate) fn finish(mut self, begun: TrialRecord, lead_seconds: f64, slice_seconds: f64) -> TrialRecord {
        if self.sample.seconds > 0.0 {
            self.end_sample();
            self.sample_ended();
        }
        let counted = operations(&self.whole.counts, self.operation);
        let share =
            if self.operations_whole > 0 { counted as f64 / self.operations_whole as f64 } else { 1.0 };
        TrialRecord {
            usage: self.whole.usage.unwrap_or_default(),
            memory: self.meter.memory.finish(None),
            measured: (self.whole.seconds > 0.0).then(|| self.whole.measured(self.operation)),
            error_codes: self.error_codes,
            samples: self.samples,
            counters: self.tally.finish_share(share),
            rest_cpu_us: self.rest_cpu_us,
            lead_seconds: Some(lead_seconds),
            gaps: Some(gaps(&self.slices, slice_seconds)),
            slices: self.slices,
            ..begun
        }
    }
}

/// Computes the gaps in which no event finished. A slice ends when its last event ends. Therefore a slice's time
/// beyond its ordered length is time without a finished event.
fn gaps(slices: &[SliceRecord], slice_seconds: f64) -> GapsRecord {
    let over = |slice: &SliceRecord| (slice.seconds - slice_seconds).max(0.0);
    GapsRecord {
        longest_seconds: slices.iter().map(over).fold(0.0, f64::max),
        longest_began_seconds: None,
        last_seconds: 0.0,
    }
}

/// Returns the number of operations in a slice. If the operations are events, a slice has few of them, so an event
/// that is only partly in the slice counts by its share. Queries and rows are so numerous that this does not
/// matter.
fn slice_operations(slice: &Slice, operation: Operation) -> f64 {
    let events_are_queries = slice.counts_whole.queries() == slice.counts_whole.events;
    match operation {
        Operation::Transaction => slice.event_shares,
        Operation::Query if events_are_queries => slice.event_shares,
        _ => operations(&slice.counts, operation) as f64,
    }
}

impl Sum {
    fn add(&mut self, slice: &Slice, usage: &Usage) {
        self.seconds += slice.seconds;
        self.counts += slice.counts;
        self.latency.merge(&slice.latency);
        self.usage = Some(self.usage.map_or(*usage, |sum| sum.plus(usage)));
    }

    fn measured(&self, operation: Operation) -> Measured {
        Measured {
            seconds: self.seconds,
            counts: counts(&self.counts, operation),
            due: None,
            latency: latency_record(&self.latency),
        }
    }
}
