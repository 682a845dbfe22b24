//! One trial, from its first connection to what came of it.

use std::collections::BTreeMap;
use std::time::Instant;

use dyno_host::CpuSet;
use dyno_load::{Frame, Job, Total};
use dyno_store::Outcome;

use super::beside::Company;
use super::drive::{Cut, Drive, Watch};
use super::hook::{self, HookError};
use super::meter::Meter;
use super::observer::Pace;
use super::place::Place;
use super::recording::{Recorded, Recording, pace};
use super::subject::Subject;
use super::tally::Tally;
use super::{RunOptions, job};
use crate::plan::{Command, Plan};
use crate::schedule::Trial;

/// How much longer than a run a load may go without finishing anything: building an index counts as nothing.
const LOAD_PATIENCE: u32 = 10;

/// What came of a trial.
#[derive(Default)]
pub(crate) struct Attempt {
    pub(crate) outcome: Outcome,
    pub(crate) recorded: Recorded,
    /// Events that were due and had not begun at the end; none in a closed loop.
    pub(crate) backlog: Option<u64>,
    pub(crate) error_codes: BTreeMap<String, u64>,
    /// What was waited for afterwards, as JSON.
    pub(crate) drain: Option<serde_json::Value>,
    /// What the workloads beside it did, by their names in results.
    pub(crate) beside: Vec<(String, Self)>,
}

/// A trial to make.
#[derive(Clone, Copy)]
pub(crate) struct Order<'a> {
    pub(crate) plan: &'a Plan,
    pub(crate) trial: &'a Trial,
    pub(crate) options: &'a RunOptions<'a>,
    /// Measured time, in seconds.
    pub(crate) seconds: f64,
}

/// Puts a trial's load on a system, and tells of each second. None if someone stopped the run.
pub(crate) fn attempt(order: Order<'_>, place: &mut Place<'_>, ticked: impl FnMut(Pace)) -> Option<Attempt> {
    let subject = match place.subject() {
        Ok(subject) => subject,
        Err(lost) => return Some(Attempt::failed(lost.to_owned(), String::new())),
    };
    let step = order.step();
    let (cut, mut attempt) =
        match order.hook(step.before.as_deref(), subject).and_then(|()| order.measure(subject, ticked)) {
            Ok((Ok(()), attempt)) => match order.hook(step.after.as_deref(), subject) {
                Ok(()) => return Some(attempt),
                Err(cut) => (cut, attempt),
            },
            Ok((Err(cut), attempt)) => (cut, attempt),
            Err(cut) => (cut, Attempt::default()),
        };
    attempt.outcome = order.autopsy(cut, place)?;
    Some(attempt)
}

