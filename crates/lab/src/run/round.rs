//! One round: a fresh instance of every system goes through all steps in order.

use dyno_store::TrialRecord;

use super::error::RunError;
use super::instances::NotStarted;
use super::place::Place;
use super::session::Session;
use crate::schedule::blocks;

/// The instances of a round, in the plan's order; or why a system has none.
pub(crate) struct Round<'a> {
    /// From 0.
    pub(crate) number: u32,
    pub(crate) places: Vec<Result<Place<'a>, NotStarted>>,
}

impl Session<'_> {
    /// Carries out a round; none if the run was stopped meanwhile. What was measured until then is kept.
    ///
    /// # Errors
    /// As of [`Self::start_instances`] and [`Self::audit`].
    pub(crate) fn round(&mut self, number: u32) -> Result<Option<()>, RunError> {
        let mut round = Round { number, places: self.start_instances(number)? };
        self.audit(&round.places)?;
        for block in blocks(self.plan) {
            if self.is_stopped() || self.block(&mut round, block)?.is_none() {
                return Ok(None);
            }
        }
        for (carried, place) in self.carried.iter_mut().zip(round.places) {
            *carried = place.ok().filter(|place| !place.is_ours());
        }
        Ok(Some(()))
    }
}

impl Round<'_> {
    /// Bytes on disk of a system's data; none where nobody knows.
    pub(crate) fn disk_bytes(&self, system: usize) -> Option<u64> {
        let data = self.places[system].as_ref().ok()?.data()?;
        dyno_host::disk_bytes(data).ok()
    }
}

/// The record of a trial of which nothing is known yet but its place in the run.
pub(crate) fn record_of(system: &str, step: &str, clients: u32, round: u32) -> TrialRecord {
    TrialRecord {
        system_id: system.to_owned(),
        step_id: step.to_owned(),
        clients,
        round,
        ..TrialRecord::default()
    }
}
