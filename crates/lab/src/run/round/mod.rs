//! One round: fresh instances of all systems go through all steps.

mod block;
mod budget;
mod calibration;
mod comparability;
mod instances;
mod rounds;
mod session;
mod sliced;

use crate::run::error::RunError;
use crate::run::not_started::NotStarted;
use crate::run::system::SystemSlot;
use crate::schedule::blocks;

pub(crate) use self::session::RunSession;

/// The instances of a round, in the plan's order, or the reason why a system has none.
pub(crate) struct Round<'a> {
    /// From 0.
    pub(crate) number: u32,
    pub(crate) slots: Vec<Result<SystemSlot<'a>, NotStarted>>,
}

impl RunSession<'_> {
    /// Runs a round; none if the user stopped the run. Finished trials are kept.
    ///
    /// # Errors
    /// As of [`Self::start_instances`] and [`Self::audit`].
    pub(crate) fn round(&mut self, number: u32) -> Result<Option<()>, RunError> {
        let mut round = Round { number, slots: self.start_instances(number)? };
        self.audit(&round.slots)?;
        for block in blocks(self.plan) {
            if self.is_stopped() || self.block(&mut round, block)?.is_none() {
                return Ok(None);
            }
        }
        for (carried, slot) in self.carried.iter_mut().zip(round.slots) {
            *carried = slot.ok().filter(|slot| !slot.is_ours());
        }
        Ok(Some(()))
    }
}

impl Round<'_> {
    /// A system's data on disk, in bytes; none if unknown.
    pub(crate) fn disk_bytes(&self, system: usize) -> Option<u64> {
        let data = self.slots[system].as_ref().ok()?.data()?;
        dyno_host::disk_bytes(data).ok()
    }
}
