//! One trial, from its first connection to what came of it.

use std::sync::atomic::Ordering;

use dyno_load::{Frame, Job, Total};
use dyno_store::{Measured, Outcome, SampleRecord, Usage};

use super::drive::{Cut, Drive, Watch};
use super::meter::Meter;
use super::place::Place;
use super::recording::{Recording, operations};
use super::subject::Subject;
use super::{RunOptions, job};
use crate::plan::{Command, Plan};
use crate::schedule::Trial;

/// How much longer than a run a load may go without finishing anything: building an index counts as nothing.
const LOAD_PATIENCE: u32 = 10;

/// What came of a trial.
pub(crate) struct Attempt {
    pub(crate) outcome: Outcome,
    pub(crate) measured: Option<Measured>,
    pub(crate) usage: Usage,
    pub(crate) samples: Vec<SampleRecord>,
}

/// Puts a trial's load on a system, and tells the rate of each second. None if someone stopped the run.
pub(crate) fn attempt(
    plan: &Plan,
    trial: &Trial,
    options: &RunOptions<'_>,
    place: &mut Place,
    ticked: impl FnMut(f64),
) -> Option<Attempt> {
    let subject = match place.subject() {
        Ok(subject) => subject,
        Err(lost) => return Some(Attempt::failed(lost.to_owned(), String::new())),
    };
    let (cut, recording) = match measure(plan, trial, options, subject, ticked) {
        (Ok(total), recording) => return Some(Attempt::new(Outcome::Completed, recording, Some(&total))),
        (Err(cut), recording) => (cut, recording),
    };
    let (message, hangs, total) = match cut {
        Cut::Stopped => return None,
        // ^C on a terminal also reaches a load process that is only just being started.
        Cut::Failed { .. } if options.stop.load(Ordering::Relaxed) => return None,
        Cut::Failed { message, total } => (message, false, total),
        Cut::Hung(patience) => {
            (format!("nothing was finished for {} s; the server was killed", patience.as_secs()), true, None)
        }
    };
    let autopsy = place.examine(hangs);
    let message = if autopsy.died { format!("the server died: {message}") } else { message };
    let outcome = Outcome::Failed { message, log_tail: autopsy.log_tail };
    Some(Attempt::new(outcome, recording, total.as_deref()))
}

impl Attempt {
    fn new(outcome: Outcome, recording: Option<Recording>, total: Option<&Total>) -> Self {
        let (measured, usage, samples) =
            recording.map(|recording| recording.finish(total)).unwrap_or_default();
        Self { outcome, measured, usage, samples }
    }

    fn failed(message: String, log_tail: String) -> Self {
        Self::new(Outcome::Failed { message, log_tail }, None, None)
    }
}

fn measure(
    plan: &Plan,
    trial: &Trial,
    options: &RunOptions<'_>,
    subject: &dyn Subject,
    mut ticked: impl FnMut(f64),
) -> (Result<Total, Cut>, Option<Recording>) {
    let step = &plan.steps[trial.step];
    let job = job::job(plan, trial, subject.target());
    let loads = step.command == Command::Prepare;
    let patience = if loads { options.patience * LOAD_PATIENCE } else { options.patience };
    let watch = Watch { stop: options.stop, patience };
    let start = |job: &Job| Drive::start(&options.driver_program, job);
    if loads {
        // Tables that cannot be removed because they are not there are no failure; others make the load fail.
        let cleanup = job::cleanup(&job);
        if let Ok(drive) = start(&cleanup)
            && let Err(Cut::Stopped) = drive.follow(watch, |_| ())
        {
            return (Err(Cut::Stopped), None);
        }
    }
    let drive = match start(&job) {
        Ok(drive) => drive,
        Err(error) => return (Err(Cut::Failed { message: error.to_string(), total: None }), None),
    };
    let meter = Meter::new(subject.server_pid(), drive.pid(), subject.data());
    let mut recording = Recording::new(step.operation, meter);
    let ended = drive.follow(watch, |frame| {
        recording.note(frame);
        if let Frame::Tick(tick) = frame {
            ticked(operations(&tick.counts, step.operation) as f64 / tick.seconds);
        }
    });
    (ended, Some(recording))
}
