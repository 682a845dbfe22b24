//! Starts an instance of every system for a round.

use std::time::Instant;

use dyno_store::InstanceRecord;

use super::Round;
use super::session::RunSession;
use crate::records;
use crate::run::error::{RunError, SystemError};
use crate::run::not_started::NotStarted;
use crate::run::observer::Event;
use crate::run::prepare::do_without;
use crate::run::record::now_ms;
use crate::run::system::{Starter, SystemSlot, initial_loads, settle};
use crate::schedule::starts;

impl<'a> RunSession<'a> {
    /// Starts and records an instance of every system, in random order, and returns them in the plan's. A server that
    /// Dyno does not start is carried over.
    ///
    /// # Errors
    /// In the first round the base does not start, or the user stopped the run. The results file cannot be written.
    pub(crate) fn start_instances(
        &mut self,
        round: u32,
    ) -> Result<Vec<Result<SystemSlot<'a>, NotStarted>>, RunError> {
        let systems = self.plan.systems.len();
        let mut slots: Vec<_> = (0..systems).map(|_| None).collect();
        for position in starts(systems, self.seed, round) {
            slots[position] = Some(self.start_instance(position, round)?);
        }
        Ok(slots.into_iter().flatten().collect())
    }

    /// Waits until the wanted systems that were just started are at rest, and records how long that took. None if the
    /// user stopped the run.
    pub(crate) fn settle(&mut self, round: &mut Round<'a>, is_wanted: impl Fn(usize) -> bool) -> Option<()> {
        let slots = round.slots.iter_mut().enumerate();
        let mut fresh: Vec<&mut SystemSlot<'a>> = slots
            .filter(|(system, _)| is_wanted(*system))
            .filter_map(|(_, slot)| slot.as_mut().ok())
            .filter(|slot| !slot.is_settled)
            .collect();
        settle(fresh.iter_mut().map(|slot| &mut **slot), self.options.stop);
        for slot in fresh {
            // If this cannot be written, the trial cannot either, and that commit reports the error.
            let _ = self.store.put_instance(self.run, &slot.instance);
        }
        (!self.options.is_stopped()).then_some(())
    }

    fn start_instance(
        &mut self,
        position: usize,
        round: u32,
    ) -> Result<Result<SystemSlot<'a>, NotStarted>, RunError> {
        let (plan, options) = (self.plan, self.options);
        let system = &plan.systems[position];
        let installation = match &self.installed[position] {
            Ok(installation) => installation.as_ref(),
            Err(not_started) => return Ok(Err(not_started.clone())),
        };
        if let Some(not_started) = &self.not_started[position] {
            return Ok(Err(not_started.clone()));
        }
        let mut instance = InstanceRecord {
            system_id: system.id.clone(),
            round,
            started_at_ms: now_ms(),
            is_fresh: system.source.is_started_by_dyno() || self.carried[position].is_none(),
            ..InstanceRecord::default()
        };
        if let Some(slot) = self.carried[position].take() {
            self.store.put_instance(self.run, &instance)?;
            return Ok(Ok(slot));
        }
        self.observer.observe(&Event::Starting { system: &system.id });
        let began = Instant::now();
        let starter = Starter { system, installation, cache: &options.cache };
        match self.start_on_its_data(starter, position, round) {
            Ok(mut slot) => {
                instance.start_seconds = began.elapsed().as_secs_f64();
                self.store.put_instance(self.run, &instance)?;
                slot.instance = instance;
                Ok(Ok(slot))
            }
            Err(source) => {
                let error = RunError::Start { system: system.id.clone(), source };
                if self.is_audited {
                    // It may start again in later rounds.
                    return Ok(Err(NotStarted::new(&system.id, &error)));
                }
                let not_started = do_without(plan, position, options, error, self.observer)?;
                self.not_started[position] = Some(not_started.clone());
                self.outcome.not_started.push(not_started.clone());
                Ok(Err(not_started))
            }
        }
    }

    /// Starts a system on its kept data, or on none.
    fn start_on_its_data(
        &mut self,
        starter: Starter<'a>,
        position: usize,
        round: u32,
    ) -> Result<SystemSlot<'a>, SystemError> {
        let plan = self.plan;
        let loads = initial_loads(plan);
        let may_be_kept =
            !loads.is_empty() && !plan.load_every_round && (round > self.load_round || plan.reuse_data);
        let kept = may_be_kept.then(|| starter.kept(plan, &loads)).flatten();
        let is_kept = kept.is_some();
        let system = starter.start(kept)?;
        if !self.is_audited {
            let mut known = records::system(plan, position);
            known.engine_version = Some(system.version());
            known.variables = system.variables()?;
            self.known[position] = Some(known);
        }
        let mut slot = SystemSlot::new(starter, system);
        if is_kept {
            slot.loads.replace(&loads);
        }
        Ok(slot)
    }
}
