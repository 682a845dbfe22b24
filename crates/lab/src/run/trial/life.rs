//! What is done before and after the measurement of a trial, with or without slices.

use super::finished::FinishedTrial;
use super::limits::note_limits;
use super::planned::PlannedTrial;
use super::watch::TrialAbort;
use crate::run::error::Stopped;
use crate::run::system::SystemSlot;

impl PlannedTrial<'_> {
    /// Begins the trial on a system that is ready: records the system's limits, measures the networks from the
    /// drivers to the system, and runs the step's command `before`. If one of these fails, returns the failed trial
    /// as the inner error.
    ///
    /// # Errors
    /// The user stopped the run.
    pub(crate) fn begin(
        &self,
        slot: &mut SystemSlot<'_>,
    ) -> Result<Result<FinishedTrial, FinishedTrial>, Stopped> {
        let mut trial = FinishedTrial::new(self.record());
        note_limits(&mut trial.record, slot);
        let begun = self.measure_networks(slot).and_then(|()| {
            let system = slot.system().map_err(TrialAbort::failed)?;
            self.run_before(system)
        });
        match begun {
            Ok(()) => Ok(Ok(trial)),
            Err(abort) => self.fail(trial, abort, slot).map(Err),
        }
    }

    /// Ends the trial: checks the data, runs the step's command `after`, and crashes the system as often as the
    /// step asks for.
    ///
    /// # Errors
    /// The user stopped the run.
    pub(crate) fn end(
        &self,
        mut trial: FinishedTrial,
        measured: Result<(), TrialAbort>,
        slot: &mut SystemSlot<'_>,
    ) -> Result<FinishedTrial, Stopped> {
        let ended = measured.and_then(|()| {
            let system = slot.system().map_err(TrialAbort::failed)?;
            self.check_data(system)?;
            self.run_after(system)
        });
        match ended.and_then(|()| self.crash_and_check(slot)) {
            Ok(()) => {
                note_limits(&mut trial.record, slot);
                Ok(trial)
            }
            Err(abort) => self.fail(trial, abort, slot),
        }
    }

    /// Makes the trial a failed one. Examines the server for the reason.
    ///
    /// # Errors
    /// The user stopped the run.
    pub(crate) fn fail(
        &self,
        mut trial: FinishedTrial,
        abort: TrialAbort,
        slot: &mut SystemSlot<'_>,
    ) -> Result<FinishedTrial, Stopped> {
        trial.record.outcome = self.examine(abort, slot)?;
        Ok(trial)
    }
}
