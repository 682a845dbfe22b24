//! Replays many sessions of logged traffic on one thread. Each session has its own connection, which is opened and
//! closed at the logged times. A session sends its statements one after the other.

mod answers;
mod order;
mod session;
mod traffic;

use std::collections::VecDeque;
use std::io;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use dyno_traffic::{SessionTimes, TrafficError};

pub(crate) use self::order::CommitOrder;
use self::order::Following;
use self::session::{Session, Stage};
use self::traffic::Traffic;
use super::link::{Link, LinkProgress};
use super::shared::{Assignment, Message, Shared, WorkerReport};
use super::timers::Timers;
use crate::io::{Io, IoEvent};
use crate::machine::busy_cores::{BusyCores, GATHER_PATIENCE};
use crate::measure::digests::ReplayFigures;
use crate::measure::recorder::{Batch, Recorder};
use crate::measure::unfinished::Unfinished;
use crate::protocol::replay::Replay;
use crate::schedule::control::Phase;

/// Wait before connecting again to a server whose backlog is full.
const REDIAL_NS: u64 = 2_000_000;

/// Why a replay failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReplayError {
    #[error("{0}")]
    Traffic(#[from] TrafficError),
    #[error("the event loop failed: {0}")]
    Io(#[from] io::Error),
    /// The server refused a session that is open from the beginning.
    #[error("the first sessions cannot be opened: {0}")]
    Refused(String),
}

/// An event loop that replays sessions.
pub(crate) struct ReplayLoop<'a> {
    shared: &'a Shared,
    recorder: Arc<Recorder>,
    tids: Range<u32>,
    io: Box<dyn Io>,
    traffic: Traffic,
    /// The order of commits, if the replay keeps it.
    following: Option<Following<'a>>,
    /// Open sessions.
    slots: Vec<Option<Box<Session>>>,
    free: Vec<usize>,
    /// For each socket, the slot to which it belongs. The index is that of the socket's token.
    owners: Vec<usize>,
    timers: Timers,
    /// Sessions that are being opened, with their deadlines. Some of them may already be open.
    logins: VecDeque<(Instant, usize)>,
    batch: Batch,
    figures: ReplayFigures,
    cores: BusyCores,
    epoch: Instant,
    /// Most recent reading of the clock, in ns since the load began.
    clock_ns: u64,
    /// Number of sessions that wait for the server.
    busy: u32,
    has_begun: bool,
    is_stopped: bool,
    reads_answers: bool,
}

impl<'a> ReplayLoop<'a> {
    pub(crate) fn new(
        shared: &'a Shared,
        assignment: &Assignment,
        replay: &Replay,
    ) -> Result<Self, ReplayError> {
        let traffic = Traffic::open(shared, replay, &assignment.tids)?;
        let io = crate::io::open(shared.job.io, assignment.tids.len())?;
        shared.control.wake_too(io.waker());
        let following = shared.order.as_ref().map(|order| Following::new(order, io.waker()));
        Ok(Self {
            shared,
            recorder: Arc::clone(&assignment.recorder),
            tids: assignment.tids.clone(),
            io,
            traffic,
            following,
            slots: Vec::new(),
            free: Vec::new(),
            owners: Vec::new(),
            timers: Timers::default(),
            logins: VecDeque::new(),
            batch: Batch::default(),
            figures: ReplayFigures::new(replay.keeps_examples),
            cores: BusyCores::of_this_thread(),
            epoch: Instant::now(),
            clock_ns: 0,
            busy: 0,
            has_begun: false,
            is_stopped: false,
            reads_answers: replay.reads_answers,
        })
    }

    /// Opens the first sessions, replays the traffic until it ends or the job ends, and disconnects.
    pub(crate) fn run(mut self) -> Result<WorkerReport, ReplayError> {
        while let Some(times) = self.traffic.take_first_session(self.has_room()) {
            self.open(times)?;
        }
        self.turn_until(|this| this.busy == 0)?;
        if self.busy > 0 {
            // The job was aborted before every session was open.
            return Ok(self.report());
        }
        self.shared.say(Message::Ready(self.io.name()));
        self.shared.control.wait_for_start();
        self.epoch = self.shared.control.epoch();
        self.has_begun = true;
        for slot in 0..self.slots.len() {
            self.clock_ns = self.now_ns();
            let first = self.next_statement(slot)?;
            self.advance(slot, first)?;
        }
        self.turn_until(Self::is_through)?;
        let report = self.report();
        (0..self.slots.len()).for_each(|slot| self.close(slot));
        // Submits the queued messages, without waiting for their completion.
        let _ = self.io.wait(Some(Duration::ZERO));
        Ok(report)
    }

    fn is_through(&self) -> bool {
        self.open_sessions() == 0 && (self.is_stopped || self.traffic.is_through())
    }

