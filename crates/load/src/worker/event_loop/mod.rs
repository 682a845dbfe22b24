//! Many connections on one thread. Each is a coroutine that yields with a request and is resumed with the answer.

mod events;
mod joins;
mod logins;
mod reconnects;
mod slices;
mod stalls;
mod tasks;

use std::collections::VecDeque;
use std::io;
use std::time::{Duration, Instant};

use dyno_script::{Entry, Probe, Reply, Runtime, ScriptError, Stage as Mark, prefetch};

use self::logins::Login;
use self::reconnects::Comebacks;
use self::stalls::Stalls;
use super::link::{Link, LinkProgress};
use super::shared::{Assignment, Message, Shared, WorkerReport};
use super::slot::{Slot, Stage};
use super::timers::Timers;
use crate::io::{Io, IoEvent, Token};
use crate::machine::busy_cores::{BusyCores, GATHER_PATIENCE};
use crate::measure::recorder::Batch;
use crate::measure::unfinished::Unfinished;
use crate::schedule::arrivals::Schedule;
use crate::schedule::control::{Phase, Window};
use crate::statements::distinct::StatementNotes;

/// Longest sleep of the loop if events have a rate, so that the backlog stays up to date.
const LONGEST_WAIT: Duration = Duration::from_millis(50);

/// An event loop of many connections. `P` marks the stages of the loop's work.
pub(crate) struct EventLoop<'a, P: Probe> {
    shared: &'a Shared,
    assignment: Assignment,
    runtime: Runtime,
    io: Box<dyn Io>,
    slots: Vec<Slot<P>>,
    /// For each socket, the slot and the link to which it belongs. The index is that of the socket's token.
    owners: Vec<(u32, u32)>,
    timers: Timers,
    /// Connections that are being opened, in the order of their deadlines. Some of them may already be open.
    logins: VecDeque<Login>,
    /// Slots whose connection was closed in this iteration of the loop, while the slot had no event in flight.
    closed: Vec<u32>,
    comebacks: Comebacks,
    schedule: Option<Schedule>,
    /// Slots that wait for a due event or the next slice. The slot that has waited longest comes first.
    idle: VecDeque<u32>,
    /// The current slice, or the previous one while no slice runs.
    window: Window,
    /// When the next part of the slice begins.
    edge_ns: u64,
    /// Whether the loop has reported the end of the slice.
    rested: bool,
    /// Whether the connections join over time and measuring has not begun. No connection has joined yet in this case.
    waits_to_join: bool,
    batch: Batch,
    cores: BusyCores,
    epoch: Instant,
    /// Most recent reading of the clock, in ns since the load began.
    clock_ns: u64,
    /// Number of slots that are busy: starting, in an event, or ending.
    active: u32,
    stalls: Stalls,
    /// Events that were due but had not begun when the measured time ended.
    waiting: Unfinished,
    /// Events that failed because their connection was lost.
    lost: Unfinished,
    /// Records the first slot's distinct statements, if the job wants them.
    notes: Option<StatementNotes>,
}

