//! A system of a round: its running instance, or the reason why it cannot be used.

use std::collections::BTreeMap;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use dyno_engine::{Snapshot, Snapshots};
use dyno_store::{InstanceRecord, NetworkRecord};

use super::loads::{Loads, parts};
use super::running::RunningSystem;
use super::starter::Starter;
use crate::plan::Plan;
use crate::run::error::SystemError;

/// How long to wait for a server's process to end after its connections broke.
const DYING: Duration = Duration::from_millis(500);

/// A system in a round: its running instance, or the reason why it cannot be used.
pub(crate) struct SystemSlot<'a> {
    starter: Starter<'a>,
    /// The running system. `None` during a restart, and after a failed restart.
    system: Option<Box<dyn RunningSystem>>,
    /// Why the system can no longer be used; `None` if it can be used.
    lost: Option<String>,
    /// The loads whose tables the system has.
    pub(crate) loads: Loads,
    /// The record of the system's instance.
    pub(crate) instance: InstanceRecord,
    /// The measurement of the network from each driver, by host; `None` if the measurement failed.
    pub(crate) networks: BTreeMap<String, Option<NetworkRecord>>,
    /// Whether a step has run on the system since the instance was started or last restored.
    pub(crate) was_loaded: bool,
    /// Whether the tables were read since the instance was started or last restored. A restart between steps does
    /// not reset this, because the next step is to begin with cold caches.
    pub(crate) is_warm: bool,
    /// Whether [`settle`](super::settle) has waited for the system since its last start.
    pub(crate) is_settled: bool,
}

/// The state of a system after a failed trial.
pub(crate) struct Examination {
    /// Whether the server's process has ended since the trial began.
    pub(crate) died: bool,
    /// The limit that the system has reached, in words.
    pub(crate) met_limit: Option<String>,
    /// The last lines of the server's log.
    pub(crate) log_tail: String,
}

impl<'a> SystemSlot<'a> {
    /// Makes the slot of a system that was just started.
    pub(crate) fn new(starter: Starter<'a>, system: Box<dyn RunningSystem>) -> Self {
        Self {
            starter,
            system: Some(system),
            lost: None,
            loads: Loads::default(),
            instance: InstanceRecord::default(),
            networks: BTreeMap::new(),
            was_loaded: false,
            is_warm: false,
            is_settled: false,
        }
    }

    /// Whether Dyno starts the system, so that each round has a fresh instance.
    pub(crate) fn is_ours(&self) -> bool {
        self.starter.system.source.is_started_by_dyno()
    }

    /// Reads the tables, so that the caches contain as much of them as fits, and reads the log into the page cache.
    pub(crate) fn warm(&mut self) -> Result<(), String> {
        let began = Instant::now();
        let system = self.system()?;
        let tables = system.read_tables().map_err(|error| format!("cannot read its tables: {error}"));
        let read = tables.and_then(|()| system.read_log().map_err(|error| error.to_string()));
        self.instance.warm_seconds += began.elapsed().as_secs_f64();
        self.is_warm = true;
        read
    }

    /// Returns the system, or the reason why it can no longer be used.
    pub(crate) fn system(&self) -> Result<&dyn RunningSystem, &str> {
        match (&self.system, &self.lost) {
            (Some(system), None) => Ok(system.as_ref()),
            (_, lost) => Err(lost.as_deref().unwrap_or("it is not running")),
        }
    }

    /// Returns the system for changing it, or the reason why it can no longer be used.
    pub(crate) fn system_mut(&mut self) -> Result<&mut (dyn RunningSystem + 'static), String> {
        match (&mut self.system, &self.lost) {
            (Some(system), None) => Ok(system.as_mut()),
            (_, lost) => Err(lost.clone().unwrap_or_else(|| "it is not running".to_owned())),
        }
    }

    /// Records that a caller of [`system_mut`](Self::system_mut) has started the system again on its data.
    pub(crate) fn note_restart(&mut self) {
        (self.is_warm, self.is_settled) = (false, false);
    }

    /// The folder of the system's data; `None` if the system is lost.
    pub(crate) fn data(&self) -> Option<&Path> {
        self.system.as_ref().and_then(|system| system.data())
    }

    /// The last lines of the server's log.
    pub(crate) fn log_tail(&self) -> String {
        self.system.as_ref().map(|system| system.log_tail()).unwrap_or_default()
    }

