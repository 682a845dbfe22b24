//! One connection on its own thread, for drivers and scripts whose calls block.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use dyno_script::{
    ConnectionId, Counter, Entry, Host, Progress, Reply, Request, Runtime, ScriptError, SqlFailure, TaskId,
};

use super::connections::Connections;
use super::retry::backoff_us;
use super::shared::{Assignment, Message, Shared, WorkerReport, count};
use super::trace;
use crate::measure::recorder::{Batch, Part, Recorder};
use crate::schedule::control::{Phase, Window};
use crate::session::Outcome;
use crate::statements::distinct::StatementNotes;

/// One connection with its script, on a thread of its own.
pub(crate) struct Thread<'a> {
    shared: &'a Shared,
    assignment: Assignment,
    runtime: Runtime,
    task: TaskId,
    host: ThreadHost<'a>,
}

/// Why a thread failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ThreadError {
    #[error("{0}")]
    Script(#[from] ScriptError),
    #[error("the script defines no function 'event'")]
    NoEvent,
    #[error("an ignorable error outside of an event: there is nothing to run again")]
    RestartOutsideEvent,
}

impl<'a> Thread<'a> {
    pub(crate) fn new(shared: &'a Shared, assignment: Assignment) -> Result<Self, ThreadError> {
        let mut runtime = shared.runtime(true, false)?;
        shared.say(Message::Started(runtime.interrupt_handle()));
        let mut host = ThreadHost::new(shared, &assignment);
        let task = runtime.spawn_connected(shared.job.tids_from() + assignment.tids.start, &mut host)?;
        Ok(Self { shared, assignment, runtime, task, host })
    }

    /// Opens the connection, runs the job to its end, and closes the connection.
    pub(crate) fn run(mut self) -> Result<WorkerReport, ThreadError> {
        self.shared.print_all(self.runtime.take_printed());
        if self.shared.runs_events() {
            self.enter(Entry::ThreadInit)?;
        }
        self.shared.say(Message::Ready("blocking calls"));
        self.shared.control.wait_for_start();
        self.host.epoch = self.shared.control.epoch();
        if self.shared.runs_events() {
            let joins_at_ns = self.shared.job.joins_at_ns(self.assignment.tids.start);
            if joins_at_ns.is_none_or(|at_ns| self.shared.control.wait_to_join(at_ns)) {
                self.load()?;
            }
            if let Err(error) = self.enter(Entry::ThreadDone) {
                self.shared.say(Message::FailedLate(error.to_string()));
            }
        } else {
            let entered = self.enter(Entry::Command(&self.shared.job.command));
            self.end_line();
            entered?;
        }
        self.end_line();
        self.host.flush();
        let noted = self.host.notes.as_ref().map(|notes| Box::new(notes.so_far()));
        Ok(WorkerReport { noted, ..WorkerReport::default() })
    }

    /// Drops the output of the script's top level, which was already printed when the script's declarations
    /// were read.
    pub(crate) fn hush(mut self) -> Self {
        self.runtime.hush();
        self
    }

    /// Runs one entry point of the script alone: `init` or `done`.
    pub(crate) fn once(&mut self, entry: Entry<'_>) -> Result<(), ThreadError> {
        let entered = self.enter(entry);
        self.end_line();
        self.host.flush();
        entered
    }

    /// Prints a line that the script has begun but not ended.
    fn end_line(&mut self) {
        if let Some(line) = self.runtime.take_unfinished_line() {
            self.shared.say(Message::Printed(line));
        }
    }

    fn enter(&mut self, entry: Entry<'_>) -> Result<(), ThreadError> {
        match self.call(entry)? {
            Some(Call::Restart) => Err(ThreadError::RestartOutsideEvent),
            _ => Ok(()),
        }
    }

    /// Runs an entry point to its end; `None` if the script does not define it.
    fn call(&mut self, entry: Entry<'_>) -> Result<Option<Call>, ThreadError> {
        if !self.runtime.start(self.task, entry)? {
            return Ok(None);
        }
        let mut reply = Reply::Done;
        loop {
            match self.runtime.resume(self.task, &mut self.host, reply)? {
                Progress::Waiting(request) => reply = self.host.answer(&request),
                Progress::Finished { stop } => return Ok(Some(Call::Finished { stop })),
                Progress::Restart => return Ok(Some(Call::Restart)),
            }
        }
    }

    /// Runs events until the job ends.
    fn load(&mut self) -> Result<(), ThreadError> {
        if let Some(notes) = &mut self.host.notes {
            notes.begin();
        }
        if self.shared.own_thread_run() {
            self.enter(Entry::ThreadRun)?;
        } else {
            self.run_events()?;
        }
        Ok(())
    }

