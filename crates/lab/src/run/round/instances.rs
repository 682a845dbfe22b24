//! Starts instances of systems for a round.

use std::collections::BTreeMap;
use std::panic::resume_unwind;
use std::thread;
use std::time::Instant;

use dyno_engine::Snapshot;
use dyno_store::InstanceRecord;

use super::Round;
use super::session::RunSession;
use crate::records;
use crate::run::error::{RunError, Stopped, SystemError};
use crate::run::not_started::NotStarted;
use crate::run::observer::Event;
use crate::run::prepare::do_without;
use crate::run::record::now_ms;
use crate::run::system::{Presence, RunningSystem, Starter, SystemSlot, initial_loads, settle};

/// What is done with a system when a round starts its instances.
enum Intent<'a> {
    /// The system cannot be installed, or did not start in the first round.
    LeaveOut(NotStarted),
    /// Dyno does not start the system, and is connected to it already.
    CarryOver(SystemSlot<'a>),
    /// The system is started on kept data of the initial loads, or without data.
    Start { starter: Starter<'a>, kept: Option<Snapshot> },
}

/// A start that has ended, successfully or not.
struct Start {
    system: Result<Box<dyn RunningSystem>, SystemError>,
    seconds: f64,
}

impl<'a> RunSession<'a> {
    /// Starts and records one instance of each of the given systems, all at the same time. The processes start in the
    /// given order. A server that Dyno does not start stays connected.
    ///
    /// # Errors
    /// In the first round: the base does not start. Or the user stopped the run, or the results file cannot be
    /// written.
    pub(crate) fn start_instances(
        &mut self,
        round: u32,
        systems: &[usize],
    ) -> Result<BTreeMap<usize, Result<SystemSlot<'a>, NotStarted>>, RunError> {
        let intents: Vec<(usize, Intent<'a>)> =
            systems.iter().map(|&position| (position, self.intent(position, round))).collect();
        let starting: Vec<&str> = intents
            .iter()
            .filter(|(_, intent)| matches!(intent, Intent::Start { .. }))
            .map(|(position, _)| self.plan.systems[*position].id.as_str())
            .collect();
        if !starting.is_empty() {
            self.observer.observe(&Event::Starting { systems: &starting });
        }
        let started_at_ms = now_ms();
        let ended = start_together(&intents);
        let mut slots = BTreeMap::new();
        for ((position, intent), start) in intents.into_iter().zip(ended) {
            let mut instance = InstanceRecord {
                system_id: self.plan.systems[position].id.clone(),
                round,
                started_at_ms,
                is_fresh: start.is_some(),
                ..InstanceRecord::default()
            };
            let slot = match (intent, start) {
                (Intent::Start { starter, kept }, Some(Start { system, seconds })) => {
                    instance.start_seconds = seconds;
                    self.started(position, starter, kept.is_some(), system, instance)?
                }
                (Intent::CarryOver(slot), _) => {
                    self.store.put_instance(self.run, &instance)?;
                    Ok(slot)
                }
                (Intent::LeaveOut(not_started), _) => Err(not_started),
                (Intent::Start { .. }, None) => unreachable!("every system to be started has a start"),
            };
            slots.insert(position, slot);
        }
        Ok(slots)
    }

    /// Waits until the wanted systems that were just started are at rest, and records how long that took.
    ///
    /// # Errors
    /// The user stopped the run.
    pub(crate) fn settle(
        &mut self,
        round: &mut Round<'a>,
        is_wanted: impl Fn(usize) -> bool,
    ) -> Result<(), Stopped> {
        let mut fresh: Vec<&mut SystemSlot<'a>> = round
            .slots
            .iter_mut()
            .filter(|(system, _)| is_wanted(**system))
            .filter_map(|(_, slot)| slot.as_mut().ok())
            .filter(|slot| !slot.is_settled)
            .collect();
        settle(fresh.iter_mut().map(|slot| &mut **slot), self.plan.rest_seconds_max, self.options.stop);
        for slot in fresh {
            // If the record of the instance cannot be written, the commit of the trial fails too and reports the
            // error.
            let _ = self.store.put_instance(self.run, &slot.instance);
        }
        self.check_stopped()
    }

    fn intent(&mut self, position: usize, round: u32) -> Intent<'a> {
        let (plan, options) = (self.plan, self.options);
        let system = &plan.systems[position];
        match std::mem::replace(&mut self.systems[position].presence, Presence::Started) {
            Presence::Started => {}
            Presence::Carried(slot) => return Intent::CarryOver(slot),
            Presence::LeftOut(not_started) => {
                self.systems[position].presence = Presence::LeftOut(not_started.clone());
                return Intent::LeaveOut(not_started);
            }
        }
        let installation = self.installed[position].as_ref().ok().and_then(Option::as_ref);
        let given = self.given[position].as_ref();
        let starter = Starter { system, installation, cache: &options.cache, given, holds: self.holds };
        let loads = initial_loads(plan);
        let is_loaded_before = (round > self.load_round && !plan.loads_in(round, self.load_round))
            || plan.reuses_data_of(position);
        let may_be_kept = !loads.is_empty() && !plan.load_every_round && is_loaded_before;
        let kept = may_be_kept.then(|| starter.kept(plan, &loads)).flatten();
        Intent::Start { starter, kept }
    }

    /// Records that a system was started, or that it did not start.
    fn started(
        &mut self,
        position: usize,
        starter: Starter<'a>,
        is_kept: bool,
        system: Result<Box<dyn RunningSystem>, SystemError>,
        instance: InstanceRecord,
    ) -> Result<Result<SystemSlot<'a>, NotStarted>, RunError> {
        match system.and_then(|system| self.slot(position, starter, is_kept, system)) {
            Ok(mut slot) => {
                let record = self.systems[position].record.as_ref();
                if let Some(record) = record.filter(|_| !self.has_completed_round) {
                    self.store.put_system(self.run, record)?;
                }
                self.store.put_instance(self.run, &instance)?;
                slot.instance = instance;
                Ok(Ok(slot))
            }
            Err(source) => {
                let error = RunError::Start { system: instance.system_id, source };
                if self.has_completed_round {
                    // The system is left out of this round only, because it may start in a later round.
                    return Ok(Err(NotStarted::new(&self.plan.systems[position].id, &error)));
                }
                let not_started = do_without(self.plan, position, self.options, error, self.observer)?;
                self.systems[position].presence = Presence::LeftOut(not_started.clone());
                self.outcome.not_started.push(not_started.clone());
                Ok(Err(not_started))
            }
        }
    }

    /// The slot of a system that was started. Its version and variables are noted at its first start.
    fn slot(
        &mut self,
        position: usize,
        starter: Starter<'a>,
        is_kept: bool,
        system: Box<dyn RunningSystem>,
    ) -> Result<SystemSlot<'a>, SystemError> {
        if !self.has_completed_round {
            let mut record = records::system(self.plan, position);
            record.engine_version = Some(system.version());
            record.encryption = system.encryption();
            record.image = system.image();
            record.variables = system.variables()?;
            self.systems[position].record = Some(record);
        }
        let mut slot = SystemSlot::new(starter, system);
        if is_kept {
            slot.loads.replace(&initial_loads(self.plan));
        }
        Ok(slot)
    }
}

/// Starts systems at the same time. The results are in the order of the list. The result of a system that is not started
/// is `None`.
fn start_together(intents: &[(usize, Intent<'_>)]) -> Vec<Option<Start>> {
    let start = |starter: &Starter<'_>, kept: &Option<Snapshot>| {
        let began = Instant::now();
        Start { system: starter.start(kept.clone()), seconds: began.elapsed().as_secs_f64() }
    };
    thread::scope(|scope| {
        let threads: Vec<_> = intents
            .iter()
            .map(|(_, intent)| match intent {
                Intent::Start { starter, kept } => Some(scope.spawn(move || start(starter, kept))),
                Intent::LeaveOut(_) | Intent::CarryOver(_) => None,
            })
            .collect();
        let join = |thread: thread::ScopedJoinHandle<'_, Start>| {
            thread.join().unwrap_or_else(|panic| resume_unwind(panic))
        };
        threads.into_iter().map(|thread| thread.map(join)).collect()
    })
}
