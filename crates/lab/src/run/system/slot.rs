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

/// Longest wait for the end of a server's process after its connections broke.
const DYING: Duration = Duration::from_millis(500);

/// A system of a round.
pub(crate) struct SystemSlot<'a> {
    starter: Starter<'a>,
    /// `None` during a restart, and after a failed restart.
    system: Option<Box<dyn RunningSystem>>,
    /// The reason why it cannot be used any more.
    lost: Option<String>,
    /// The loads whose tables it has.
    pub(crate) loads: Loads,
    /// Its instance.
    pub(crate) instance: InstanceRecord,
    /// The network to each driver, by host; `None` if it could not be measured.
    pub(crate) networks: BTreeMap<String, Option<NetworkRecord>>,
    /// Whether a step has run on it since it was last started or restored.
    pub(crate) was_loaded: bool,
    /// Whether its tables were read since then.
    pub(crate) is_warm: bool,
    /// Whether the wait after its last start is over, see [`settle`](super::settle).
    pub(crate) is_settled: bool,
}

/// State of a system after a failed trial.
pub(crate) struct Examination {
    /// Whether its process has ended since the trial began.
    pub(crate) died: bool,
    /// The limit that it reached, in words.
    pub(crate) met_limit: Option<String>,
    /// The last lines of its log.
    pub(crate) log_tail: String,
}

impl<'a> SystemSlot<'a> {
    /// A system that was just started.
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

    /// Whether Dyno starts it, so that each round has a fresh instance.
    pub(crate) fn is_ours(&self) -> bool {
        self.starter.system.source.is_started_by_dyno()
    }

    /// Reads its tables into its caches, as far as they fit, and its log into the page cache.
    pub(crate) fn warm(&mut self) -> Result<(), String> {
        let began = Instant::now();
        let system = self.system()?;
        let tables = system.read_tables().map_err(|error| format!("cannot read its tables: {error}"));
        let read = tables.and_then(|()| system.read_log().map_err(|error| error.to_string()));
        self.instance.warm_seconds += began.elapsed().as_secs_f64();
        self.is_warm = true;
        read
    }

    /// The system, or the reason why it cannot be used any more.
    pub(crate) fn system(&self) -> Result<&dyn RunningSystem, &str> {
        match (&self.system, &self.lost) {
            (Some(system), None) => Ok(system.as_ref()),
            (_, lost) => Err(lost.as_deref().unwrap_or("it is not running")),
        }
    }

    /// The system, to be changed, or the reason why it cannot be used any more.
    pub(crate) fn system_mut(&mut self) -> Result<&mut (dyn RunningSystem + 'static), String> {
        match (&mut self.system, &self.lost) {
            (Some(system), None) => Ok(system.as_mut()),
            (_, lost) => Err(lost.clone().unwrap_or_else(|| "it is not running".to_owned())),
        }
    }

    /// Notes that it was started again on its data by [`system_mut`](Self::system_mut).
    pub(crate) fn note_restart(&mut self) {
        (self.is_warm, self.is_settled) = (false, false);
    }

    /// The folder of its data; `None` if the system is lost.
    pub(crate) fn data(&self) -> Option<&Path> {
        self.system.as_ref().and_then(|system| system.data())
    }

    /// The last lines of its log.
    pub(crate) fn log_tail(&self) -> String {
        self.system.as_ref().map(|system| system.log_tail()).unwrap_or_default()
    }

    /// Shuts it down cleanly and starts it again. If that fails, the system cannot be used for the rest of the
    /// round.
    pub(crate) fn restart_cleanly(&mut self) -> Result<(), String> {
        self.change(<dyn RunningSystem>::restart_cleanly)
    }

    /// Starts it again after it was killed. If that fails, the system cannot be used for the rest of the round.
    pub(crate) fn recover(&mut self) -> Result<(), String> {
        self.change(<dyn RunningSystem>::restart)
    }

    /// Keeps a copy of its data after some loads, and starts it again. If rounds share loads, it replaces an
    /// earlier copy.
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
        // Even if the copy fails, the system is started.
        let saved = self.change(|system| {
            system.shut_down_cleanly()?;
            if plan.rounds_per_load.is_some() {
                // If another run uses it, that one stays.
                let _ = snapshots.remove(&parts.key());
            }
            let saved = snapshots.save(&parts, &description, &data);
            system.restart().map(|()| saved)
        })?;
        saved.map_err(|error| error.to_string())
    }

    /// Kept data of some loads, if any.
    pub(crate) fn kept(&self, plan: &Plan, loads: &[usize]) -> Option<Snapshot> {
        self.starter.kept(plan, loads)
    }

    /// Restarts it on kept data of some loads.
    pub(crate) fn restore(&mut self, snapshot: &Snapshot, loads: &[usize]) -> Result<(), String> {
        // It is stopped first, because memory and disk may not be enough for two.
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

    /// Examines a system after a failure, and restarts it if it died or `hangs`.
    pub(crate) fn examine(&mut self, hangs: bool) -> Examination {
        let was_lost = self.lost.is_some();
        let died = !hangs && self.is_dying();
        let log_tail = self.log_tail();
        let met_limit = self.system.as_ref().and_then(|system| system.met_limit());
        if died || hangs {
            // If this fails, the slot has the reason.
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

    /// Changes the system. If that fails, the system cannot be used any more.
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
