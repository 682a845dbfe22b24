//! Runs a job: starts workers, sends ticks, and sends a total at the end.

mod ending;
mod hooks;
mod joins;
mod layout;
mod measure;
mod orders;
mod prepare;
mod slices;
mod traffic;
mod workers;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use dyno_script::{Entry, InterruptHandle, Runtime};

use self::hooks::Hooks;
use self::layout::WorkerLayout;
pub(crate) use self::prepare::prepare;
use crate::measure::reporter::Reporter;
use crate::protocol::frame::{Frame, Milestone, Order, Total};
use crate::protocol::job::{Job, Script};
use crate::schedule::control::Phase;
use crate::schedule::seconds;
use crate::worker::{Message, Shared, WorkerReport};

/// Time limit for events in flight after the user stops the job.
const STOP_TIMEOUT: Duration = Duration::from_millis(500);
/// Time between checks for a stop. Each check wakes a core.
const POLL: Duration = Duration::from_millis(100);
/// After the time limit of a single connection, the job waits this much longer for its connections to open. A
/// connection whose limit began a little later than the job's can then still report that it exceeded its own limit.
const GRACE: Duration = Duration::from_secs(1);
/// Time between interrupts of workers that do not end.
const INTERRUPT_EVERY: Duration = Duration::from_millis(20);
/// Stack size of worker threads. Scripts run on Lua's own stacks.
const STACK_BYTES: usize = 256 * 1024;

/// Runs a job until it is done or `stop` is set, and sends frames to `sink`. The last frame is
/// [`Frame::Finished`] or [`Frame::Failed`].
pub fn run_job(job: Job, stop: &AtomicBool, sink: &mut dyn FnMut(Frame)) {
    // A job that waits for orders gets none from this function, so it only opens its connections.
    let (_orders, none) = channel();
    run_ordered_job(job, stop, &none, sink);
}

/// Like [`run_job`], for a job that may wait for orders, such as to run a slice or to begin to measure.
pub fn run_ordered_job(job: Job, stop: &AtomicBool, orders: &Receiver<Order>, sink: &mut dyn FnMut(Frame)) {
    let (shared, messages, info) = match prepare(job, sink) {
        Ok(prepared) => prepared,
        Err(message) => return sink(Frame::Failed { message, total: None, is_whole: false }),
    };
    if shared.job.checks_only {
        return sink(Frame::Finished(Total::default()));
    }
    let plan = WorkerLayout::of(&shared, &info);
    crate::machine::open_files::raise_limit();
    Run::new(Arc::new(shared), messages, (stop, orders), sink, plan).conduct();
}

/// Compiles a script without running any of it.
///
/// # Errors
/// Says what is wrong and where, in one line.
pub fn check_syntax(script: &Script) -> Result<(), String> {
    let memory = crate::script_memory().map_err(|error| error.to_string())?;
    Runtime::check_syntax(&script.name, &script.source, memory).map_err(|error| error.to_string())
}

/// A running job.
struct Run<'a> {
    /// State that is shared with workers. It may outlive the job: if a worker hangs in a blocking call, the job ends
    /// without waiting for the worker.
    shared: Arc<Shared>,
    messages: Receiver<Message>,
    stop: &'a AtomicBool,
    orders: &'a Receiver<Order>,
    sink: &'a mut dyn FnMut(Frame),
    plan: WorkerLayout,
    interrupts: Vec<InterruptHandle>,
    reports: Vec<WorkerReport>,
    started: usize,
    ready: usize,
    ended: usize,
    /// Number of workers that have reported the end of the current slice.
    rested: usize,
    method: &'static str,
    failure: Option<String>,
    /// The first error of `thread_done` or `done`. The measurements before it are complete.
    late_failure: Option<String>,
    hooks: Hooks,
    /// Number of connections that were still in an event when the time limit for the end was reached.
    unfinished: u32,
    /// Whether the last worker has ended.
    over: bool,
    /// The exit status that the script requested in `done`. The process ends with it after the last frame.
    exit: Option<i32>,
}

impl<'a> Run<'a> {
    fn new(
        shared: Arc<Shared>,
        messages: Receiver<Message>,
        (stop, orders): (&'a AtomicBool, &'a Receiver<Order>),
        sink: &'a mut dyn FnMut(Frame),
        plan: WorkerLayout,
    ) -> Self {
        Self {
            shared,
            messages,
            stop,
            orders,
            sink,
            plan,
            interrupts: Vec::new(),
            reports: Vec::new(),
            started: 0,
            ready: 0,
            ended: 0,
            rested: 0,
            method: "",
            failure: None,
            late_failure: None,
            hooks: Hooks::default(),
            unfinished: 0,
            over: false,
            exit: None,
        }
    }

