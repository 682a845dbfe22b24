//! Runs a job: starts workers, sends ticks, and a total at the end.

mod hooks;
mod joins;
mod layout;
mod orders;
mod slices;
mod traffic;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use dyno_script::{Entry, InterruptHandle, Runtime, ScriptInfo, Silent, UniqueCounters};

use self::hooks::Hooks;
use self::layout::WorkerLayout;
use crate::machine::sched_batch;
use crate::measure::reporter::Reporter;
use crate::measure::unfinished::Unfinished;
use crate::protocol::frame::{Connected, Frame, Milestone, Order, Total};
use crate::protocol::job::{Job, Protocol, Script};
use crate::schedule::arrivals::Schedule;
use crate::schedule::control::{Control, Phase};
use crate::session::failure;
use crate::session::servers::Dialer;
use crate::worker::{
    Assignment, CommitOrder, EventLoop, Message, PANICKED, ReplayLoop, Shared, Thread, ThreadHost,
    WorkerReport,
};

/// Time limit of events in flight after the user stops the job.
const STOP_TIMEOUT: Duration = Duration::from_millis(500);
/// Interval of checks for a stop. Each check wakes a core.
const POLL: Duration = Duration::from_millis(100);
/// Additional time for a connection to report that it exceeded its own time limit, which may have started later.
const GRACE: Duration = Duration::from_secs(1);
/// Interval between interrupts of workers that do not end.
const INTERRUPT_EVERY: Duration = Duration::from_millis(20);
/// For SQLite: how long a statement of a command waits for a lock. An event that meets a lock is rerun, but a command
/// cannot be rerun.
const COMMAND_LOCK_WAIT: &str = "PRAGMA busy_timeout = 600000";
/// Stack size of worker threads. Scripts run on Lua's own stacks.
const STACK_BYTES: usize = 256 * 1024;

/// Runs a job until it is done or `stop` is set, and sends frames to `sink`. The last frame is
/// [`Frame::Finished`] or [`Frame::Failed`].
pub fn run_job(job: Job, stop: &AtomicBool, sink: &mut dyn FnMut(Frame)) {
    // A job that waits for orders never gets one here: it opens its connections and rests.
    let (_orders, none) = channel();
    run_ordered_job(job, stop, &none, sink);
}

/// As [`run_job`], for a job that may wait for orders: to run a slice, or to begin to measure.
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
/// What is wrong and where, in one line.
pub fn check_syntax(script: &Script) -> Result<(), String> {
    let memory = crate::script_memory().map_err(|error| error.to_string())?;
    Runtime::check_syntax(&script.name, &script.source, memory).map_err(|error| error.to_string())
}

/// Compiles the script and checks the job against its declarations. `sink` gets the output of the script's top level,
/// even if the script is refused.
pub(crate) fn prepare(
    mut job: Job,
    sink: &mut dyn FnMut(Frame),
) -> Result<(Shared, Receiver<Message>, ScriptInfo), String> {
    if job.target.driver == Protocol::Sqlite && job.command != "run" {
        job.target.on_connect.insert(0, COMMAND_LOCK_WAIT.to_owned());
    }
    if job.reconnects() {
        let ignored = failure::ignored_through_events(job.target.driver, job.target.ignore_errors.take());
        job.target.ignore_errors = Some(ignored);
    }
    let dialer = Dialer::new(&job.target, job.tuning.start_seconds_max).map_err(|error| error.to_string())?;
    let (sender, messages) = channel();
    let (rate_share, seed) =
        (job.rate_share(job.connections), job.seed.wrapping_add(1 + u64::from(job.tids_from())));
    let schedule = job.rate.clone().map(|rate| Mutex::new(Schedule::new(rate, rate_share, seed)));
    let unique = job
        .share
        .map_or_else(UniqueCounters::default, |share| UniqueCounters::of_part(share.number, share.of));
    let control = Control::new(job.events.filter(|&events| events > 0), job.sliced);
    let mut shared = Shared {
        job,
        control,
        dialer,
        info: None,
        schedule,
        slice_schedule: Mutex::default(),
        unique,
        order: None,
        memory: crate::script_memory().map_err(|error| error.to_string())?,
        database: AtomicBool::new(false),
        messages: sender,
    };
    if let Some(replay) = shared.job.replay.clone() {
        traffic::check(&shared, &replay).map_err(|error| error.to_string())?;
        shared.order = CommitOrder::of(&replay).map_err(|error| error.to_string())?;
        shared.info = Some(ScriptInfo::default());
        return Ok((shared, messages, ScriptInfo::default()));
    }
    let info = {
        let assignment = Assignment { tids: 0..1, recorder: Arc::default(), busy_since_ns: Arc::default() };
        let mut host = ThreadHost::new(&shared, &assignment);
        let probe = shared.probe(&mut host);
        // Names that the top level has used so far, even if it failed.
        let told: Vec<Message> = messages.try_iter().collect();
        for message in told {
            match message {
                Message::Names(words) => sink(Frame::Names { words }),
                later => shared.say(later),
            }
        }
        let probe = probe.map_err(|refused| {
            refused.printed.into_iter().for_each(|text| sink(Frame::Log { text }));
            refused.error.to_string()
        })?;
        probe.printed().iter().for_each(|text| sink(Frame::Log { text: text.clone() }));
        probe.info().clone()
    };
    crate::protocol::check::job(&shared.job, &info).map_err(|error| error.to_string())?;
    shared.info = Some(info.clone());
    Ok((shared, messages, info))
}