/// Why a loop failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum LoopError {
    #[error("{0}")]
    Script(#[from] ScriptError),
    #[error("the event loop failed: {0}")]
    Io(#[from] io::Error),
    #[error("the script defines no function 'event'")]
    NoEvent,
    #[error("an ignorable error outside of an event: there is nothing to run again")]
    RestartOutsideEvent,
}

impl<'a, P: Probe> EventLoop<'a, P> {
    pub(crate) fn new(shared: &'a Shared, assignment: Assignment) -> Result<Self, LoopError> {
        let io = crate::io::open(shared.job.io, assignment.tids.len())?;
        Self::with_io(shared, assignment, io)
    }

    /// Creates a loop that moves bytes by `io`.
    pub(crate) fn with_io(
        shared: &'a Shared,
        assignment: Assignment,
        io: Box<dyn Io>,
    ) -> Result<Self, LoopError> {
        let runtime = shared.runtime(false, P::RECORDS)?;
        shared.control.wake_too(io.waker());
        shared.say(Message::Started(runtime.interrupt_handle()));
        let mut event_loop = Self {
            notes: shared.notes(assignment.tids.start),
            shared,
            assignment,
            runtime,
            io,
            slots: Vec::new(),
            owners: Vec::new(),
            timers: Timers::default(),
            logins: VecDeque::new(),
            closed: Vec::new(),
            comebacks: Comebacks::default(),
            schedule: None,
            idle: VecDeque::new(),
            window: if shared.control.is_sliced() { Window::default() } else { Window::ENDLESS },
            edge_ns: u64::MAX,
            rested: true,
            waits_to_join: !shared.job.joins.is_empty(),
            batch: Batch::default(),
            cores: BusyCores::of_this_thread(),
            epoch: Instant::now(),
            clock_ns: 0,
            active: 0,
            stalls: Stalls::default(),
            waiting: Unfinished::default(),
            lost: Unfinished::default(),
        };
        let (share, seed) = (event_loop.share(), event_loop.seed());
        event_loop.schedule = shared.job.rate.clone().map(|rate| Schedule::new(rate, share, seed));
        Ok(event_loop)
    }

    /// The loop's share of the load's rate.
    fn share(&self) -> f64 {
        self.shared.job.rate_share(self.assignment.tids.len() as u32)
    }

    /// Seed of the loop's arrivals.
    fn seed(&self) -> u64 {
        let job = &self.shared.job;
        job.seed.wrapping_add(u64::from(job.tids_from() + self.assignment.tids.start) + 1)
    }

    /// Opens the connections, runs the job to its end, and closes the connections.
    pub(crate) fn run(mut self) -> Result<WorkerReport, LoopError> {
        self.start_tasks()?;
        self.turn_until(|this| this.active == 0)?;
        if self.active > 0 {
            // The job was aborted before every task was ready.
            return Ok(self.report());
        }
        self.shared.say(Message::Ready(self.io.name()));
        self.shared.control.wait_for_start();
        self.epoch = self.shared.control.epoch();
        if self.shared.runs_events() {
            P::begin();
            self.begin_events()?;
            // At a rate, tasks may still wait for an event that will not come. They are ended below.
            self.turn_until(|this| !this.shared.control.has_events() || this.all_ended())?;
            P::end();
            if let Some(schedule) = &mut self.schedule {
                self.waiting = Unfinished::of_schedule(schedule, &self.shared.control);
            }
            self.end_reconnecting();
            self.end_idle_tasks()?;
            self.turn_until(Self::all_ended)?;
        } else {
            self.start_commands()?;
            self.turn_until(|this| this.active == 0)?;
        }
        if let Some(line) = self.runtime.take_unfinished_line() {
            self.shared.say(Message::Printed(line));
        }
        self.hang_up();
        Ok(self.report())
    }

    fn all_ended(&self) -> bool {
        self.active == 0 && self.slots.iter().all(|slot| slot.stage == Stage::Ended)
    }

    fn start_tasks(&mut self) -> Result<(), LoopError> {
        for tid in self.assignment.tids.clone() {
            let task = self.runtime.spawn(self.shared.job.tids_from() + tid)?;
            self.slots.push(Slot::new(task));
        }
        self.shared.print_all(self.runtime.take_printed());
        if self.shared.runs_events() {
            for slot in 0..self.slots.len() {
                self.active += 1;
                self.enter(slot, Entry::ThreadInit)?;
            }
        }
        Ok(())
    }

    fn start_commands(&mut self) -> Result<(), LoopError> {
        let command = &self.shared.job.command;
        for slot in 0..self.slots.len() {
            self.active += 1;
            self.slots[slot].stage = Stage::Ending;
            self.enter(slot, Entry::Command(command))?;
        }
        Ok(())
    }

    /// Calls an entry point in a task, if the script defines it.
    fn enter(&mut self, slot: usize, entry: Entry<'_>) -> Result<(), LoopError> {
        let reply = if self.runtime.start(self.slots[slot].task, entry)? {
            Some(Reply::Done)
        } else {
            self.finished(slot, false)?
        };
        reply.map_or(Ok(()), |reply| self.drive(slot, reply))
    }

    /// Runs the loop until `done` returns true or the job is aborted.
    fn turn_until(&mut self, done: impl Fn(&Self) -> bool) -> Result<(), LoopError> {
        while !done(self) && self.shared.control.phase() != Phase::Aborting {
            P::enter(Mark::Wait);
            self.wait()?;
            P::enter(Mark::Loop);
            // The clock is read after the wait, so that the wait does not count as a stall.
            self.clock_ns = self.now_ns();
            while let Some(event) = self.reap() {
                self.look_ahead();
                self.on_io(event)?;
            }
            self.replace_closed();
            self.on_timers()?;
            self.end_late_logins()?;
            self.start_due_events()?;
            self.take_up_slice()?;
            self.take_up_joins();
            let outer = P::enter(Mark::Record);
            self.batch.flush(&self.assignment.recorder);
            P::enter(outer);
            self.assignment.recorder.set_running(self.active);
            self.end_slice();
            self.read_clock();
        }
        self.batch.flush(&self.assignment.recorder);
        Ok(())
    }

    /// The next event of a socket.
    fn reap(&mut self) -> Option<IoEvent> {
        let outer = P::enter(Mark::Reap);
        let event = self.io.next();
        P::enter(outer);
        event
    }

    /// Prefetches the memory that the next three events need. The nearer an event is, the more of its memory has
    /// arrived in the cache, so that pointers in it can be followed and their targets prefetched. With a thousand
    /// connections, a query would otherwise spend most of its time in waits for memory.
    fn look_ahead(&self) {
        let slot_of = |token: Token| self.slots.get(self.owner(token).0);
        if let Some(slot) = self.io.upcoming(2).and_then(slot_of) {
            prefetch(slot);
        }
        if let Some(slot) = self.io.upcoming(1).and_then(slot_of) {
            self.runtime.prefetch(slot.task);
            slot.links.iter().take(1).for_each(prefetch);
        }
        if let Some(slot) = self.io.upcoming(0).and_then(slot_of) {
            slot.links.iter().take(1).for_each(Link::prefetch);
        }
    }

    /// Waits for the next event. If only answers are awaited and all cores are busy, waits for several answers,
    /// because each wake-up takes a core from the server.
    fn wait(&mut self) -> io::Result<()> {
        let timeout = self.next_wait();
        let gathered = match timeout {
            None => self.cores.answers_to_gather(self.active, self.clock_ns),
            Some(_) => None,
        };
        match gathered {
            Some(answers) => self.io.gather(answers, GATHER_PATIENCE),
            None => self.io.wait(timeout),
        }
    }

    fn now_ns(&self) -> u64 {
        let outer = P::enter(Mark::Clock);
        let now_ns = self.epoch.elapsed().as_nanos() as u64;
        P::enter(outer);
        now_ns
    }

    /// Reads the clock after the loop was busy with one connection.
    fn read_clock(&mut self) {
        let now_ns = self.now_ns();
        self.stalls.passed(self.clock_ns, now_ns);
        self.clock_ns = now_ns;
    }

    /// Sets a slot's timer. Earlier timers of the slot no longer count.
    fn wake_at(&mut self, slot: usize, at_ns: u64) {
        self.slots[slot].alarm_ns = at_ns;
        self.timers.set(at_ns, slot as u32);
    }

    /// Time after which the loop must wake even without an I/O event; `None` if it need not.
    fn next_wait(&mut self) -> Option<Duration> {
        let due_ns = match &mut self.schedule {
            Some(schedule) if !self.idle.is_empty() => schedule.next_ns(),
            _ => None,
        };
        // If an event is in flight, its answer ends the wait. A timeout would cost a timer per query.
        let slice_ends_ns = (!self.rested && self.active == 0).then_some(self.window.to_ns);
        let at_ns = [self.timers.next_ns(), due_ns, slice_ends_ns].into_iter().flatten().min();
        let wait = at_ns.map(|at_ns| Duration::from_nanos(at_ns.saturating_sub(self.now_ns())));
        let longest = self.schedule.as_ref().map(|_| LONGEST_WAIT);
        wait.into_iter().chain(longest).chain(self.login_wait()).min()
    }

    fn on_io(&mut self, event: IoEvent) -> Result<(), LoopError> {
        let (IoEvent::Connected(token) | IoEvent::Received(token) | IoEvent::Closed(token, _)) = &event;
        let (slot, link) = self.owner(*token);
        let Some(connection) = self.slots.get_mut(slot).and_then(|slot| slot.links.get_mut(link)) else {
            return Ok(());
        };
        if connection.token() != Some(*token) {
            return Ok(());
        }
        let (target, dialer, io) = (&self.shared.job.target, &self.shared.dialer, &mut *self.io);
        let was_ahead = connection.is_ahead();
        let step = match event {
            IoEvent::Connected(_) => connection.connected(target, io),
            IoEvent::Received(_) => connection.received(target, io),
            IoEvent::Closed(_, error) => connection.broken(error.as_ref(), target, dialer, io),
        };
        if was_ahead {
            connection.note_arrival(self.epoch.elapsed().as_nanos() as u64);
        }
        if connection.is_closed() {
            self.note_closed(slot);
        }
        self.on_step(slot, step)
    }

    fn owner(&self, token: Token) -> (usize, usize) {
        self.owners
            .get(token.index as usize)
            .map_or((usize::MAX, 0), |&(slot, link)| (slot as usize, link as usize))
    }

    /// Records the link to which a socket belongs.
    fn own(&mut self, slot: usize, link: usize) {
        let Some(token) = self.slots[slot].links[link].token() else { return };
        let index = token.index as usize;
        if self.owners.len() <= index {
            self.owners.resize(index + 1, (u32::MAX, 0));
        }
        self.owners[index] = (slot as u32, link as u32);
    }

    /// Handles the progress of a connection. If this is the answer for which the connection's task waits, continues the
    /// task.
    fn on_step(&mut self, slot: usize, step: LinkProgress) -> Result<(), LoopError> {
        if let Some(reply) = self.settle(slot, step) {
            match self.slots[slot].stage {
                Stage::RollingBack(link) => self.roll_back(slot, link + 1),
                _ => self.drive(slot, reply)?,
            }
        }
        Ok(())
    }

    fn hang_up(&mut self) {
        for link in self.slots.iter_mut().flat_map(|slot| &mut slot.links) {
            link.disconnect(&mut *self.io);
        }
        // Submits the queued messages, without waiting for their completion.
        let _ = self.io.wait(Some(Duration::ZERO));
    }

    fn report(&self) -> WorkerReport {
        let mut unfinished = self.waiting.clone();
        unfinished.merge(&self.lost);
        let now_ns = self.now_ns();
        for (number, slot) in (0..).zip(&self.slots) {
            let in_event = match slot.stage {
                Stage::Event | Stage::RollingBack(_) | Stage::BackingOff => true,
                Stage::OwnLoop => !self.idle.contains(&number),
                Stage::Starting
                | Stage::Idle
                | Stage::Thinking
                | Stage::Reconnecting
                | Stage::Ending
                | Stage::Ended => false,
            };
            if in_event {
                unfinished.abandon(slot.due_ns, now_ns);
            }
        }
        let noted = self.notes.as_ref().map(|notes| Box::new(notes.so_far()));
        WorkerReport { stall_us_max: self.stalls.longest_us(), unfinished, noted, replay: None }
    }
}
