//! A system's place on the bench: whether it can still be used, and getting it back when it cannot.

use std::collections::BTreeSet;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use super::subject::Subject;
use crate::plan::{Command, Plan};

/// A server whose connections broke is given this long to be gone.
const DYING: Duration = Duration::from_millis(500);

/// A system, or what is left of it.
pub(crate) struct Place {
    subject: Box<dyn Subject>,
    lost: Option<String>,
    /// Positions of the plan's loads whose tables it has.
    loaded: BTreeSet<usize>,
}

/// What is known of a system after it failed a trial.
pub(crate) struct Autopsy {
    /// Its process is gone.
    pub(crate) died: bool,
    /// The last lines of its log.
    pub(crate) log_tail: String,
}

impl Place {
    pub(crate) fn new(subject: Box<dyn Subject>) -> Self {
        Self { subject, lost: None, loaded: BTreeSet::new() }
    }

    /// The loads that a step builds on and whose tables are not there: of each script, the last load before it.
    pub(crate) fn missing_loads(&self, plan: &Plan, step: usize) -> Vec<usize> {
        if plan.steps[step].command == Command::Prepare {
            return Vec::new();
        }
        let loads = |at: &usize| plan.steps[*at].command == Command::Prepare;
        let replaced = |at: usize| {
            (at + 1..step)
                .filter(loads)
                .any(|later| plan.steps[later].script.name == plan.steps[at].script.name)
        };
        (0..step).filter(loads).filter(|&at| !replaced(at) && !self.loaded.contains(&at)).collect()
    }

    /// Notes that a load went through, or failed; either way what the same script loaded before is gone.
    pub(crate) fn note_load(&mut self, plan: &Plan, step: usize, succeeded: bool) {
        self.loaded.retain(|&other| plan.steps[other].script.name != plan.steps[step].script.name);
        if succeeded {
            self.loaded.insert(step);
        }
    }

    /// The system, or why it cannot be used any more.
    pub(crate) fn subject(&self) -> Result<&dyn Subject, &str> {
        match &self.lost {
            None => Ok(self.subject.as_ref()),
            Some(reason) => Err(reason),
        }
    }

    /// The last lines of its log.
    pub(crate) fn log_tail(&self) -> String {
        self.subject.log_tail()
    }

    /// Shuts it down cleanly and starts it again. One that cannot be had again is lost for the rest of the run.
    pub(crate) fn restart_cleanly(&mut self) -> Result<(), String> {
        let restarted = self.subject.restart_cleanly().map_err(|error| error.to_string());
        self.lost = restarted.as_ref().err().map(|error| format!("lost between two trials: {error}"));
        restarted
    }

    /// The folder of its data.
    pub(crate) fn data(&self) -> &Path {
        self.subject.data()
    }

    /// Looks at a system that failed, and starts it again if it died, or if it `hangs`.
    pub(crate) fn examine(&mut self, hangs: bool) -> Autopsy {
        let died = !hangs && self.is_dying();
        let log_tail = self.subject.log_tail();
        if died || hangs {
            self.lost = self.subject.restart().err().map(|error| {
                format!("lost with an earlier trial; the server could not be started again: {error}")
            });
        }
        Autopsy { died, log_tail }
    }

    fn is_dying(&self) -> bool {
        let failed_at = Instant::now();
        while self.subject.is_alive() {
            if failed_at.elapsed() > DYING {
                return false;
            }
            thread::sleep(Duration::from_millis(20));
        }
        true
    }
}
