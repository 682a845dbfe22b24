//! A trial that is to run: its step and its system. If the trial fails, finds out why.

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

/// The time for which no event may finish is limited. For loads, the limit is this multiple of the limit for other
/// trials, because no event finishes while a load builds an index.
pub(crate) const LOAD_PATIENCE: u32 = 10;

/// Time limit for an answer on a new connection. The server is asked when it may hang.
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

    /// Makes the trial's record. The record begins now, and has no measurements.
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

    /// Returns the watch that ends the step's measurement if no event of the load finishes for too long. The limit is
    /// the step's `event_seconds_max`, if the step sets it. Otherwise the limit of the run is extended, because what
    /// the step does to the server (its `step_events`) may keep statements waiting.
    pub(crate) fn watch_events(&self) -> Watch<'a> {
        let watch = self.watch();
        // Perhaps no operation ends during a step event, so the longest limit of the step's events is added.
        let limits_s = self.step().step_events.iter().map(|event| event.limit_seconds);
        let longest = Duration::try_from_secs_f64(limits_s.fold(0.0, f64::max)).unwrap_or(Duration::MAX);
        let patience = watch.patience.saturating_add(longest);
        Watch { patience: self.event_patience().unwrap_or(patience), ..watch }
    }

    /// The step's `event_seconds_max`, plus a tick because only the next tick reports the end of an event.
    fn event_patience(&self) -> Option<Duration> {
        let limit_s = self.step().queries.event_seconds_max?;
        Duration::try_from_secs_f64(limit_s + TICK_SECONDS).ok()
    }

    /// The CPUs that load processes may use; `None` if the plan does not limit them.
    pub(crate) fn cpus(&self) -> Option<&'a CpuSet> {
        self.plan.systems[self.trial.system].confinement.client_cpus.as_ref()
    }

    /// Returns whether the server's threads and the load may be pinned to separate cores. There must be enough cores,
    /// and the plan must let Dyno choose the CPUs.
    pub(crate) fn may_pin_threads(&self) -> bool {
        let limits = &self.plan.systems[self.trial.system].confinement;
        let is_free = limits.server_cpus.is_none() && limits.client_cpus.is_none();
        is_free && OwnCores::are_enough(self.trial.clients)
    }

    /// Starts a load process on a job of the trial.
    pub(crate) fn start_load(&self, job: &Job) -> Result<LoadProcess, TrialAbort> {
        start_load(&self.options.driver_program, job, self.cpus())
    }

    /// Runs the step's command `before`.
    pub(crate) fn run_before(&self, system: &dyn RunningSystem) -> Result<(), TrialAbort> {
        self.run_hook(self.step().before.as_deref(), system)
    }

    /// Checks the data with the script's command `check` if the step has `check`. I/O limits are lifted meanwhile.
    pub(crate) fn check_data(&self, system: &dyn RunningSystem) -> Result<(), TrialAbort> {
        if !self.step().check {
            return Ok(());
        }
        let watch = Watch { patience: self.options.patience * LOAD_PATIENCE, ..self.watch() };
        let check = |job: &Job| watch.follow(&mut self.start_load(job)?, |_| (), || Ok(())).map(|_| ());
        without_io_limits(system, || match check(&job::checking(self.plan, self.trial, system.target())) {
            // Each connection reports only its first finding. A second check over one connection reports all of
            // them.
            Err(first @ TrialAbort::Failed { .. }) => {
                check(&job::printing(self.plan, self.trial, "check", system.target())).and(Err(first))
            }
            checked => checked,
        })
    }

    /// Runs the step's command `after`.
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

    /// Returns the outcome of an aborted trial, after an examination of its server.
    ///
    /// # Errors
    /// The user stopped the run.
    pub(super) fn examine(&self, abort: TrialAbort, slot: &mut SystemSlot<'_>) -> Result<Outcome, Stopped> {
        let (mut message, hangs) = match abort {
            TrialAbort::Stopped => return Err(Stopped),
            // Pressing ^C in a terminal also reaches a load process that is being started. Such a load fails because
            // the run was stopped.
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

    /// Returns the reason why no event finished, and whether the server must be killed because of it.
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
