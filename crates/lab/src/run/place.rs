//! A system's place on the bench: whether it can still be used, and getting it back when it cannot.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use super::subject::Subject;

/// A server whose connections broke is given this long to be gone.
const DYING: Duration = Duration::from_millis(500);

/// A system, or what is left of it.
pub(crate) struct Place {
    subject: Box<dyn Subject>,
    lost: Option<String>,
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
        Self { subject, lost: None }
    }

    /// The system, or why it cannot be used any more.
    pub(crate) fn subject(&self) -> Result<&dyn Subject, &str> {
        match &self.lost {
            None => Ok(self.subject.as_ref()),
            Some(reason) => Err(reason),
        }
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
