//! Prepares a system for a trial (restart, missing loads, warm-up), and does the work after a trial (pending
//! writes, snapshots of loaded data).

use dyno_engine::{DrainLimits, DrainProgress, ReplicationError};
use dyno_store::{Outcome, TrialRecord};

use super::limits::without_io_limits;
use super::planned::{LOAD_PATIENCE, PlannedTrial};
use super::watch::TrialAbort;
use super::whole::load_unrecorded;
use crate::job;
use crate::plan::BetweenSteps;
use crate::run::error::SystemError;
use crate::run::observer::{Event, Observer};
use crate::run::system::{Origin, SystemSlot, foundation};

/// The longest wait for pending writes, in seconds.
const DRAIN_SECONDS_MAX: f64 = 1200.0;

impl PlannedTrial<'_> {
    fn system_id(&self) -> &str {
        &self.plan.systems[self.trial.system].id
    }

    /// Prepares a system: restarts or restores the system if the plan asks for that, loads missing tables, and reads
    /// the tables and the log of a fresh instance. A load needs no preparation.
    pub(crate) fn make_ready(
        &self,
        slot: &mut SystemSlot<'_>,
        observer: &mut dyn Observer,
    ) -> Result<(), TrialAbort> {
        if self.step().is_load() {
            return Ok(());
        }
        let system = self.system_id();
        match self.plan.between_steps {
            BetweenSteps::Restart if slot.was_loaded && slot.system().is_ok() => {
                observer.observe(&Event::Starting { systems: &[system] });
                slot.restart_cleanly().map_err(TrialAbort::failed)?;
            }
            BetweenSteps::Restore if slot.was_loaded => {
                let loads = foundation(self.plan, self.trial.step);
                if let Some(snapshot) = slot.kept(self.plan, &loads) {
                    observer.observe(&Event::Restoring { system });
                    slot.restore(&snapshot, &loads).map_err(TrialAbort::failed)?;
                }
            }
            BetweenSteps::Restart | BetweenSteps::Restore | BetweenSteps::Keep => {}
        }
        self.load_missing(slot, observer)?;
        // A server that Dyno did not start is not warmed, because its owner decides how warm its caches are.
        if self.plan.warm && slot.is_ours() && slot.system().is_ok() && !slot.is_warm {
            observer.observe(&Event::Warming { system });
            slot.warm().map_err(TrialAbort::failed)?;
        }
        slot.was_loaded = true;
        self.catch_up(slot)
    }

    /// Waits until the system's replicas, if it has any, have caught up.
    fn catch_up(&self, slot: &SystemSlot<'_>) -> Result<(), TrialAbort> {
        let Ok(system) = slot.system() else { return Ok(()) };
        let Some(topology) = system.topology() else { return Ok(()) };
        let caught_up = topology.catch_up(self.options.patience * LOAD_PATIENCE, self.options.stop);
        caught_up.map(|_| ()).map_err(|error| match error {
            ReplicationError::Interrupted => TrialAbort::Stopped,
            error => TrialAbort::failed(error.to_string()),
        })
    }

    /// Loads the tables that the trial needs and that are missing, for example in a resumed run.
    fn load_missing(&self, slot: &mut SystemSlot<'_>, observer: &mut dyn Observer) -> Result<(), TrialAbort> {
        let plan = self.plan;
        for step in slot.loads.missing(plan, self.trial.step) {
            let Ok(running) = slot.system() else { return Ok(()) };
            observer.observe(&Event::Loading { system: self.system_id(), step: &plan.steps[step] });
            let system = &plan.systems[self.trial.system];
            let job = job::reload(plan, system, step, self.trial.seed, running.target());
            let failed =
                |reason: String| TrialAbort::failed(format!("its tables cannot be loaded: {reason}"));
            // This work is not measured, so the limits do not need to slow it down.
            let loaded = without_io_limits(running, || load_unrecorded(&job, running, self.options));
            slot.loads.note(plan, step, Origin::Again, loaded.is_ok());
            loaded.map_err(|abort| match abort {
                TrialAbort::Failed { message, .. } => failed(message),
                abort => abort,
            })?;
        }
        Ok(())
    }

    /// Restores the tables of a load, and of the loads before it, from a snapshot if there is one. Returns whether
    /// the system has the tables now.
    pub(crate) fn restore_load(&self, slot: &mut SystemSlot<'_>, observer: &mut dyn Observer) -> bool {
        if slot.loads.has(self.trial.step) {
            return true;
        }
        let loads = foundation(self.plan, self.trial.step);
        let Some(snapshot) = slot.kept(self.plan, &loads) else { return false };
        observer.observe(&Event::Restoring { system: self.system_id() });
        // If this fails, the system is lost. Its trials then fail with the reason.
        slot.restore(&snapshot, &loads).is_ok()
    }

    /// Does the work after a trial: records where its tables came from, waits for pending writes if the step asks
    /// for that, and stores loaded data as a snapshot.
    pub(crate) fn conclude(
        &self,
        record: &mut TrialRecord,
        slot: &mut SystemSlot<'_>,
        observer: &mut dyn Observer,
    ) {
        record.loaded_again = slot.loads.loaded_again(self.plan, self.trial.step);
        let succeeded = record.outcome == Outcome::Completed;
        if self.step().drain && succeeded {
            record.drain = self.drain(slot, observer);
        }
        if self.step().is_load() {
            self.keep_load(succeeded, slot, observer);
        }
    }

    /// Records the outcome of a load. Stores its data as a snapshot if the plan keeps data.
    fn keep_load(&self, succeeded: bool, slot: &mut SystemSlot<'_>, observer: &mut dyn Observer) {
        slot.loads.note(self.plan, self.trial.step, Origin::Measured, succeeded);
        let loads = foundation(self.plan, self.trial.step);
        let has_all = loads.iter().all(|&load| slot.loads.has(load));
        if !succeeded || !self.plan.keeps_data() || !has_all {
            return;
        }
        // If rounds share a load, they use the data of this load, and not a snapshot from an earlier run.
        let is_kept = self.plan.rounds_per_load.is_none() && slot.kept(self.plan, &loads).is_some();
        if !is_kept && let Err(reason) = slot.keep(self.plan, &loads) {
            observer.observe(&Event::NotKept { system: self.system_id(), reason: &reason });
        }
    }

    /// Waits for a system's pending writes, and returns a report as JSON. If this fails, the report says so, and
    /// the trial stays valid.
    fn drain(&self, slot: &SystemSlot<'_>, observer: &mut dyn Observer) -> Option<serde_json::Value> {
        let limits = DrainLimits { seconds_max: DRAIN_SECONDS_MAX, stop: self.options.stop, may_set: true };
        let system = self.system_id();
        let mut progress = |DrainProgress { seconds, amounts }: DrainProgress<'_>| {
            observer.observe(&Event::Draining { system, seconds, amounts });
        };
        let running = slot.system().ok()?;
        // Limits are lifted because nothing is measured here, and with limited I/O the pending writes could take
        // hours.
        let report = without_io_limits(running, || running.drain(&limits, &mut progress));
        Some(report.map_or_else(
            |error: SystemError| serde_json::json!({ "failed": error.to_string() }),
            |report| serde_json::json!(report),
        ))
    }
}
