//! A trial that searches for the highest rate of events within a latency limit.
//!
//! A single load process runs all probes. A probe is a slice at a set rate. Events that still wait at the end of a
//! slice are dropped, and the connections rest before the next slice.

use std::time::Instant;

use dyno_load::{LoadProcess, Slice, SliceOrder};
use dyno_stats::{CapacityEstimate, CapacitySearch};
use dyno_store::{CapacityRecord, FindRecord, ProbeRecord, TrialRecord};

use super::finished::FinishedTrial;
use super::limits::note_client_cpus;
use super::planned::PlannedTrial;
use super::probe;
use super::watch::TrialAbort;
use crate::job;
use crate::run::observer::Pace;
use crate::run::record::{Meter, SliceRecording, Tally, latency_now};
use crate::run::system::RunningSystem;

/// Duration of the closed loop before the search, in seconds. The rate of the closed loop determines where the search
/// starts.
const CLOSED_LOOP_SECONDS: f64 = 1.0;
/// The first rate that is probed, as a share of the closed loop's rate.
const FIRST_RATE: f64 = 0.25;

/// A search in progress.
struct Finder<'a> {
    planned: &'a PlannedTrial<'a>,
    find: FindRecord,
    load: LoadProcess,
    recording: SliceRecording,
    probes: Vec<ProbeRecord>,
}

impl PlannedTrial<'_> {
    /// Runs a search of up to `seconds_max`, and calls `ticked` after each probe. The results so far are recorded even
    /// if the search fails.
    pub(super) fn search(
        &self,
        find: FindRecord,
        seconds_max: f64,
        system: &dyn RunningSystem,
        finished: &mut FinishedTrial,
        ticked: impl FnMut(Pace),
    ) -> Result<(), TrialAbort> {
        let mut load =
            self.start_load(&job::probed(self.plan, self.trial, system.target_at(self.step().endpoint)))?;
        note_client_cpus(&mut finished.record, self.cpus(), load.pid());
        self.watch().until_measuring(&mut load)?;
        let meter = Meter::new(system.work(), system.pooler(), Some(load.pid()), system.data());
        let recording = SliceRecording::new(self.step().operation, meter, Tally::new(system.counters()));
        let mut finder = Finder { planned: self, find, load, recording, probes: Vec::new() };
        let found = finder.run(seconds_max, ticked);
        let Finder { load, recording, probes, .. } = finder;
        let begun = std::mem::take(&mut finished.record);
        finished.record = TrialRecord { probes, ..recording.finish_search(begun) };
        let found = found?;
        finished.record.capacity = Some(CapacityRecord {
            per_second: found.rate,
            low_per_second: found.interval.low,
            high_per_second: found.interval.high,
        });
        finished.noted = self.watch().finish(load)?.noted;
        Ok(())
    }
}

impl Finder<'_> {
    fn run(
        &mut self,
        seconds_max: f64,
        mut ticked: impl FnMut(Pace),
    ) -> Result<CapacityEstimate, TrialAbort> {
        let closed_loop = self.warm_up()?;
        let mut search = CapacitySearch::new(closed_loop * FIRST_RATE, self.find.within);
        self.recording.begin();
        let began = Instant::now();
        while let Some(rate) = search.next_rate() {
            let order = probe::order(&self.find, rate);
            if began.elapsed().as_secs_f64() + order.lead_seconds + order.seconds > seconds_max {
                return search.estimate().ok_or_else(|| self.out_of_time(seconds_max));
            }
            let (keeps_limit, pace) = self.probe(rate, &order)?;
            // A probe in which no event was due shows nothing, so it is not counted.
            if let Some(keeps_limit) = keeps_limit {
                search.note(rate, keeps_limit);
            }
            ticked(pace);
        }
        search.estimate().ok_or_else(|| self.none())
    }

    /// Runs the step's warm-up and measures the rate of a closed loop, in events per second.
    fn warm_up(&mut self) -> Result<f64, TrialAbort> {
        let warmup_seconds = self.planned.step().warmup_seconds;
        let closed = |seconds| SliceOrder { lead_seconds: 0.0, seconds, bin_seconds: None, rate: None };
        if warmup_seconds > 0.0 {
            self.planned.watch().slice(&mut self.load, &closed(warmup_seconds))?;
        }
        let slice = self.planned.watch().slice(&mut self.load, &closed(CLOSED_LOOP_SECONDS))?;
        Ok(slice.counts.events as f64 / slice.seconds)
    }

    /// Runs and records one probe. Returns whether the probe stayed within the limit; `None` if no event was due in
    /// it.
    fn probe(&mut self, rate: f64, order: &SliceOrder) -> Result<(Option<bool>, Pace), TrialAbort> {
        let reading = self.recording.slice_begins();
        let slice = self.planned.watch().slice(&mut self.load, order)?;
        let probe = probe::judge(&self.find, rate, self.planned.trial.clients, &slice);
        if probe.keeps_limit {
            let number = self.probes.len() as u32;
            if self.recording.slice_ended(&slice, number, slice.began_us, &reading).is_some() {
                self.recording.sample_ended();
            }
        } else {
            self.recording.slice_left_out(&slice);
        }
        self.probes.push(probe);
        Ok(((probe.due > 0).then_some(probe.keeps_limit), pace(&slice)))
    }

    fn none(&self) -> TrialAbort {
        TrialAbort::failed(format!("no rate keeps {}: {}", self.find, self.last()))
    }

    fn out_of_time(&self, seconds_max: f64) -> TrialAbort {
        let used_up =
            format!("seconds_max = {seconds_max} is used up before the search found a rate that keeps");
        let limit = self.find;
        TrialAbort::failed(if self.probes.is_empty() {
            format!("{used_up} {limit}: a probe takes longer; raise seconds_max")
        } else {
            format!("{used_up} {limit} and one that does not: {}; raise seconds_max", self.last())
        })
    }

    /// Describes the result of the last probe: `p99 is 7 ms at 1 event/s`.
    fn last(&self) -> String {
        let Some(probe) = self.probes.last() else { return "there was no probe".to_owned() };
        let rate = (probe.rate_per_second * 10.0).round() / 10.0;
        let unit = if rate > 1.0 { "events/s" } else { "event/s" };
        let percentile = self.find.percentile;
        match probe.latency_ms {
            Some(ms) => format!("p{percentile} is {ms} ms at {rate} {unit}"),
            None => format!("no event was due at {rate} {unit}"),
        }
    }
}

fn pace(slice: &Slice) -> Pace {
    Pace {
        operations_per_second: slice.counts.events as f64 / slice.seconds,
        latency: latency_now(&slice.latency),
    }
}
