//! One round: fresh instances of all systems run all steps, all systems together or one after the other.

mod block;
mod budget;
mod calibration;
mod comparability;
mod crash_tests;
mod instances;
mod leaving;
mod part;
mod queries;
mod rest;
mod rounds;
mod session;
mod sliced;
mod stacks;

use std::collections::BTreeMap;

use crate::plan::Plan;
use crate::run::error::RoundAbort;
use crate::run::not_started::NotStarted;
use crate::run::record::Work;
use crate::run::system::{Presence, SystemSlot};
use crate::schedule::{Block, Trial, round_blocks, starts, trials};

pub use self::comparability::audit_host;
pub(crate) use self::rounds::{analyse_run, next_look};
pub(crate) use self::session::RunSession;

/// The instances of a round that run at the same time, by position of the system in the plan. For a system that does
/// not run, the reason.
pub(crate) struct Round<'a> {
    /// Number of the round, from 0.
    pub(crate) number: u32,
    pub(crate) slots: BTreeMap<usize, Result<SystemSlot<'a>, NotStarted>>,
}

impl RunSession<'_> {
    /// Runs a round. Finished trials are kept even if the round fails.
    ///
    /// # Errors
    /// The same as those of [`Self::start_instances`] and [`Self::audit`]. Also, the results file cannot be written, or
    /// the user stopped the run.
    pub(crate) fn round(&mut self, number: u32) -> Result<(), RoundAbort> {
        let order = starts(self.plan.systems.len(), self.seed, number);
        let at_once = if self.plan.one_at_a_time { 1 } else { order.len() };
        for systems in order.chunks(at_once) {
            self.with_instances(number, systems)?;
        }
        self.has_completed_round = true;
        Ok(())
    }

    /// Runs all steps on fresh instances of some systems.
    fn with_instances(&mut self, number: u32, systems: &[usize]) -> Result<(), RoundAbort> {
        let mut round = Round { number, slots: self.start_instances(number, systems)? };
        self.audit(&round)?;
        // Systems that run one at a time start between blocks, so their starts count as parts of blocks.
        if !self.plan.one_at_a_time {
            self.forecast.started(self.round_began.elapsed().as_secs_f64());
        }
        for block in round_blocks(self.plan, self.seed, number) {
            if self.is_left(&block) {
                continue;
            }
            self.check_stopped()?;
            self.block(&mut round, block)?;
            self.block_ended(&round, block);
        }
        for (system, slot) in round.slots {
            if let Some(slot) = slot.ok().filter(|slot| !slot.is_ours()) {
                self.systems[system].presence = Presence::Carried(slot);
            }
        }
        Ok(())
    }
}

impl<'a> RunSession<'a> {
    /// Records the time of a block for the forecast.
    fn block_ended(&mut self, round: &Round<'a>, block: Block) {
        let systems = round.trials(self.plan, self.seed, block).len() as f64;
        let of_all = self.plan.systems_of(block.step).count().max(1) as f64;
        let of_block =
            self.plan.expected_block_seconds(block) + self.plan.expected_first_slices_seconds(block);
        let planned_seconds = of_block * systems / of_all;
        let is_once = !self.plan.measures_every_round(block.step);
        self.forecast.block_ended(planned_seconds, is_once, self.round_began.elapsed().as_secs_f64());
    }
}

impl<'a> Round<'a> {
    /// The instance of a system, if it has one.
    pub(crate) fn slot(&mut self, system: usize) -> Option<&mut SystemSlot<'a>> {
        self.slots.get_mut(&system)?.as_mut().ok()
    }

    /// The instance of a system that was made ready for a trial.
    ///
    /// # Panics
    /// The system has no instance.
    pub(crate) fn ready_slot(&mut self, system: usize) -> &mut SystemSlot<'a> {
        self.slot(system).expect("a trial is made ready on an instance")
    }

    /// The trials of a block, for the systems that run, in order.
    pub(crate) fn trials(&self, plan: &Plan, seed: u64, block: Block) -> Vec<Trial> {
        trials(plan, seed, block, self.number)
            .filter(|trial| self.slots.contains_key(&trial.system))
            .collect()
    }

    /// Returns the processes of the running servers. Their CPU time must not count as that of neighbours (other
    /// processes or guests of the host). Returns `None` if one of the processes is unknown.
    pub(crate) fn servers(&self) -> Option<Vec<u32>> {
        let mut pids = Vec::new();
        for system in self.slots.values().filter_map(|slot| slot.as_ref().ok()?.system().ok()) {
            match system.work() {
                Work::Server(pid) => pids.push(pid),
                Work::InClient => {}
                Work::Elsewhere => return None,
            }
            let replicas = system.topology().map(|topology| topology.replicas).unwrap_or_default();
            pids.extend(replicas.iter().map(|replica| replica.pid).chain(system.pooler()));
        }
        Some(pids)
    }

    /// Returns the size of a system's data on disk in bytes, if known.
    pub(crate) fn disk_bytes(&self, system: usize) -> Option<u64> {
        let data = self.slots.get(&system)?.as_ref().ok()?.data()?;
        dyno_host::disk_bytes(data).ok()
    }
}
