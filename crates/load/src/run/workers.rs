//! Workers. Each has a thread of its own, and is an event loop or runs one connection.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use dyno_script::Silent;

use super::{Run, STACK_BYTES};
use crate::machine::sched_batch;
use crate::worker::{Assignment, EventLoop, Message, PANICKED, ReplayLoop, Shared, Thread, WorkerReport};

impl Run<'_> {
    pub(super) fn start_workers(&mut self) {
        let event_loops = self.plan.event_loops;
        for assignment in self.plan.workers.clone() {
            self.started += 1;
            let builder = std::thread::Builder::new().stack_size(STACK_BYTES);
            let shared = Arc::clone(&self.shared);
            let spawned = builder.spawn(move || {
                let work = || run_worker(&shared, assignment, event_loops);
                let outcome =
                    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| Err(PANICKED.to_owned()));
                if let Err(message) = &outcome {
                    shared.say(Message::Failed(message.clone()));
                }
                shared.say(Message::Ended(Box::new(outcome.unwrap_or_default())));
            });
            if let Err(error) = spawned {
                self.fail(format!("cannot start a thread: {error}"));
                self.ended += 1;
            }
        }
    }
}

/// Runs one worker to its end.
fn run_worker(shared: &Shared, assignment: Assignment, event_loops: bool) -> Result<WorkerReport, String> {
    if !event_loops {
        let thread = Thread::new(shared, assignment);
        let thread = if shared.runs_alone() { thread.map(Thread::hush) } else { thread };
        return thread.and_then(Thread::run).map_err(|error| error.to_string());
    }
    // At a rate or pace, events must begin when they are due, so workers may preempt the server.
    let has_pace = shared.job.replay.as_ref().is_some_and(|replay| replay.pace.is_some());
    if shared.job.rate.is_none() && !shared.job.paced_slices && !has_pace {
        sched_batch::wait_for_turns();
    }
    if let Some(replay) = &shared.job.replay {
        let replay = ReplayLoop::new(shared, &assignment, replay).and_then(ReplayLoop::run);
        return replay.map_err(|error| error.to_string());
    }
    EventLoop::<Silent>::new(shared, assignment).and_then(EventLoop::run).map_err(|error| error.to_string())
}