    fn open_sessions(&self) -> usize {
        self.slots.len() - self.free.len()
    }

    /// Whether another session may be opened in a replay without a pace. If all open sessions wait for commits, another
    /// session may always be opened, because the commits may belong to a session that is not open yet.
    fn has_room(&self) -> bool {
        let open = self.open_sessions();
        open < self.tids.len() || self.following.as_ref().is_some_and(|following| following.len() == open)
    }

    /// Runs the loop until `done` returns true or the job is aborted.
    fn turn_until(&mut self, done: impl Fn(&Self) -> bool) -> Result<(), ReplayError> {
        while !done(self) && self.shared.control.phase() != Phase::Aborting {
            self.wait()?;
            self.clock_ns = self.now_ns();
            while let Some(event) = self.io.next() {
                self.on_io(event)?;
            }
            self.on_timers()?;
            self.end_late_logins()?;
            self.stop_if_asked();
            if self.has_begun {
                self.open_due()?;
                self.follow()?;
            }
            self.batch.flush(&self.recorder);
            self.recorder.set_running(self.busy);
        }
        self.batch.flush(&self.recorder);
        Ok(())
    }

    /// Waits for the next event. If only answers are awaited and all cores are busy, waits for several answers,
    /// because each wake-up takes a core from the server.
    fn wait(&mut self) -> io::Result<()> {
        let timeout = self.next_wait();
        let gathered = match timeout {
            None => self.cores.answers_to_gather(self.busy, self.clock_ns),
            Some(_) => None,
        };
        match gathered {
            Some(answers) => self.io.gather(answers, GATHER_PATIENCE),
            None => self.io.wait(timeout),
        }
    }

    /// Time after which the loop must wake even without an I/O event; `None` if it need not.
    fn next_wait(&mut self) -> Option<Duration> {
        let opens_ns = self.traffic.opens_next_ns().filter(|_| self.has_begun && !self.is_stopped);
        let at_ns = [self.timers.next_ns(), opens_ns].into_iter().flatten().min();
        let wait = at_ns.map(|at_ns| Duration::from_nanos(at_ns.saturating_sub(self.now_ns())));
        let login = self.next_login().map(|(at, _)| at);
        let follows = self.following.as_ref().and_then(Following::looks_again_at);
        let moments = login.into_iter().chain(follows);
        wait.into_iter().chain(moments.map(|at| at.saturating_duration_since(Instant::now()))).min()
    }

    fn now_ns(&self) -> u64 {
        self.epoch.elapsed().as_nanos() as u64
    }

    /// Sets a session's timer. Earlier timers of the session no longer count.
    fn wake_at(&mut self, slot: usize, at_ns: u64) {
        if let Some(session) = &mut self.slots[slot] {
            session.alarm_ns = at_ns;
            self.timers.set(at_ns, slot as u32);
        }
    }

    /// Opens the sessions that are due.
    fn open_due(&mut self) -> Result<(), ReplayError> {
        while !self.is_stopped
            && let Some(times) = self.traffic.take_session(self.clock_ns, self.has_room())
        {
            self.open(times)?;
        }
        Ok(())
    }

    /// Sends the statements that no longer need to wait for commits.
    fn follow(&mut self) -> Result<(), ReplayError> {
        let Some(following) = &self.following else { return Ok(()) };
        following.set_busy(self.busy);
        while !self.is_stopped
            && let Some((slot, breaks)) = self.following.as_mut().and_then(|it| it.next(Instant::now()))
        {
            let waits = |session: &Session| session.stage == Stage::Following;
            if self.slots[slot].as_deref().is_some_and(waits) {
                self.figures.out_of_order += u64::from(breaks);
                let step = self.send(slot);
                self.advance(slot, step)?;
            }
        }
        Ok(())
    }

    fn open(&mut self, times: SessionTimes) -> Result<(), ReplayError> {
        let dialer = self.traffic.dialer(&times).unwrap_or(&self.shared.dialer);
        let (link, step) = Link::open(&self.shared.job.target, dialer, &mut *self.io);
        let session = Some(Box::new(Session::new(times, link)));
        let slot = if let Some(slot) = self.free.pop() {
            self.slots[slot] = session;
            slot
        } else {
            self.slots.push(session);
            self.slots.len() - 1
        };
        self.busy += 1;
        self.advance(slot, Some(step))
    }

    /// Disconnects a session.
    fn close(&mut self, slot: usize) {
        if let Some(mut session) = self.slots[slot].take() {
            self.busy -= u32::from(session.is_busy());
            session.link.disconnect(&mut *self.io);
            self.free.push(slot);
        }
    }

