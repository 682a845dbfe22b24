//! What goes on beside the load of a trial: the events of its step, and the measurement of replicas.

use std::thread;
use std::time::Instant;

use super::events::TrialEvents;
use super::finished::FinishedTrial;
use super::lag::LagProbe;
use super::planned::PlannedTrial;
use super::watch::TrialAbort;

/// What goes on beside the load of a trial.
pub(super) struct Beside<'b, 'a> {
    pub(super) events: Option<&'b TrialEvents<'a>>,
    pub(super) lag: Option<&'b LagProbe<'b>>,
}

impl Beside<'_, '_> {
    /// The measurement begins.
    pub(super) fn begin(&self, at: Instant) {
        if let Some(events) = self.events {
            events.begin(at);
        }
        if let Some(lag) = self.lag {
            lag.begin(at);
        }
    }

    /// An error if an event has failed, or if a replica does not follow.
    pub(super) fn check(&self) -> Result<(), TrialAbort> {
        self.events.map_or(Ok(()), TrialEvents::check)?;
        self.lag.map_or(Ok(()), LagProbe::check)
    }
}

impl PlannedTrial<'_> {
    /// Measures while the lag of replicas is measured, if there are some, and records it.
    pub(super) fn beside_lag(
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
        // A replica may stop after the load.
        let measured = measured.and_then(|()| lag.check()).and_then(|()| lag.check_mode());
        finished.record.replicas = lag.into_records();
        measured
    }
}