    fn run_events(&mut self) -> Result<(), ThreadError> {
        while self.host.next_event() {
            let mut attempts = 0;
            loop {
                match self.call(Entry::Event)? {
                    Some(Call::Finished { stop }) => {
                        if stop {
                            // As in sysbench, the event is not counted if it ends its thread.
                            self.host.busy_since(0);
                            return Ok(());
                        }
                        self.host.end_event();
                        self.host.think();
                        break;
                    }
                    Some(Call::Restart) => {
                        attempts += 1;
                        self.host.batch.counts.errors += 1;
                        self.host.roll_back();
                        std::thread::sleep(Duration::from_micros(backoff_us(attempts)));
                        if self.shared.control.phase() >= Phase::Stopping {
                            self.host.busy_since(0);
                            return Ok(());
                        }
                    }
                    None => return Err(ThreadError::NoEvent),
                }
            }
        }
        Ok(())
    }
}

/// How a call of the script ended.
enum Call {
    Finished { stop: bool },
    Restart,
}

/// A thread's connections. Handles the requests of the thread's script.
pub(crate) struct ThreadHost<'a> {
    shared: &'a Shared,
    recorder: Arc<Recorder>,
    busy_since_ns: Arc<AtomicU64>,
    connections: Connections,
    batch: Batch,
    epoch: Instant,
    due_ns: u64,
    tid: u32,
    /// The current slice, or the previous one while no slice runs.
    window: Window,
    /// Records the script's distinct statements, if the job wants them.
    notes: Option<StatementNotes>,
}

impl<'a> ThreadHost<'a> {
    pub(crate) fn new(shared: &'a Shared, assignment: &Assignment) -> Self {
        Self {
            shared,
            recorder: Arc::clone(&assignment.recorder),
            busy_since_ns: Arc::clone(&assignment.busy_since_ns),
            connections: Connections::default(),
            batch: Batch::default(),
            epoch: Instant::now(),
            due_ns: 0,
            tid: assignment.tids.start,
            notes: shared.notes(assignment.tids.start),
            window: if shared.control.is_sliced() { Window::default() } else { Window::ENDLESS },
        }
    }

    fn now_ns(&self) -> u64 {
        self.epoch.elapsed().as_nanos() as u64
    }

    fn flush(&mut self) {
        self.batch.flush(&self.recorder);
    }

    /// Records the time since which an event has been in flight; 0 for no event.
    fn busy_since(&self, since_ns: u64) {
        let before_ns = self.busy_since_ns.swap(since_ns, Ordering::Relaxed);
        self.recorder.add_running(i32::from(since_ns > 0) - i32::from(before_ns > 0));
    }

    /// Waits until the next event is due. Returns false if there are no more events.
    fn next_event(&mut self) -> bool {
        self.busy_since(0);
        let has_event = self.wait_for_event();
        if has_event {
            self.busy_since(self.due_ns.max(1));
        }
        has_event
    }

    fn wait_for_event(&mut self) -> bool {
        if self.shared.control.is_sliced() {
            return self.next_event_of_slice();
        }
        let Some(schedule) = &self.shared.schedule else {
            self.due_ns = self.now_ns();
            return self.shared.control.take_event();
        };
        while self.shared.control.has_events() {
            let now_ns = self.now_ns();
            let (due_ns, next_ns) = {
                let mut schedule = schedule.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                let due_ns = schedule.take_due(now_ns);
                self.recorder.count_due(&mut schedule, now_ns);
                (due_ns, schedule.next_ns())
            };
            if let Some(due_ns) = due_ns {
                self.due_ns = due_ns;
                return self.shared.control.take_event();
            }
            let wait =
                next_ns.map_or(LONGEST_WAIT, |at_ns| Duration::from_nanos(at_ns.saturating_sub(now_ns)));
            std::thread::sleep(wait.min(LONGEST_WAIT));
        }
        if self.shared.control.is_spent() {
            // If no further event may begin, there is no backlog.
            self.recorder.set_backlog(0);
        }
        false
    }

    /// Lets the thread run its next event in the current slice. After the slice's time, waits for the next slice.
    /// Returns false if the job ends.
    fn next_event_of_slice(&mut self) -> bool {
        loop {
            self.due_ns = self.now_ns();
            if self.due_ns < self.window.to_ns {
                if self.window.rate.is_none() || self.wait_in_slice() {
                    return self.shared.control.take_event();
                }
                continue;
            }
            if self.window.number > 0 {
                self.batch.rests(self.window.counted_ns(self.due_ns));
                self.flush();
                self.shared.say(Message::Rested);
            }
            match self.shared.control.wait_for_window(self.window.number) {
                Some(window) => self.window = window,
                None => return false,
            }
        }
    }