/// Runs one worker to its end.
fn run_worker(shared: &Shared, assignment: Assignment, event_loops: bool) -> Result<WorkerReport, String> {
    if !event_loops {
        let thread = Thread::new(shared, assignment);
        let thread = if shared.runs_alone() { thread.map(Thread::hush) } else { thread };
        return thread.and_then(Thread::run).map_err(|error| error.to_string());
    }
    // At a given rate or pace, events must begin when due, so workers may preempt.
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

/// A duration, at most the longest possible.
pub(crate) fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds).unwrap_or(Duration::from_secs(u64::from(u32::MAX)))
}

/// A running job.
struct Run<'a> {
    /// Shared with workers. If a worker hangs in a blocking call, the job ends without it.
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
    /// Workers whose connections rest again after the current slice.
    rested: usize,
    method: &'static str,
    failure: Option<String>,
    /// The first error of `thread_done` or `done`. The measurements before it are complete.
    late_failure: Option<String>,
    hooks: Hooks,
    /// Connections in an event when the time limit was reached.
    unfinished: u32,
    /// The last worker has ended.
    over: bool,
    /// The exit status with which `done` ends the process.
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

    fn start_workers(&mut self) {
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

    fn reached(&mut self, milestone: Milestone) {
        if self.plan.events {
            (self.sink)(Frame::Reached { milestone });
        }
    }

    /// Interrupts all scripts.
    fn interrupt(&self) {
        for interrupt in &self.interrupts {
            interrupt.interrupt();
        }
    }

    fn connections(&self) -> u32 {
        self.plan.workers.last().map_or(0, |worker| worker.tids.end)
    }

    /// Measures from the first event to the last.
    fn measure(&mut self) -> Reporter {
        let shared = Arc::clone(&self.shared);
        let job = &shared.job;
        let connections = self.connections();
        (self.sink)(Frame::Connected(Connected {
            connections,
            threads: self.plan.workers.len() as u32,
            method: if self.plan.event_loops {
                format!("event loop ({})", self.method)
            } else {
                format!("a thread a connection ({})", self.method)
            },
            database: shared.database.load(Ordering::Relaxed),
        }));
        if job.share.is_some() && !self.wait_for(Order::Begin) {
            return self.reporter();
        }
        // As in sysbench, events of the warm-up do not count towards the number that ends the run.
        self.shared.control.count_down(!job.warms_up());
        self.shared.control.advance(Phase::Running);
        let mut reporter = self.reporter();
        if job.sliced {
            self.run_slices(&mut reporter);
            return reporter;
        }
        if !job.joins.is_empty() && !self.wait_to_measure(&mut reporter) {
            return reporter;
        }
        if job.warms_up() {
            self.warm_up(&mut reporter);
            // In this order, as in sysbench: an event in flight is measured, but does not count towards the
            // number that ends the run.
            shared.control.count_down(true);
            (self.sink)(Frame::Tick(reporter.tick()));
        }
        // Without a warm-up, workers that have already ended have records too.
        if self.going() && (!job.warms_up() || self.ended < self.plan.workers.len()) {
            reporter.begin_measuring();
            if self.plan.events {
                reporter.watch_gaps();
            }
            if job.reconnects() {
                reporter.watch_timeline(shared.control.epoch());
            }
            (self.sink)(Frame::Measuring);
            self.tick_until(&mut reporter, job.seconds);
        }
        reporter
    }

    /// Applies load for the warm-up, and continues tick by tick while the rate is not level.
    fn warm_up(&mut self, reporter: &mut Reporter) {
        let shared = Arc::clone(&self.shared);
        let job = &shared.job;
        if job.warmup_seconds_max > 0.0 {
            reporter.watch_course();
        }
        let began = Instant::now();
        if job.warmup_seconds > 0.0 {
            self.tick_until(reporter, Some(job.warmup_seconds));
        }
        loop {
            let left_seconds = job.warmup_seconds_max - began.elapsed().as_secs_f64();
            let goes_on = self.going() && self.ended < self.plan.workers.len();
            if left_seconds <= 0.0 || !goes_on || reporter.has_level() {
                return;
            }
            self.tick_until(reporter, Some(job.tick_seconds.min(left_seconds)));
        }
    }

    fn reporter(&self) -> Reporter {
        let job = &self.shared.job;
        let reporter = Reporter::new(
            self.plan.recorders(),
            self.plan.workers.last().map_or(0, |worker| worker.tids.end),
            &job.tuning.checkpoints_seconds,
            job.warms_up() || !job.joins.is_empty(),
            self.shared.control.epoch(),
        );
        if job.is_paced() { reporter.paced(job.rate.is_some()) } else { reporter }
    }

    /// Sends ticks for a time, or until the workers or the job end.
    fn tick_until(&mut self, reporter: &mut Reporter, length_seconds: Option<f64>) {
        let tick = seconds(self.shared.job.tick_seconds.max(0.01));
        let began = Instant::now();
        let end = length_seconds.map(|length| began + seconds(length.max(0.0)));
        let mut next_tick = began + tick;
        loop {
            let until = end.map_or(next_tick, |end| end.min(next_tick));
            while Instant::now() < until && self.going() && self.ended < self.plan.workers.len() {
                self.listen_until(until.min(Instant::now() + POLL));
                reporter.look();
            }
            let over = end.is_some_and(|end| Instant::now() >= end);
            let through = !self.going() || self.ended == self.plan.workers.len();
            if over && !reporter.is_warming_up() {
                // Before the last tick, so that events that end after the tick have begun within the time.
                self.shared.control.advance(Phase::Stopping);
            }
            if Instant::now() >= next_tick || over || through {
                (self.sink)(Frame::Tick(reporter.tick()));
                next_tick += tick;
            }
            if over || through {
                return;
            }
        }
    }

    /// Waits for events in flight, up to the time limit. They are part of the measured time if the job says so.
    fn wind_down(&mut self, reporter: Option<&mut Reporter>) {
        let mut reporter = reporter.filter(|_| self.shared.job.tuning.ends_with_last_event);
        let tick = seconds(self.shared.job.tick_seconds.max(0.01));
        let mut next_tick = Instant::now() + tick;
        self.shared.control.advance(Phase::Stopping);
        let expected = self.started;
        let patience =
            if self.going() { seconds(self.shared.job.tuning.end_seconds_max) } else { STOP_TIMEOUT };
        let mut limit = Instant::now() + patience;
        while self.ended < expected && Instant::now() < limit && self.ready > 0 {
            self.listen_until(Instant::now() + POLL);
            if self.stop.load(Ordering::Relaxed) {
                limit = limit.min(Instant::now() + STOP_TIMEOUT);
            }
            if let Some(reporter) = reporter.as_deref_mut().filter(|_| Instant::now() >= next_tick) {
                (self.sink)(Frame::Tick(reporter.tick()));
                next_tick += tick;
            }
        }
        if let Some(reporter) = reporter {
            (self.sink)(Frame::Tick(reporter.tick()));
        }
        if self.ended < expected {
            let at_events: u32 = self.plan.recorders().iter().map(|recorder| recorder.gauges().0).sum();
            // A worker that hangs in its script has not reported its events in flight.
            self.unfinished = at_events.max((expected - self.ended) as u32);
        }
        self.shared.control.advance(Phase::Aborting);
        let limit = Instant::now() + STOP_TIMEOUT;
        while self.ended < expected && Instant::now() < limit {
            // Repeatedly, because a worker that runs no Lua at the moment does not notice an interrupt.
            self.interrupt();
            self.listen_until(Instant::now() + INTERRUPT_EVERY);
        }
    }

    /// The events that did not end.
    fn left_behind(&self) -> Unfinished {
        let control = &self.shared.control;
        let mut left = Unfinished::default();
        self.reports.iter().for_each(|report| left.merge(&report.unfinished));
        let now_ns = control.epoch().elapsed().as_nanos() as u64;
        let since_ns = self.plan.workers.iter().map(|worker| worker.busy_since_ns.load(Ordering::Relaxed));
        since_ns.filter(|&since_ns| since_ns > 0).for_each(|since_ns| left.abandon(since_ns, now_ns));
        if let Some(schedule) = self.shared.schedule.as_ref().filter(|_| !self.plan.event_loops) {
            let mut schedule = schedule.lock().unwrap_or_else(PoisonError::into_inner);
            left.merge(&Unfinished::of_schedule(&mut schedule, control));
        }
        left
    }

    /// Handles one message; false if no message came in time.
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
            // `done` runs after the report.
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

    /// Only the first failure is reported.
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
