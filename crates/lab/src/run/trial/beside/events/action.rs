//! Prepares and carries out the actions of events.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use dyno_host::Freezer;
use dyno_load::{Frame, FrameSource as _, Job, LoadProcess};

use super::clock::sleep_until;
use super::{Ended, TrialEvents, jobs};
use crate::plan::{EventAction, StepEvent};
use crate::run::record::Work;
use crate::run::trial::hook::{self, HookError};
use crate::run::trial::watch::{TrialAbort, Watch};

/// Longest wait for a frame from an event's load process. After that, the flags that stop the event are checked.
const GLANCE: Duration = Duration::from_millis(20);
/// Time limit for ending a session over another connection.
const ENDING: Duration = Duration::from_secs(10);

/// What is prepared for an event before it is due.
pub(super) enum Ready {
    /// Nothing.
    Nothing,
    /// A connected load process, which begins when it is ordered to.
    Load(Box<WaitingLoad>),
}

/// A connected load process of an event.
pub(super) struct WaitingLoad {
    process: LoadProcess,
    /// The statement by which another connection can end this load's session on the server. `None` if the load has
    /// not printed it.
    end_of_session: Option<String>,
}

impl TrialEvents<'_> {
    /// Prepares an event shortly before it is due.
    pub(super) fn prepare(&self, event: &StepEvent) -> Result<Ready, String> {
        let target = self.target.clone();
        let job = match &event.action {
            EventAction::Sql(text) => jobs::sql(text, target),
            EventAction::Connections { number, hold_seconds } => {
                jobs::connections(*number, *hold_seconds, target)
            }
            EventAction::IdleTransaction { seconds } => jobs::transaction(*seconds, target),
            EventAction::Command(_)
            | EventAction::Kill
            | EventAction::Restart
            | EventAction::Stop { .. }
            | EventAction::DiskLatency { .. } => return Ok(Ready::Nothing),
        };
        let end = self.clock.end_of(false);
        self.connect(&job, end).map(|load| Ready::Load(Box::new(load)))
    }

    /// Starts a load process for an event, and waits until it has connected.
    fn connect(&self, job: &Job, end: &AtomicBool) -> Result<WaitingLoad, String> {
        let mut process = self.trial.start_load(job).map_err(words)?;
        let mut end_of_session = None;
        while !end.load(Ordering::Relaxed) {
            match process.next_frame(GLANCE).map_err(|error| error.to_string())? {
                Some((_, Frame::Connected(_))) => break,
                Some((_, Frame::Log { text })) => end_of_session = Some(text),
                Some((_, Frame::Failed { message, .. })) => return Err(message),
                _ => {}
            }
        }
        Ok(WaitingLoad { process, end_of_session })
    }

    /// Carries out an event that is due, and waits for its end.
    pub(super) fn carry_out(&self, event: &StepEvent, ready: &mut Ready) -> Ended {
        match (&event.action, ready) {
            (EventAction::Command(text), _) => self.command(text, event),
            (EventAction::Kill, _) => {
                let mut system = self.system();
                system.kill();
                ended(system.restart_in_place())
            }
            (EventAction::Restart, _) => {
                let mut system = self.system();
                ended(system.shut_down_cleanly().and_then(|()| system.restart_in_place()))
            }
            (EventAction::Stop { seconds }, _) => self.stop(*seconds, event),
            (EventAction::DiskLatency { latency_ms, hold_seconds }, _) => {
                self.delay_disk(*latency_ms, *hold_seconds, event)
            }
            (_, Ready::Load(load)) => self.follow(load, event),
            (_, Ready::Nothing) => Ended::Done,
        }
    }

    fn command(&self, text: &str, event: &StepEvent) -> Ended {
        let system = &self.trial.plan.systems[self.trial.trial.system].id;
        let watch = Watch { stop: self.clock.end_of(event.until_done), patience: limit(event) };
        match hook::run(text, system, &self.target, watch) {
            Ok(()) => Ended::Done,
            Err(HookError::Stopped) => Ended::Cut,
            Err(HookError::Failed(reason)) => Ended::Failed(reason),
        }
    }

    /// Stops the server's processes for a time. Afterwards they always continue, even after an error.
    fn stop(&self, seconds: f64, event: &StepEvent) -> Ended {
        let freezer = match self.system().work() {
            Work::Server(pid) => Freezer::of(pid),
            Work::InClient | Work::Elsewhere => None,
        };
        let Some(mut freezer) = freezer else {
            return Ended::Failed("the server has no process that can be stopped".to_owned());
        };
        let until = later_by(seconds);
        if !freezer.freeze() {
            return Ended::Failed("this user may not stop the server's processes".to_owned());
        }
        let is_done = sleep_until(until, self.clock.end_of(event.until_done));
        freezer.thaw();
        if is_done { Ended::Done } else { Ended::Cut }
    }

    /// Slows the server's disk down for a time. Afterwards the disk always gets its planned latency back.
    fn delay_disk(&self, latency_ms: f64, hold_seconds: f64, event: &StepEvent) -> Ended {
        let until = later_by(hold_seconds);
        if !self.system().delay_disk(Some(Duration::from_secs_f64(latency_ms / 1e3))) {
            return Ended::Failed("the disk has no latency that can be set".to_owned());
        }
        let is_done = sleep_until(until, self.clock.end_of(event.until_done));
        self.system().delay_disk(None);
        if is_done { Ended::Done } else { Ended::Cut }
    }

    /// Lets the load process of an event begin, and waits for its end.
    fn follow(&self, load: &mut WaitingLoad, event: &StepEvent) -> Ended {
        if let Err(error) = load.process.begin() {
            return Ended::Failed(error.to_string());
        }
        let (end, began) = (self.clock.end_of(event.until_done), Instant::now());
        loop {
            match load.process.next_frame(GLANCE) {
                Ok(Some((_, Frame::Finished(_)))) => return Ended::Done,
                Ok(Some((_, Frame::Failed { message, .. }))) => return Ended::Failed(message),
                Ok(_) => {}
                Err(error) => return Ended::Failed(error.to_string()),
            }
            let is_told = end.load(Ordering::Relaxed);
            if is_told || began.elapsed() > limit(event) {
                self.end_session(load);
                return if is_told {
                    Ended::Cut
                } else {
                    let seconds = event.limit_seconds;
                    Ended::Failed(format!("it took longer than `limit_seconds` = {seconds}, and was ended"))
                };
            }
        }
    }

    /// Ends a session together with its running statement. This is necessary because a server does not notice that
    /// its client is gone until it sends the answer. If the server does not answer, the session stays. After an
    /// aborted trial, nothing is done if Dyno started the server, because the server ends with the run.
    fn end_session(&self, load: &mut WaitingLoad) {
        if self.owns_server && self.clock.is_aborted() {
            return;
        }
        let Some(statement) = load.end_of_session.take() else { return };
        let deadline = Instant::now() + ENDING;
        let job = jobs::end_of_session(&statement, self.target.clone());
        let Ok(mut killer) = self.trial.start_load(&job) else { return };
        while Instant::now() < deadline {
            match killer.next_frame(GLANCE) {
                Ok(Some((_, Frame::Finished(_) | Frame::Failed { .. }))) | Err(_) => break,
                Ok(_) => {}
            }
        }
        // The statement has ended only when the load process of the event reports its end.
        while Instant::now() < deadline {
            match load.process.next_frame(GLANCE) {
                Ok(Some((_, Frame::Finished(_) | Frame::Failed { .. }))) | Err(_) => break,
                Ok(_) => {}
            }
        }
    }
}

fn later_by(seconds: f64) -> Instant {
    Instant::now() + Duration::try_from_secs_f64(seconds).unwrap_or(Duration::ZERO)
}

fn limit(event: &StepEvent) -> Duration {
    Duration::try_from_secs_f64(event.limit_seconds).unwrap_or(Duration::MAX)
}

fn ended(result: Result<(), crate::run::error::SystemError>) -> Ended {
    result.map_or_else(|error| Ended::Failed(error.to_string()), |()| Ended::Done)
}

/// Returns the reason why a load process did not start.
fn words(abort: TrialAbort) -> String {
    match abort {
        TrialAbort::Failed { message, .. } => message,
        TrialAbort::Stopped | TrialAbort::Hung(_) => "it was stopped".to_owned(),
    }
}