    /// Takes the next due event of a slice at a rate. If no event is due, sleeps for some time and returns false.
    fn wait_in_slice(&mut self) -> bool {
        let now_ns = self.due_ns;
        let (due_ns, next_ns) = {
            let mut schedule =
                self.shared.slice_schedule.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            let Some(schedule) = &mut *schedule else { return false };
            let due_ns = schedule.take_due(now_ns);
            self.recorder.count_due(schedule, now_ns);
            (due_ns, schedule.next_ns())
        };
        if let Some(due_ns) = due_ns {
            self.due_ns = due_ns;
            return true;
        }
        let until_ns = next_ns.unwrap_or(u64::MAX).min(self.window.to_ns);
        std::thread::sleep(Duration::from_nanos(until_ns.saturating_sub(now_ns)).min(LONGEST_WAIT));
        false
    }

    /// Sleeps for the think time, unless the job ends.
    fn think(&self) {
        let job = &self.shared.job;
        let mut left =
            Duration::try_from_secs_f64(job.tuning.think_seconds.max(0.0)).unwrap_or(Duration::MAX);
        while !left.is_zero() && self.shared.control.has_events() {
            let step = left.min(LONGEST_WAIT);
            std::thread::sleep(step);
            left -= step;
        }
    }

    fn end_event(&mut self) {
        let now_ns = self.now_ns();
        // The batch contains only this event, so it belongs to the same part of the slice as the event.
        self.batch.set_part(self.window.part(now_ns));
        if let Some(bin) = self.window.bin(now_ns) {
            self.batch.bin(bin);
        }
        self.batch.share(self.window.share(self.due_ns, now_ns));
        if self.shared.job.reconnects() {
            self.batch.ended_at(now_ns);
        }
        if self.window.part(self.due_ns) == Part::Counted {
            self.batch.event(self.tid, now_ns.saturating_sub(self.due_ns));
        } else {
            self.batch.early_event();
        }
        self.flush();
        self.busy_since(0);
    }

    fn roll_back(&mut self) {
        self.connections.roll_back();
        self.flush();
    }

    fn answer(&mut self, request: &Request<'_>) -> Reply {
        if let Some(notes) = &mut self.notes {
            notes.asked(request);
        }
        self.shared.tell_names(request);
        let reply = self.try_answer(request).unwrap_or_else(|failure| {
            if failure.ignorable {
                self.batch.ignored(&failure);
            }
            Reply::Failed(failure)
        });
        if let Some(notes) = &mut self.notes {
            notes.replied(&reply);
        }
        if self.shared.job.tuning.trace
            && let Some(line) = trace::line(self.tid, request, &reply)
        {
            self.shared.say(Message::Printed(line));
        }
        reply
    }

    fn try_answer(&mut self, request: &Request<'_>) -> Result<Reply, SqlFailure> {
        match request {
            Request::NextEvent => return Ok(Reply::Continue(self.next_event())),
            Request::Connect => self.shared.database.store(true, Ordering::Relaxed),
            _ => {}
        }
        let asked = Instant::now();
        let answer = self.connections.answer(request, &self.shared.job.target, &self.shared.dialer)?;
        if let Some(outcome) = answer.statement {
            // Between sending a statement and receiving its answer, a command makes its next rows. That time is not
            // part of the statement's latency, so in a command the latency begins when the answer is requested.
            let sent = answer.sent.filter(|_| self.shared.runs_events());
            self.executed(outcome, sent.unwrap_or(asked));
        }
        Ok(answer.reply)
    }

    fn executed(&mut self, outcome: Outcome, asked: Instant) {
        let latency_ns = asked.elapsed().as_nanos() as u64;
        self.batch.statement(outcome.fields, outcome.affected_rows, latency_ns);
        if !self.shared.runs_events() {
            // A command has no events, so its counts are handed over here.
            self.flush();
        }
    }
}

/// Longest sleep of a thread without an event, so that it notices the end of the job.
const LONGEST_WAIT: Duration = Duration::from_millis(50);

impl Host for ThreadHost<'_> {
    fn row_count(&mut self, connection: ConnectionId) -> u64 {
        self.connections.outcome(connection).rows
    }

    fn field_count(&mut self, connection: ConnectionId) -> u32 {
        self.connections.outcome(connection).fields
    }

    fn field_names(&mut self, connection: ConnectionId) -> Vec<String> {
        self.connections.field_names(connection)
    }

    fn next_row(&mut self, connection: ConnectionId, fields: &mut Vec<Option<Vec<u8>>>) -> bool {
        self.connections.next_row(connection, fields)
    }

    fn more_results(&mut self, connection: ConnectionId) -> bool {
        self.connections.outcome(connection).more
    }

    fn count(&mut self, counter: Counter, n: u64) {
        if counter == Counter::Event {
            self.end_event();
        }
        count(&mut self.batch.counts, counter, n);
    }

    fn print(&mut self, line: &str) {
        self.shared.say(Message::Printed(line.to_owned()));
    }

    fn exit(&mut self, status: i32) {
        self.shared.exit(status);
    }

    fn call(&mut self, request: Request<'_>) -> Reply {
        self.answer(&request)
    }
}