    fn conduct(mut self) {
        let reporter = self.work();
        let total =
            reporter.map(|reporter| reporter.total(&self.reports, self.unfinished, &self.left_behind()));
        let frame = match (self.failure.take(), self.late_failure.take(), total) {
            (None, None, Some(total)) => Frame::Finished(total),
            (None, Some(message), total) => Frame::Failed { message, is_whole: total.is_some(), total },
            (Some(message), _, total) => Frame::Failed { message, total, is_whole: false },
            (None, None, None) => Frame::Failed {
                message: "stopped before the load began".to_owned(),
                total: None,
                is_whole: false,
            },
        };
        (self.sink)(frame);
        if let Some(status) = self.exit {
            std::process::exit(status);
        }
    }

    /// Runs the job up to the end of the last worker. Returns the reporter if measuring began.
    fn work(&mut self) -> Option<Reporter> {
        if self.plan.hooks {
            self.start_hooks();
            self.run_hook(Entry::Init);
        }
        if self.going() {
            self.reached(Milestone::Initialized);
            self.start_workers();
        }
        let expected = self.plan.workers.len();
        let patience_seconds = self.shared.job.tuning.start_seconds_max;
        let limit = Instant::now() + seconds(patience_seconds) + GRACE;
        while self.ready < expected && self.going() {
            if !self.listen_until(Instant::now() + POLL) && Instant::now() > limit {
                let opened = self.ready;
                self.fail(format!(
                    "only {opened} of {expected} workers had opened their connections after {patience_seconds} s"
                ));
            }
        }
        let mut reporter = if self.going() { Some(self.measure()) } else { None };
        self.reached(Milestone::Ending);
        self.wind_down(reporter.as_mut());
        self.reached(Milestone::Over);
        self.over = true;
        // `done` runs even if events failed.
        if self.plan.hooks && (self.failure.is_none() || reporter.is_some()) {
            self.run_hook(Entry::Done);
        }
        self.end_hooks();
        reporter
    }

    fn reached(&mut self, milestone: Milestone) {
        if self.plan.events {
            (self.sink)(Frame::Reached { milestone });
        }
    }

    /// Interrupts the scripts of all workers.
    fn interrupt(&self) {
        for interrupt in &self.interrupts {
            interrupt.interrupt();
        }
    }

    fn connections(&self) -> u32 {
        self.plan.workers.last().map_or(0, |worker| worker.tids.end)
    }

    /// Handles one message. Returns false if no message came until `until`.
    fn listen_until(&mut self, until: Instant) -> bool {
        match self.messages.recv_timeout(until.saturating_duration_since(Instant::now())) {
            Ok(message) => {
                self.on_message(message);
                true
            }
            Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => false,
        }
    }

    fn on_message(&mut self, message: Message) {
        match message {
            Message::Started(interrupt) => self.interrupts.push(interrupt),
            Message::Ready(method) => {
                self.method = method;
                self.ready += 1;
            }
            Message::Rested => self.rested += 1,
            Message::Printed(text) => (self.sink)(Frame::Log { text }),
            Message::Names(words) => (self.sink)(Frame::Names { words }),
            // The script exits in `done`, so the process ends only after the last frame.
            Message::Exit(status) if self.over => {
                self.exit = Some(status);
                self.hooks.on_ended(Ok(()));
            }
            Message::Exit(status) => std::process::exit(status),
            // Errors of interrupted workers are ignored.
            Message::Failed(_) | Message::FailedLate(_) if self.shared.control.phase() == Phase::Aborting => {
            }
            Message::Failed(message) => self.fail(message),
            Message::FailedLate(message) => self.fail_late(message),
            Message::HookEnded(outcome) => self.hooks.on_ended(outcome),
            Message::HooksOver => self.hooks.on_over(),
            Message::Ended(report) => {
                self.reports.push(*report);
                self.ended += 1;
            }
        }
    }

    /// Records a failure. Only the first failure is reported.
    fn fail(&mut self, message: String) {
        self.failure.get_or_insert(message);
    }

    fn fail_late(&mut self, message: String) {
        self.late_failure.get_or_insert(message);
    }

    fn going(&self) -> bool {
        self.failure.is_none() && !self.stop.load(Ordering::Relaxed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_script_prints_before_it_is_refused_is_told() {
        let job = serde_json::json!({
            "target": { "driver": "sqlite", "addresses": [], "database": ":memory:" },
            "script": { "name": "refused", "source": "print('step 1') error('x', 0)" },
            "command": "run",
            "connections": 1,
            "seed": 1,
        });
        let job = serde_json::from_value(job).expect("a job");
        let mut told = Vec::new();
        run_job(job, &AtomicBool::new(false), &mut |frame| match frame {
            Frame::Log { text } => told.push(text),
            Frame::Failed { message, .. } => told.push(format!("failed: {message}")),
            other => panic!("{other:?}"),
        });
        assert_eq!(told, ["step 1", "failed: x"]);
    }
}