    /// Shuts the system down cleanly and starts it again. If that fails, the system cannot be used for the rest of
    /// the round.
    pub(crate) fn restart_cleanly(&mut self) -> Result<(), String> {
        self.change(<dyn RunningSystem>::restart_cleanly)
    }

    /// Starts the system again after it was killed. If that fails, the system cannot be used for the rest of the
    /// round.
    pub(crate) fn recover(&mut self) -> Result<(), String> {
        self.change(<dyn RunningSystem>::restart)
    }

    /// Stores a snapshot of the system's data after some loads, and starts the system again. If rounds share loads,
    /// the snapshot replaces an earlier one.
    pub(crate) fn keep(&mut self, plan: &Plan, loads: &[usize]) -> Result<Snapshot, String> {
        let Some(data) = self.data().map(Path::to_owned) else {
            return Err("it was not started by Dyno, which does not know where its data is".to_owned());
        };
        let system = self.starter.system;
        let parts = parts(self.starter.parts(), plan, system, loads);
        let names: Vec<_> = loads.iter().map(|&load| plan.steps[load].id.as_str()).collect();
        let rows = plan.data.map_or(String::new(), |data| format!(", {} × {} rows", data.tables, data.rows));
        let description =
            format!("{} after {} of {}{rows}", system.source.name(), names.join(", "), plan.name);
        let snapshots = Snapshots::of(self.starter.cache);
        // The system is started again even if the copy fails.
        let saved = self.change(|system| {
            system.shut_down_cleanly()?;
            if plan.rounds_per_load.is_some() {
                // This fails if another run uses the snapshot. The failure is ignored, and the snapshot stays.
                let _ = snapshots.remove(&parts.key());
            }
            let saved = snapshots.save(&parts, &description, &data);
            system.restart().map(|()| saved)
        })?;
        saved.map_err(|error| error.to_string())
    }

    /// Returns the snapshot of the data after some loads, if there is one.
    pub(crate) fn kept(&self, plan: &Plan, loads: &[usize]) -> Option<Snapshot> {
        self.starter.kept(plan, loads)
    }

    /// Restarts the system on a snapshot of the data after some loads.
    pub(crate) fn restore(&mut self, snapshot: &Snapshot, loads: &[usize]) -> Result<(), String> {
        // The old instance is stopped first, because memory and disk may not be enough for two.
        self.system = None;
        match self.starter.start(Some(snapshot.clone())) {
            Ok(system) => {
                self.system = Some(system);
                self.lost = None;
                self.loads.replace(loads);
                (self.was_loaded, self.is_warm, self.is_settled) = (false, false, false);
                Ok(())
            }
            Err(error) => Err(self.lose(&error)),
        }
    }

    /// Examines the system after a failure. Restarts the system if it died or if `hangs` is set.
    pub(crate) fn examine(&mut self, hangs: bool) -> Examination {
        let was_lost = self.lost.is_some();
        let died = !hangs && self.is_dying();
        let log_tail = self.log_tail();
        let met_limit = self.system.as_ref().and_then(|system| system.met_limit());
        if died || hangs {
            // If the restart fails, the slot records the reason.
            let _ = self.change(<dyn RunningSystem>::restart);
        }
        Examination { died: died && !was_lost, met_limit, log_tail }
    }

    fn is_dying(&self) -> bool {
        let failed_at = Instant::now();
        while self.system.as_ref().is_some_and(|system| system.is_alive()) {
            if failed_at.elapsed() > DYING {
                return false;
            }
            thread::sleep(Duration::from_millis(20));
        }
        true
    }

    /// Executes a change of the system. If the change fails, the system can no longer be used.
    fn change<T>(
        &mut self,
        change: impl FnOnce(&mut (dyn RunningSystem + 'static)) -> Result<T, SystemError>,
    ) -> Result<T, String> {
        let Some(system) = &mut self.system else { return Err(self.lost.clone().unwrap_or_default()) };
        self.is_settled = false;
        match change(system.as_mut()) {
            Ok(value) => {
                self.lost = None;
                Ok(value)
            }
            Err(error) => Err(self.lose(&error)),
        }
    }

    fn lose(&mut self, error: &SystemError) -> String {
        let reason = format!("lost with an earlier trial; the server could not be started again: {error}");
        self.lost = Some(reason);
        error.to_string()
    }
}
