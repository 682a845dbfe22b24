//! `init` and `done` of a script, which run before the first connection and after the last.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use dyno_script::Entry;

use super::{INTERRUPT_EVERY, Run, STACK_BYTES, STOP_TIMEOUT};
use crate::worker::{Assignment, Message, Thread, ThreadError};

/// Time limit for closing the connections that `init` opened.
const PARTING: Duration = Duration::from_secs(1);

/// The thread that runs the script's entry points `init` and `done`. The same task runs both, so that `done` sees the
/// globals of `init`.
#[derive(Default)]
pub(super) struct Hooks {
    /// The channel of entry points to run; `None` before the thread has started, and after it is abandoned.
    entries: Option<Sender<Entry<'static>>>,
    /// The outcome of the most recent entry point, once that entry point has ended.
    outcome: Option<Result<(), String>>,
    /// Whether the thread has closed its connections.
    over: bool,
}

impl Hooks {
    pub(super) fn on_ended(&mut self, outcome: Result<(), String>) {
        self.outcome = Some(outcome);
    }

    pub(super) fn on_over(&mut self) {
        self.over = true;
    }
}

impl Run<'_> {
    pub(super) fn start_hooks(&mut self) {
        let shared = Arc::clone(&self.shared);
        let (sender, entries) = channel();
        let spawned = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(move || {
            let assignment =
                Assignment { tids: 0..1, recorder: Arc::default(), busy_since_ns: Arc::default() };
            let ended = |outcome: Result<(), ThreadError>| {
                shared.say(Message::HookEnded(outcome.map_err(|error| error.to_string())));
            };
            match Thread::new(&shared, assignment).map(Thread::hush) {
                Ok(mut thread) => entries.iter().for_each(|entry| ended(thread.once(entry))),
                Err(error) => ended(Err(error)),
            }
            shared.say(Message::HooksOver);
        });
        match spawned {
            Ok(_) => self.hooks.entries = Some(sender),
            Err(error) => self.fail(format!("cannot start a thread: {error}")),
        }
    }

    /// Runs `init` or `done`, once. If the user stops the job, does not wait long for the hook to end.
    pub(super) fn run_hook(&mut self, entry: Entry<'static>) {
        let Some(entries) = &self.hooks.entries else { return };
        // If this fails, the task could not be created, and that has been reported as a failure of `init`.
        let _ = entries.send(entry);
        let mut stopped: Option<Instant> = None;
        while self.hooks.outcome.is_none() {
            self.listen_until(Instant::now() + INTERRUPT_EVERY);
            if self.stop.load(Ordering::Relaxed) {
                let since = stopped.get_or_insert_with(Instant::now).elapsed();
                if since > STOP_TIMEOUT {
                    self.interrupt();
                }
                if since > 2 * STOP_TIMEOUT {
                    // The script hangs in a blocking call, so the thread is abandoned.
                    self.hooks.entries = None;
                    return;
                }
            }
        }
        match self.hooks.outcome.take() {
            // Errors of an interrupted script are ignored.
            Some(Err(_)) if stopped.is_some() => {}
            Some(Err(message)) if self.over => self.fail_late(message),
            Some(Err(message)) => self.fail(message),
            _ => {}
        }
    }

    /// Lets the thread close the connections that `init` opened.
    pub(super) fn end_hooks(&mut self) {
        // If the script requested an exit, its thread only waits for the end of the process.
        if self.hooks.entries.take().is_none() || self.exit.is_some() {
            return;
        }
        let limit = Instant::now() + PARTING;
        while !self.hooks.over && Instant::now() < limit {
            self.listen_until(limit);
        }
    }
}
