//! A trial before it runs: its step and its system. It can find out why the trial failed.

use std::time::Duration;

use dyno_host::{CpuSet, OwnCores};
use dyno_load::{Job, LoadProcess};
use dyno_store::{FailureKind, Outcome, TrialRecord};

use super::hook::{self, HookError};
use super::limits::without_io_limits;
use super::watch::{Hang, TrialAbort, Watch, start_load};
use crate::job;
use crate::plan::{Plan, Step};
use crate::run::error::Stopped;
use crate::run::options::RunOptions;
use crate::run::record::{Work, now_ms};
use crate::run::system::{RunningSystem, SystemSlot};
use crate::schedule::Trial;

/// Time between two ticks of a load.
const TICK_SECONDS: f64 = 1.0;

/// Loads may take this many times the run's limit for a time without events, because no event finishes while they
/// build an index.
pub(crate) const LOAD_PATIENCE: u32 = 10;

/// A server that may hang must answer a statement of a new connection within this time.
const ANSWER_PATIENCE: Duration = Duration::from_secs(3);

/// A planned trial.
#[derive(Clone, Copy)]
pub(crate) struct PlannedTrial<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) trial: &'a Trial,
    pub(crate) options: &'a RunOptions<'a>,
}

impl<'a> PlannedTrial<'a> {
    pub(crate) fn step(&self) -> &'a Step {
        &self.plan.steps[self.trial.step]
    }

    /// Its record, which begins now and has no measurements.
    pub(crate) fn record(&self) -> TrialRecord {
        TrialRecord {
            system_id: self.plan.systems[self.trial.system].id.clone(),
            step_id: self.step().id.clone(),
            clients: self.trial.clients,
            round: self.trial.round,
            started_at_ms: now_ms(),
            ..TrialRecord::default()
        }
    }

    pub(crate) fn watch(&self) -> Watch<'a> {
        let patience = self.options.patience * if self.step().is_load() { LOAD_PATIENCE } else { 1 };
        Watch { stop: self.options.stop, patience }
    }

    /// The watch over the step's events. The step may have its own limit, and an event of the plan may keep statements
    /// waiting.
    pub(crate) fn watch_events(&self) -> Watch<'a> {
        let watch = self.watch();
        // Meanwhile nothing may finish.
        let limits_s = self.step().step_events.iter().map(|event| event.limit_seconds);
        let longest = Duration::try_from_secs_f64(limits_s.fold(0.0, f64::max)).unwrap_or(Duration::MAX);
        let patience = watch.patience.saturating_add(longest);
        Watch { patience: self.event_patience().unwrap_or(patience), ..watch }
    }

    /// The step's `event_seconds_max` plus a tick, because the next tick reports the end of an event.
    fn event_patience(&self) -> Option<Duration> {
        let limit_s = self.step().queries.event_seconds_max?;
        Duration::try_from_secs_f64(limit_s + TICK_SECONDS).ok()
    }

    /// The CPUs for load processes.
    pub(crate) fn cpus(&self) -> Option<&'a CpuSet> {
        self.plan.systems[self.trial.system].confinement.client_cpus.as_ref()
    }

    /// Whether there are enough cores to pin the server's threads and the load to separate cores, and the plan lets
    /// Dyno choose CPUs.
    pub(crate) fn may_pin_threads(&self) -> bool {
        let limits = &self.plan.systems[self.trial.system].confinement;
        let is_free = limits.server_cpus.is_none() && limits.client_cpus.is_none();
        is_free && OwnCores::are_enough(self.trial.clients)
    }

    /// Starts a load process on a job of the trial.
    pub(crate) fn start_load(&self, job: &Job) -> Result<LoadProcess, TrialAbort> {
        start_load(&self.options.driver_program, job, self.cpus())
    }

    /// Runs the step's command before it.
    pub(crate) fn run_before(&self, system: &dyn RunningSystem) -> Result<(), TrialAbort> {
        self.run_hook(self.step().before.as_deref(), system)
    }

    /// Checks the data with the script's command `check`, if the step wants that, without limits of I/O.
    pub(crate) fn check_data(&self, system: &dyn RunningSystem) -> Result<(), TrialAbort> {
        if !self.step().check {
            return Ok(());
        }
        let watch = Watch { patience: self.options.patience * LOAD_PATIENCE, ..self.watch() };
        let check = |job: &Job| watch.follow(&mut self.start_load(job)?, |_| (), || Ok(())).map(|_| ());
        without_io_limits(system, || match check(&job::checking(self.plan, self.trial, system.target())) {
            // Each connection reports only its first finding. A single connection finds all of them.
            Err(first @ TrialAbort::Failed { .. }) => {
                check(&job::printing(self.plan, self.trial, "check", system.target())).and(Err(first))
            }
            checked => checked,
        })
    }

    /// Runs the step's command after it.
    pub(crate) fn run_after(&self, system: &dyn RunningSystem) -> Result<(), TrialAbort> {
        self.run_hook(self.step().after.as_deref(), system)
    }

    fn run_hook(&self, command: Option<&str>, system: &dyn RunningSystem) -> Result<(), TrialAbort> {
        let Some(command) = command else { return Ok(()) };
        let id = &self.plan.systems[self.trial.system].id;
        hook::run(command, id, &system.target(), self.watch()).map_err(|error| match error {
            HookError::Stopped => TrialAbort::Stopped,
            HookError::Failed(message) => TrialAbort::failed(message),
        })
    }

    /// The outcome of an aborted trial, after an examination of its server.
    ///
    /// # Errors
    /// The user stopped the run.
    pub(super) fn examine(&self, abort: TrialAbort, slot: &mut SystemSlot<'_>) -> Result<Outcome, Stopped> {
        let (mut message, hangs) = match abort {
            TrialAbort::Stopped => return Err(Stopped),
            // ^C on a terminal also reaches a load process that is being started.
            TrialAbort::Failed { .. } if self.watch().is_stopped() => return Err(Stopped),
            TrialAbort::Failed { message, .. } => (message, false),
            TrialAbort::Hung(hang) => self.explain(hang, slot),
        };
        let examination = slot.examine(hangs);
        if examination.died {
            message = format!("the server died: {message}");
        }
        if let Some(met) = examination.met_limit {
            let step = self.step();
            message = format!("{message}; {met}, during {} of {}", step.command().as_str(), step.script.name);
        }
        Ok(Outcome::Failed { kind: FailureKind::Trial, message, log_tail: examination.log_tail })
    }

    /// Why no event finished, and whether the server must be killed because of it.
    fn explain(&self, hang: Hang, slot: &mut SystemSlot<'_>) -> (String, bool) {
        if let Some(limit_s) = self.step().queries.event_seconds_max
            && self.event_patience() == Some(hang.patience)
        {
            return (format!("an event did not end within `event_seconds_max` = {limit_s}"), true);
        }
        let what = format!("nothing was finished for {} s", hang.patience.as_secs());
        let (answers, is_ours) = slot.system().map_or((false, true), |system| {
            (system.answers(ANSWER_PATIENCE), system.work() != Work::Elsewhere)
        });
        let end = if is_ours { "; it was killed" } else { "" };
        match (hang.is_busy, answers) {
            (true, true) => {
                let script = &self.step().script.name;
                (
                    format!("{what} while the load process used a core: does {script} loop without a query?"),
                    false,
                )
            }
            (false, true) => (format!("{what}, though the server answers other connections{end}"), true),
            (_, false) => (format!("{what}, and the server does not answer{end}"), true),
        }
    }
}