impl Order<'_> {
    fn step(&self) -> &crate::plan::Step {
        &self.plan.steps[self.trial.step]
    }

    pub(crate) fn watch(&self) -> Watch<'_> {
        let loads = self.step().command == Command::Prepare;
        let patience = self.options.patience * if loads { LOAD_PATIENCE } else { 1 };
        Watch { stop: self.options.stop, patience }
    }

    /// The CPUs that load processes are kept on.
    pub(crate) fn cpus(&self) -> Option<&CpuSet> {
        self.plan.systems[self.trial.system].confinement.client_cpus.as_ref()
    }

    pub(crate) fn hook(&self, command: Option<&str>, subject: &dyn Subject) -> Result<(), Cut> {
        let Some(command) = command else { return Ok(()) };
        let system = &self.plan.systems[self.trial.system].id;
        hook::run(command, system, &subject.target(), self.watch()).map_err(|error| match error {
            HookError::Stopped => Cut::Stopped,
            HookError::Failed(message) => Cut::failed(message),
        })
    }

    /// The load itself; inside, whether it came to its end, and what was measured.
    fn measure(
        &self,
        subject: &dyn Subject,
        mut ticked: impl FnMut(Pace),
    ) -> Result<(Result<(), Cut>, Attempt), Cut> {
        let (step, watch, target) = (self.step(), self.watch(), subject.target());
        let job = job::job(self.plan, self.trial, self.seconds, target.clone());
        if step.command == Command::Prepare {
            clear(&job, self.options, watch, self.cpus())?;
        }
        let mut company = Company::start(self, &target, watch)?;
        let drive = start(self.options, &job, self.cpus())?;
        let meter = Meter::new(subject.work(), drive.pid(), subject.data());
        let mut recording = Recording::new(step.operation, meter, Tally::new(subject.counters()));
        let mut measured_from = Instant::now();
        let on_frame = |frame: &Frame| {
            recording.note(frame);
            match frame {
                Frame::Measuring => measured_from = Instant::now(),
                Frame::Tick(tick) => ticked(pace(tick, step.operation)),
                _ => {}
            }
        };
        let ended = drive.follow(watch, on_frame, || company.listen());
        let measured_to = Instant::now();
        let (ended, total) = match ended {
            Ok(total) => (Ok(()), Some(Box::new(total))),
            Err(Cut::Failed { message, total }) => (Err(Cut::Failed { message, total: None }), total),
            Err(cut) => (Err(cut), None),
        };
        let mut attempt = Attempt::new(recording, total.as_deref());
        attempt.backlog = total.filter(|_| job.rate.is_some()).map(|total| total.backlog);
        attempt.beside = company.finish(measured_from, measured_to);
        Ok((ended, attempt))
    }

    /// How a trial that was cut short failed, after a look at its server. None if someone stopped the run.
    pub(crate) fn autopsy(&self, cut: Cut, place: &mut Place<'_>) -> Option<Outcome> {
        let (message, hangs) = match cut {
            Cut::Stopped => return None,
            // ^C on a terminal also reaches a load process that is only just being started.
            Cut::Failed { .. } if self.watch().is_stopped() => return None,
            Cut::Failed { message, .. } => (message, false),
            Cut::Hung(patience) => {
                (format!("nothing was finished for {} s; the server was killed", patience.as_secs()), true)
            }
        };
        let autopsy = place.examine(hangs);
        let message = if autopsy.died { format!("the server died: {message}") } else { message };
        Some(Outcome::Failed { message, log_tail: autopsy.log_tail })
    }
}

impl Attempt {
    fn new(recording: Recording, total: Option<&Total>) -> Self {
        let error_codes = total.map(|total| total.error_codes.clone()).unwrap_or_default();
        Self { recorded: recording.finish(total), error_codes, ..Self::default() }
    }

    pub(crate) fn failed(message: String, log_tail: String) -> Self {
        Self { outcome: Outcome::Failed { message, log_tail }, ..Self::default() }
    }
}

/// Loads a step's tables for other trials to use, without recording anything.
pub(crate) fn load(job: &Job, options: &RunOptions<'_>) -> Result<(), Cut> {
    let watch = Watch { stop: options.stop, patience: options.patience * LOAD_PATIENCE };
    clear(job, options, watch, None)?;
    start(options, job, None)?.follow(watch, |_| (), || Ok(())).map(|_| ())
}

/// Removes what an earlier load left. Tables that cannot be removed because they are not there are no failure;
/// others make the load fail.
fn clear(load: &Job, options: &RunOptions<'_>, watch: Watch<'_>, cpus: Option<&CpuSet>) -> Result<(), Cut> {
    match start(options, &job::cleanup(load), cpus)?.follow(watch, |_| (), || Ok(())) {
        Err(Cut::Stopped) => Err(Cut::Stopped),
        _ => Ok(()),
    }
}

pub(crate) fn start(options: &RunOptions<'_>, job: &Job, cpus: Option<&CpuSet>) -> Result<Drive, Cut> {
    Drive::start(&options.driver_program, job, cpus).map_err(|error| Cut::failed(error.to_string()))
}
