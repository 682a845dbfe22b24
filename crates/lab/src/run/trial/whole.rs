//! A trial without slices.

use std::cell::Cell;
use std::thread;
use std::time::Instant;

use dyno_load::{Frame, FrameSource, Job, Total};
use dyno_store::{Phase, TrialRecord};

use super::beside::Beside;
use super::drivers::{StepLoad, were_together};
use super::finished::FinishedTrial;
use super::limits::{note_client_cpus, without_io_limits};
use super::planned::{LOAD_PATIENCE, PlannedTrial};
use super::watch::{TrialAbort, Watch, start_load};
use crate::job;
use crate::plan::Measure;
use crate::run::error::Stopped;
use crate::run::observer::Pace;
use crate::run::options::RunOptions;
use crate::run::record::{Meter, NeighbourWatch, Recording, Tally, note_replay, pace};
use crate::run::system::{RunningSystem, SystemSlot};
use crate::run::trial::beside::background::BackgroundLoads;
use crate::run::trial::beside::events::TrialEvents;
use crate::run::trial::beside::lag::LagProbe;

/// Tolerance for the number of whole seconds in a trial, in seconds. The time between ticks is not exact, so a trial
/// that is shorter than a whole number of seconds by at most this time counts as having that number.
const SECOND_TOLERANCE: f64 = 0.1;

