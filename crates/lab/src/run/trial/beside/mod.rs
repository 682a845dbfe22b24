//! What happens beside the load of a trial: background loads, the events of the step, and the measurement of
//! replicas.

pub(in crate::run::trial) mod background;
pub(in crate::run::trial) mod events;
pub(in crate::run::trial) mod lag;

use std::thread;
use std::time::Instant;

pub use self::lag::{ReplicaLag, TokenLag, measure_lag};
use crate::run::trial::beside::events::TrialEvents;
use crate::run::trial::beside::lag::LagProbe;
use crate::run::trial::finished::FinishedTrial;
use crate::run::trial::planned::PlannedTrial;
use crate::run::trial::watch::TrialAbort;

/// The events of a trial, and the measurement of its replicas, if there are any.
pub(in crate::run::trial) struct Beside<'b, 'a> {
    pub(in crate::run::trial) events: Option<&'b TrialEvents<'a>>,
    pub(in crate::run::trial) lag: Option<&'b LagProbe<'b>>,
}

impl Beside<'_, '_> {
    /// Begins the events and the measurement of replicas when the measurement of the trial begins.
    pub(in crate::run::trial) fn begin(&self, at: Instant) {
        if let Some(events) = self.events {
            events.begin(at);
        }
        if let Some(lag) = self.lag {
            lag.begin(at);
        }
    }

    /// Returns an error if an event has failed, or if a replica does not follow its primary.
    pub(in crate::run::trial) fn check(&self) -> Result<(), TrialAbort> {
        self.events.map_or(Ok(()), TrialEvents::check)?;
        self.lag.map_or(Ok(()), LagProbe::check)
    }
}

impl PlannedTrial<'_> {
    /// Runs `measure` while the lag of replicas is measured, and records the lag. Without replicas, only runs
    /// `measure`.
    pub(in crate::run::trial) fn beside_lag(
        &self,
        lag: Option<LagProbe<'_>>,
        finished: &mut FinishedTrial,
        measure: impl FnOnce(&mut FinishedTrial, Option<&LagProbe<'_>>) -> Result<(), TrialAbort>,
    ) -> Result<(), TrialAbort> {
        let Some(lag) = lag else { return measure(finished, None) };
        let measured = thread::scope(|scope| {
            lag.start(scope);
            let measured = measure(finished, Some(&lag));
            lag.end(measured.is_err());
            measured
        });
        if self.watch().is_stopped() {
            return Err(TrialAbort::Stopped);
        }
        // A replica may have stopped following its primary after the load ended, so the replicas are checked once more.
        let measured = measured.and_then(|()| lag.check()).and_then(|()| lag.check_mode());
        finished.record.replicas = lag.into_records();
        measured
    }
}
