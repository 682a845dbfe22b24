//! Events of a step: what is done to its system at certain times while its load continues. Each event has a
//! separate thread, so that its time does not depend on other events.

mod action;
mod clock;
mod jobs;

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::Scope;
use std::time::{Duration, Instant};

use dyno_load::Target;
use dyno_store::{EventOutcome, StepEventRecord};

use self::clock::{Clock, sleep_until};
use crate::plan::StepEvent;
use crate::run::record::Work;
use crate::run::system::RunningSystem;
use crate::run::trial::planned::PlannedTrial;
use crate::run::trial::watch::TrialAbort;

/// Time from the opening of an event's connection until the event is due.
const LEAD: Duration = Duration::from_secs(1);

/// The events of a trial.
pub(in crate::run::trial) struct TrialEvents<'a> {
    trial: PlannedTrial<'a>,
    target: Target,
    system: Mutex<&'a mut dyn RunningSystem>,
    /// Whether Dyno started the server, so that the server ends with the run.
    owns_server: bool,
    /// Measured time of the trial in seconds. The trial takes longer if an event does.
    seconds: f64,
    clock: Clock,
    records: Mutex<Vec<StepEventRecord>>,
}

/// How an event ended.
#[derive(Debug)]
pub(in crate::run::trial) enum Ended {
    Done,
    /// The event was ended because the step's time was over or the trial was aborted.
    Cut,
    Failed(String),
}

impl<'a> TrialEvents<'a> {
    pub(in crate::run::trial) fn new(
        trial: PlannedTrial<'a>,
        system: &'a mut dyn RunningSystem,
        seconds: f64,
    ) -> Self {
        let record = |event: &StepEvent| StepEventRecord {
            id: event.id.clone(),
            kind: event.action.kind(),
            what: event.action.what(),
            at_seconds: event.at_seconds,
            ..StepEventRecord::default()
        };
        let records = trial.step().step_events.iter().map(record).collect();
        let (target, owns_server) = (system.target(), matches!(system.work(), Work::Server(_)));
        Self {
            trial,
            target,
            owns_server,
            seconds,
            system: Mutex::new(system),
            clock: Clock::default(),
            records: Mutex::new(records),
        }
    }

    /// Starts a thread for each event. The threads wait for [`begin`](Self::begin).
    pub(in crate::run::trial) fn start<'scope, 'env>(&'env self, scope: &'scope Scope<'scope, 'env>) {
        for (number, event) in self.trial.step().step_events.iter().enumerate() {
            scope.spawn(move || self.run(number, event));
        }
    }

    /// Starts the events' clock.
    pub(in crate::run::trial) fn begin(&self, at: Instant) {
        self.clock.begin(at);
    }

    /// Returns an error if an event has failed.
    pub(in crate::run::trial) fn check(&self) -> Result<(), TrialAbort> {
        let failed =
            self.records().iter().find_map(|record| Some((record.id.clone(), record.error.clone()?)));
        failed.map_or(Ok(()), |(id, error)| Err(TrialAbort::failed(format!("event `{id}` failed: {error}"))))
    }

    /// Whether the load must be ended now. A load that waits for no event ends by itself.
    pub(in crate::run::trial) fn end_load(&self) -> bool {
        let Some(began) = self.clock.began() else { return false };
        let duration = |seconds: f64| Duration::try_from_secs_f64(seconds).unwrap_or(Duration::ZERO);
        let at = |seconds: f64| began + duration(seconds);
        let planned = at(self.seconds);
        let records = self.records();
        let mut ends = Vec::new();
        for (event, record) in self.trial.step().step_events.iter().zip(records.iter()) {
            match record.ended_seconds.map(at) {
                _ if !event.until_done => {}
                None => return false,
                Some(ended) => ends.push(planned.max(ended + duration(event.after_seconds))),
            }
        }
        ends.into_iter().max().is_some_and(|end| Instant::now() >= end)
    }

    /// Ends the events that are still in progress. If the load has ended, these are the events for which the load did
    /// not wait. If the trial was aborted, all events are ended.
    pub(in crate::run::trial) fn end(&self, is_aborted: bool) {
        if is_aborted { self.clock.abort() } else { self.clock.end_step() }
    }

    pub(in crate::run::trial) fn into_records(self) -> Vec<StepEventRecord> {
        self.records.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn records(&self) -> MutexGuard<'_, Vec<StepEventRecord>> {
        self.records.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn system(&self) -> MutexGuard<'_, &'a mut dyn RunningSystem> {
        self.system.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until an event is due, and carries it out.
    fn run(&self, number: usize, event: &StepEvent) {
        let Some(began) = self.clock.wait_to_begin() else { return };
        let due = began + Duration::try_from_secs_f64(event.at_seconds).unwrap_or(Duration::MAX / 2);
        let end = self.clock.end_of(false);
        if !sleep_until(due.checked_sub(LEAD).unwrap_or(began), end) {
            return;
        }
        let mut ready = self.prepare(event);
        if !sleep_until(due, end) {
            return;
        }
        let seconds = || began.elapsed().as_secs_f64();
        self.records()[number].began_seconds = Some(seconds());
        let ended = match &mut ready {
            Ok(ready) => self.carry_out(event, ready),
            Err(reason) => Ended::Failed(std::mem::take(reason)),
        };
        let mut records = self.records();
        let record = &mut records[number];
        record.ended_seconds = Some(seconds());
        (record.outcome, record.error) = match ended {
            Ended::Done => (EventOutcome::Done, None),
            Ended::Cut => (EventOutcome::Cut, None),
            Ended::Failed(reason) => (EventOutcome::Failed, Some(reason)),
        };
    }
}
