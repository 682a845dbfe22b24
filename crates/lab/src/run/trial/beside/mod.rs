//! What goes on beside the load of a trial: the events of its step, and the measurement of replicas.

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

/// What goes on beside the load of a trial.
pub(in crate::run::trial) struct Beside<'b, 'a> {
    pub(in crate::run::trial) events: Option<&'b TrialEvents<'a>>,
    pub(in crate::run::trial) lag: Option<&'b LagProbe<'b>>,
}

impl Beside<'_, '_> {
    /// The measurement begins.
    pub(in crate::run::trial) fn begin(&self, at: Instant) {
        if let Some(events) = self.events {
            events.begin(at);
        }
        if let Some(lag) = self.lag {
            lag.begin(at);
        }
    }

    /// An error if an event has failed, or if a replica does not follow.
    pub(in crate::run::trial) fn check(&self) -> Result<(), TrialAbort> {
        self.events.map_or(Ok(()), TrialEvents::check)?;
        self.lag.map_or(Ok(()), LagProbe::check)
    }
}

impl PlannedTrial<'_> {
    /// Measures while the lag of replicas is measured, if there are some, and records it.
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
        // A replica may stop after the load.
        let measured = measured.and_then(|()| lag.check()).and_then(|()| lag.check_mode());
        finished.record.replicas = lag.into_records();
        measured
    }
}