impl PlannedTrial<'_> {
    /// Runs the trial for `seconds` without slices, or as a search of up to `seconds`. Calls `ticked` about once a
    /// second, or after each probe. `servers` are the processes of all running servers, if known.
    ///
    /// # Errors
    /// The user stopped the run.
    pub(crate) fn make(
        &self,
        seconds: f64,
        slot: &mut SystemSlot<'_>,
        servers: Option<&[u32]>,
        ticked: impl FnMut(Pace),
    ) -> Result<FinishedTrial, Stopped> {
        let mut finished = match self.begin(slot)? {
            Ok(begun) => begun,
            Err(failed) => return Ok(failed),
        };
        let measured = if self.step().step_events.is_empty() {
            let system = slot.system().map_err(TrialAbort::failed);
            system.and_then(|system| match self.step().measure {
                Measure::Search(find) => {
                    let watch = NeighbourWatch::begin(servers);
                    let found = self.search(find, seconds, system, &mut finished, ticked);
                    finished.record.neighbours = watch.end();
                    found
                }
                _ if self.step().limit_io => self.measure(seconds, system, servers, &mut finished, ticked),
                _ => without_io_limits(system, || {
                    self.measure(seconds, system, servers, &mut finished, ticked)
                }),
            })
        } else {
            let system = slot.system_mut().map_err(TrialAbort::failed);
            let measured =
                system.and_then(|system| self.measure_through_events(seconds, system, &mut finished, ticked));
            if self.step().step_events.iter().any(|event| event.action.restarts_server()) {
                slot.note_restart();
            }
            measured
        };
        for driver in &mut finished.record.drivers {
            driver.network = slot.networks.get(&driver.host).copied().flatten();
        }
        self.end(finished, measured, slot)
    }

    /// Runs the load. Records the measurements even if the load fails.
    fn measure(
        &self,
        seconds: f64,
        system: &dyn RunningSystem,
        servers: Option<&[u32]>,
        finished: &mut FinishedTrial,
        ticked: impl FnMut(Pace),
    ) -> Result<(), TrialAbort> {
        let started = self.start_measurement(seconds, system, finished)?;
        let lag = LagProbe::of(self, system);
        self.beside_lag(lag, finished, |finished, lag| {
            self.record_measurement(started, servers, finished, ticked, &Beside { events: None, lag })
        })
    }

    /// Like [`measure`](Self::measure), but the step's events happen meanwhile. The CPU time of neighbours (other
    /// processes or guests of the host) is not measured, because the processes of events would count as neighbours.
    fn measure_through_events(
        &self,
        seconds: f64,
        system: &mut dyn RunningSystem,
        finished: &mut FinishedTrial,
        ticked: impl FnMut(Pace),
    ) -> Result<(), TrialAbort> {
        let started = self.start_measurement(seconds, system, finished)?;
        let lag = LagProbe::of(self, system);
        let events = TrialEvents::new(*self, system, seconds);
        let measured = self.beside_lag(lag, finished, |finished, lag| {
            thread::scope(|scope| {
                events.start(scope);
                let beside = Beside { events: Some(&events), lag };
                let measured = self.record_measurement(started, None, finished, ticked, &beside);
                events.end(measured.is_err());
                measured
            })
        });
        // An event may have failed after the load ended, so the events are checked once more.
        let measured = measured.and_then(|()| events.check());
        finished.record.step_events = events.into_records();
        measured
    }

    /// Starts the step's background loads, and then the step's own load.
    fn start_measurement<'b>(
        &'b self,
        seconds: f64,
        system: &dyn RunningSystem,
        finished: &mut FinishedTrial,
    ) -> Result<StartedLoad<'b>, TrialAbort> {
        let (step, watch) = (self.step(), self.watch());
        let mut job = job::job(self.plan, self.trial, seconds, system.target_at(step.endpoint));
        if step.step_events.iter().any(|event| event.until_done) {
            // The trial's events decide when the load ends.
            job.seconds = None;
        }
        if step.is_load() {
            begin_load(system)?;
            clear(self.start_load(&job::cleanup(&job))?, watch)?;
        }
        job.awaits_begin = !job.warms_up();
        let background = BackgroundLoads::start(self, system)?;
        let mut load = self.start_step_load(&job, system)?;
        let pid = load.frames().local_pid();
        if let Some(pid) = pid {
            note_client_cpus(&mut finished.record, self.cpus(), pid);
        }
        let meter = Meter::new(system.work(), system.pooler(), pid, system.data());
        // A server that is stopped cannot report its counters, and a server that is started again begins its
        // counters anew.
        let is_disturbed = step.step_events.iter().any(|event| event.action.disturbs_server());
        let counters = if is_disturbed { None } else { system.counters() };
        let recording = Recording::new(step.operation, meter, Tally::new(counters));
        Ok(StartedLoad { job, background, load, recording })
    }

    /// Follows a load to its end, and records the measurements.
    fn record_measurement(
        &self,
        started: StartedLoad<'_>,
        servers: Option<&[u32]>,
        finished: &mut FinishedTrial,
        mut ticked: impl FnMut(Pace),
        beside: &Beside<'_, '_>,
    ) -> Result<(), TrialAbort> {
        let StartedLoad { job, mut background, mut load, mut recording } = started;
        let connected =
            if job.awaits_begin { self.begin_counted(load.frames(), &mut recording) } else { Ok(()) };
        let operation = self.step().operation;
        let (measured_from, neighbours) = (Cell::new(None), Cell::new(None));
        let on_frame = |frame: &Frame| {
            match frame {
                Frame::Measuring => {
                    let now = Instant::now();
                    measured_from.set(Some(now));
                    beside.begin(now);
                    neighbours.set(Some(NeighbourWatch::begin(servers)));
                }
                Frame::Tick(tick) => ticked(pace(tick, operation)),
                _ => {}
            }
            recording.note(frame);
        };
        let meanwhile = || {
            background.keep_up(measured_from.get().is_some())?;
            beside.check()
        };
        let is_over = || beside.events.is_some_and(TrialEvents::end_load);
        let watch = self.watch_events();
        let ended = connected.and_then(|()| watch.follow_until(load.frames(), on_frame, meanwhile, is_over));
        let measured_to = Instant::now();
        let neighbours = neighbours.take().map(NeighbourWatch::end).unwrap_or_default();
        let measured_from = measured_from.get().unwrap_or(measured_to);
        let (ended, total) = match ended {
            Ok(total) => (Ok(()), Some(Box::new(total))),
            Err(TrialAbort::Failed { message, total }) => (Err(TrialAbort::failed(message)), total),
            Err(abort) => (Err(abort), None),
        };
        finished.noted = total.as_ref().map(|total| total.noted.clone()).unwrap_or_default();
        let backlog = total.as_ref().filter(|_| job.rate.is_some()).map(|total| total.backlog);
        let begun = TrialRecord { neighbours, ..std::mem::take(&mut finished.record) };
        finished.record = TrialRecord { backlog, ..recording.finish(begun.clone(), total.as_deref()) };
        let seconds = whole_seconds(&finished.record);
        finished.record.drivers = load.drivers(operation);
        finished.background = background.finish(&begun, (measured_from, measured_to), seconds);
        let ended = ended.and_then(|()| self.note_replay(total.as_deref(), finished));
        ended.and_then(|()| went_on(&finished.record)).and_then(|()| were_together(&finished.record))
    }

    /// Waits until a load that waits for its order to begin has connected. Then takes the first readings, and gives the
    /// order.
    fn begin_counted(&self, load: &mut dyn FrameSource, recording: &mut Recording) -> Result<(), TrialAbort> {
        self.watch().until(load, |frame| matches!(frame, Frame::Connected(_)))?;
        recording.begin();
        Ok(load.begin()?)
    }
}