    /// Closes all sessions without a statement in flight, once the job is stopping.
    fn stop_if_asked(&mut self) {
        if self.is_stopped || self.shared.control.phase() < Phase::Stopping {
            return;
        }
        self.is_stopped = true;
        for slot in 0..self.slots.len() {
            if !self.slots[slot].as_ref().is_some_and(|session| session.is_in_statement()) {
                self.close(slot);
            }
        }
    }

    fn on_io(&mut self, event: IoEvent) -> Result<(), ReplayError> {
        let (IoEvent::Connected(token) | IoEvent::Received(token) | IoEvent::Closed(token, _)) = &event;
        let Some(&slot) = self.owners.get(token.index as usize) else { return Ok(()) };
        let Some(session) = self.slots.get_mut(slot).and_then(Option::as_mut) else { return Ok(()) };
        if session.link.token() != Some(*token) {
            return Ok(());
        }
        let (target, io) = (&self.shared.job.target, &mut *self.io);
        let dialer = self.traffic.dialer(&session.times).unwrap_or(&self.shared.dialer);
        let step = match event {
            IoEvent::Connected(_) => session.link.connected(target, io),
            IoEvent::Received(_) => session.link.received(target, io),
            IoEvent::Closed(_, error) => session.link.broken(error.as_ref(), target, dialer, io),
        };
        self.advance(slot, Some(step))
    }

    fn on_timers(&mut self) -> Result<(), ReplayError> {
        while let Some((at_ns, slot)) = self.timers.take_due(self.clock_ns) {
            let slot = slot as usize;
            let Some(session) = self.slots[slot].as_mut().filter(|session| session.alarm_ns == at_ns) else {
                continue;
            };
            let step = match session.stage {
                Stage::Opening if session.link.is_redialling() => {
                    let dialer = self.traffic.dialer(&session.times).unwrap_or(&self.shared.dialer);
                    Some(session.link.redial(&self.shared.job.target, dialer, &mut *self.io))
                }
                Stage::Waiting => {
                    self.clock_ns = self.epoch.elapsed().as_nanos() as u64;
                    self.figures.late.record_ns(self.clock_ns.saturating_sub(session.due_ns));
                    self.begin(slot)
                }
                Stage::Closing => {
                    self.close(slot);
                    None
                }
                _ => None,
            };
            self.advance(slot, step)?;
        }
        Ok(())
    }

    /// Returns the session with the next deadline, of those that are still being opened.
    fn next_login(&mut self) -> Option<(Instant, usize)> {
        while let Some((at, slot)) = self.logins.front().copied() {
            if self.slots[slot].as_ref().is_some_and(|session| session.link.must_open_by(at)) {
                return Some((at, slot));
            }
            self.logins.pop_front();
        }
        None
    }

    /// Gives up the connections whose deadline has passed.
    fn end_late_logins(&mut self) -> Result<(), ReplayError> {
        while let Some((at, slot)) = self.next_login().filter(|(at, _)| *at <= Instant::now()) {
            self.logins.pop_front();
            let Some(session) = self.slots[slot].as_mut().filter(|it| it.link.must_open_by(at)) else {
                continue;
            };
            let dialer = self.traffic.dialer(&session.times).unwrap_or(&self.shared.dialer);
            let step = session.link.be_late(&self.shared.job.target, dialer, &mut *self.io);
            self.advance(slot, Some(step))?;
        }
        Ok(())
    }

    /// Handles the progress of a session, and continues the session until it must wait.
    fn advance(&mut self, slot: usize, mut step: Option<LinkProgress>) -> Result<(), ReplayError> {
        while let Some(progress) = step {
            step = match progress {
                LinkProgress::Pending => {
                    self.watch(slot);
                    return Ok(());
                }
                LinkProgress::Redial => {
                    self.watch(slot);
                    self.wake_at(slot, self.now_ns() + REDIAL_NS);
                    return Ok(());
                }
                LinkProgress::Reply(reply) => {
                    self.clock_ns = self.now_ns();
                    self.answered(slot, reply)?
                }
            };
        }
        Ok(())
    }

    /// Records which socket a session has, and the deadline by which the session must be open.
    fn watch(&mut self, slot: usize) {
        let Some(session) = &mut self.slots[slot] else { return };
        if let Some(token) = session.link.token() {
            let index = token.index as usize;
            if self.owners.len() <= index {
                self.owners.resize(index + 1, usize::MAX);
            }
            self.owners[index] = slot;
        }
        if let Some(at) = session.link.new_deadline() {
            self.logins.push_back((at, slot));
        }
    }

    fn report(&mut self) -> WorkerReport {
        let mut unfinished = Unfinished::default();
        let now_ns = self.now_ns();
        for session in self.slots.iter().flatten().filter(|session| session.is_in_statement()) {
            unfinished.abandon(session.due_ns, now_ns);
        }
        WorkerReport {
            unfinished,
            replay: Some(Box::new(std::mem::take(&mut self.figures))),
            ..WorkerReport::default()
        }
    }
}