impl PlannedTrial<'_> {
    /// If the trial replayed traffic, records the replay, and notes the statements whose plans will be requested.
    fn note_replay(&self, total: Option<&Total>, finished: &mut FinishedTrial) -> Result<(), TrialAbort> {
        let replayed = total.and_then(|total| total.replay.as_deref());
        let Some((replayed, traffic)) = replayed.zip(self.step().traffic.as_ref()) else { return Ok(()) };
        let examples = note_replay(&mut finished.record, replayed, traffic);
        finished.noted = examples.map_err(|error| TrialAbort::failed(error.to_string()))?;
        Ok(())
    }
}

/// A started load of a trial, with its background loads and its recording.
struct StartedLoad<'a> {
    job: Job,
    background: BackgroundLoads<'a>,
    load: StepLoad,
    recording: Recording,
}

/// Returns the number of whole seconds in a trial. After a late tick, the next second is shorter, so seconds are
/// summed instead of counted.
fn whole_seconds(record: &TrialRecord) -> usize {
    let measured = record.samples.iter().filter(|sample| sample.phase == Phase::Measure);
    (measured.map(|sample| sample.measured.seconds).sum::<f64>() + SECOND_TOLERANCE) as usize
}

/// Returns an error if no event finished near the end of the trial. In such a trial, the measured rate is not the rate
/// that the system can keep up.
fn went_on(record: &TrialRecord) -> Result<(), TrialAbort> {
    let (Some(stalled), Some(measured)) = (dyno_judge::stalled_at_end_seconds(record), &record.measured)
    else {
        return Ok(());
    };
    let left = match record.unfinished.unwrap_or(0) + record.backlog.unwrap_or(0) {
        0 => String::new(),
        events => format!("; {events} events were left"),
    };
    let seconds = measured.seconds;
    Err(TrialAbort::failed(format!(
        "stalled: nothing finished in the last {stalled:.1} s of {seconds:.1} s{left}"
    )))
}

/// Loads a step's tables because other trials need them. Records nothing.
pub(crate) fn load_unrecorded(
    job: &Job,
    system: &dyn RunningSystem,
    options: &RunOptions<'_>,
) -> Result<(), TrialAbort> {
    begin_load(system)?;
    let watch = Watch { stop: options.stop, patience: options.patience * LOAD_PATIENCE };
    let start = |job: &Job| start_load(&options.driver_program, job, None);
    clear(start(&job::cleanup(job))?, watch)?;
    watch.follow(&mut start(job)?, |_| (), || Ok(())).map(|_| ())
}

fn begin_load(system: &dyn RunningSystem) -> Result<(), TrialAbort> {
    system.begin_load().map_err(|error| TrialAbort::failed(error.to_string()))
}

/// Removes the tables of an earlier load. A failure is ignored, because there may be no tables. If the failure
/// matters, the load that follows fails too.
fn clear(mut cleanup: dyno_load::LoadProcess, watch: Watch<'_>) -> Result<(), TrialAbort> {
    match watch.follow(&mut cleanup, |_| (), || Ok(())) {
        Err(TrialAbort::Stopped) => Err(TrialAbort::Stopped),
        _ => Ok(()),
    }
}
