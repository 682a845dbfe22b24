//! Events of an event loop. The loop begins an event when it is due, records it when it ends, and runs it again after
//! an ignored error.

use dyno_script::{Entry, Probe, Reply, Stage as Mark};

use super::super::link::LinkProgress;
use super::super::retry::backoff_us;
use super::super::slot::{Awaited, Stage};
use super::tasks::TURN_NS_MAX;
use super::{EventLoop, LoopError};
use crate::measure::recorder::Part;
use crate::schedule::control::Phase;

/// When a task's next event begins.
enum Next {
    Now,
    Later,
    Never,
}

impl<P: Probe> EventLoop<'_, P> {
    /// Continues a task whose entry point has returned: starts the next entry point, or lets the task wait.
    pub(super) fn finished(&mut self, slot: usize, stop: bool) -> Result<Option<Reply>, LoopError> {
        match self.slots[slot].stage {
            Stage::Event => {
                if stop {
                    // As in sysbench, an event that ends its thread is not counted.
                    return self.end_task(slot);
                }
                self.record_event(slot);
                // If the task has no further event, it ends without a think time.
                let thinks = self.shared.job.tuning.think_seconds > 0.0 && self.schedule.is_none();
                if thinks && self.shared.control.has_events() {
                    self.think(slot);
                    return Ok(None);
                }
                self.next_event(slot)
            }
            Stage::OwnLoop => self.end_task(slot),
            Stage::Reconnecting => self.reconnected(slot),
            Stage::Ending => {
                self.slots[slot].stage = Stage::Ended;
                self.active -= 1;
                Ok(None)
            }
            _ => {
                self.slots[slot].stage = Stage::Idle;
                self.active -= 1;
                Ok(None)
            }
        }
    }

    pub(super) fn record_event(&mut self, slot: usize) {
        let outer = P::enter(Mark::Record);
        self.read_clock();
        let now_ns = self.clock_ns;
        self.pass_edge();
        let task = &mut self.slots[slot];
        self.batch.share(self.window.share(task.due_ns, now_ns));
        if self.shared.job.reconnects() {
            self.batch.ended_at(now_ns);
        }
        if self.window.part(task.due_ns) == Part::Counted {
            let latency_ns = now_ns.saturating_sub(task.due_ns);
            self.batch.event(self.assignment.tids.start + slot as u32, latency_ns);
        } else {
            self.batch.early_event();
        }
        task.due_ns = now_ns;
        task.attempts = 0;
        P::enter(outer);
    }

    /// Begins a task's next event. In a closed loop, the event begins at once. Otherwise, it begins when it is due.
    pub(super) fn next_event(&mut self, slot: usize) -> Result<Option<Reply>, LoopError> {
        match self.next_due(slot) {
            Next::Now => {
                self.slots[slot].stage = Stage::Event;
                self.start_event(slot)
            }
            Next::Later => {
                self.slots[slot].stage = Stage::Idle;
                Ok(None)
            }
            Next::Never => self.end_task(slot),
        }
    }

    /// Like [`next_event`](Self::next_event), for a script that defines `thread_run`, and so calls its events itself.
    pub(super) fn next_of_own_loop(&mut self, slot: usize) -> Option<Reply> {
        self.read_clock();
        match self.next_due(slot) {
            Next::Now => Some(Reply::Continue(true)),
            Next::Later => None,
            Next::Never => Some(Reply::Continue(false)),
        }
    }

    /// Suspends a task for the think time before its next event.
    fn think(&mut self, slot: usize) {
        self.slots[slot].stage = Stage::Thinking;
        self.active -= 1;
        let think_ns = (self.shared.job.tuning.think_seconds * 1e9) as u64;
        self.wake_at(slot, self.now_ns().saturating_add(think_ns));
    }

    /// Decides whether the next event of a task begins now, later or never. If it begins later, adds the task to the
    /// queue of idle tasks.
    fn next_due(&mut self, slot: usize) -> Next {
        if self.schedule.is_some() || self.clock_ns >= self.window.to_ns {
            if !self.shared.control.has_events() {
                return Next::Never;
            }
            if self.window.rate.is_none() {
                self.batch.rests(self.window.counted_ns(self.clock_ns));
            }
            self.idle.push_back(slot as u32);
            self.active -= 1;
            return Next::Later;
        }
        if self.shared.control.take_event() { Next::Now } else { Next::Never }
    }

    pub(super) fn start_event(&mut self, slot: usize) -> Result<Option<Reply>, LoopError> {
        let outer = P::enter(Mark::Resume);
        let is_defined = self.runtime.start(self.slots[slot].task, Entry::Event)?;
        P::enter(outer);
        if is_defined { Ok(Some(Reply::Done)) } else { Err(LoopError::NoEvent) }
    }

    /// Calls a task's `thread_done`, if the script has one.
    pub(super) fn end_task(&mut self, slot: usize) -> Result<Option<Reply>, LoopError> {
        self.slots[slot].stage = Stage::Ending;
        if self.runtime.start(self.slots[slot].task, Entry::ThreadDone)? {
            return Ok(Some(Reply::Done));
        }
        self.finished(slot, false)
    }

    /// Begins the load. Each task gets its first event, or waits until an event is due or until its connection
    /// joins.
    pub(super) fn begin_events(&mut self) -> Result<(), LoopError> {
        if let Some(notes) = &mut self.notes {
            notes.begin();
        }
        for slot in 0..self.slots.len() {
            if self.waits_to_join {
                self.slots[slot].stage = Stage::Thinking;
            } else {
                self.begin_task(slot)?;
            }
        }
        Ok(())
    }

    /// Begins a task's events.
    fn begin_task(&mut self, slot: usize) -> Result<(), LoopError> {
        self.active += 1;
        self.read_clock();
        self.slots[slot].due_ns = self.clock_ns;
        if self.shared.own_thread_run() {
            self.slots[slot].stage = Stage::OwnLoop;
            self.enter(slot, Entry::ThreadRun)?;
        } else if let Some(reply) = self.next_event(slot)? {
            self.drive(slot, reply)?;
        }
        Ok(())
    }

    /// Gives due events to idle tasks. Stops after [`TURN_NS_MAX`], so that the loop can do its other work.
    pub(super) fn start_due_events(&mut self) -> Result<(), LoopError> {
        // Nothing becomes due after the measured time. In a closed loop, there is no schedule.
        if self.schedule.is_none() || self.shared.control.phase() > Phase::Running {
            return Ok(());
        }
        let now_ns = self.now_ns();
        if now_ns >= self.window.to_ns {
            self.end_arrivals();
        }
        let Some(schedule) = &mut self.schedule else { return Ok(()) };
        // If no further event may begin, there is no backlog.
        if self.shared.control.is_spent() {
            self.assignment.recorder.set_backlog(0);
        } else {
            self.assignment.recorder.count_due(schedule, now_ns);
        }
        self.stalls.passed(self.clock_ns, now_ns);
        self.clock_ns = now_ns;
        while let (Some(schedule), Some(&slot)) = (&mut self.schedule, self.idle.front()) {
            if self.clock_ns.saturating_sub(now_ns) > TURN_NS_MAX {
                break;
            }
            let Some(due_ns) = schedule.take_due(now_ns) else { break };
            if !self.shared.control.take_event() {
                break;
            }
            self.idle.pop_front();
            self.begin_event(slot as usize, due_ns)?;
        }
        Ok(())
    }

    /// Begins the next event of a task that waited for it.
    pub(super) fn begin_event(&mut self, slot: usize, due_ns: u64) -> Result<(), LoopError> {
        self.active += 1;
        let task = &mut self.slots[slot];
        task.due_ns = due_ns;
        let reply = if task.stage == Stage::OwnLoop {
            Some(Reply::Continue(true))
        } else {
            task.stage = Stage::Event;
            self.start_event(slot)?
        };
        reply.map_or(Ok(()), |reply| self.drive(slot, reply))
    }

    /// Ends the tasks that wait for an event. Called when there are no more events.
    pub(super) fn end_idle_tasks(&mut self) -> Result<(), LoopError> {
        let thinking = (0..self.slots.len()).filter(|&slot| self.slots[slot].stage == Stage::Thinking);
        let thinking: Vec<u32> = thinking.map(|slot| slot as u32).collect();
        for slot in std::mem::take(&mut self.idle).into_iter().chain(thinking) {
            self.active += 1;
            let reply = match self.slots[slot as usize].stage {
                Stage::OwnLoop => Some(Reply::Continue(false)),
                _ => self.end_task(slot as usize)?,
            };
            if let Some(reply) = reply {
                self.drive(slot as usize, reply)?;
            }
        }
        Ok(())
    }

    /// Rolls back an event after an ignored error, so that it is run again.
    pub(super) fn restart(&mut self, slot: usize) -> Result<(), LoopError> {
        if self.slots[slot].stage != Stage::Event {
            return Err(LoopError::RestartOutsideEvent);
        }
        self.batch.counts.errors += 1;
        self.slots[slot].attempts += 1;
        self.roll_back(slot, 0);
        Ok(())
    }

    /// Rolls back the transactions of a task's connections, one after the other, beginning with the connection number
    /// `from`. Then waits before the event is run again.
    pub(super) fn roll_back(&mut self, slot: usize, from: usize) {
        let target = &self.shared.job.target;
        let task = &mut self.slots[slot];
        for number in from..task.links.len() {
            let link = &mut task.links[number];
            if !link.is_open() {
                continue;
            }
            if let LinkProgress::Pending =
                link.start(target, &mut *self.io, |_, client| client.query(b"ROLLBACK"))
            {
                task.stage = Stage::RollingBack(number);
                task.awaited = Some(Awaited::answer(number));
                return;
            }
        }
        task.stage = Stage::BackingOff;
        let at_ns = self.epoch.elapsed().as_nanos() as u64 + backoff_us(task.attempts) * 1000;
        self.wake_at(slot, at_ns);
    }

    pub(super) fn on_timers(&mut self) -> Result<(), LoopError> {
        if self.timers.next_ns().is_none() {
            return Ok(());
        }
        // Timers that are set in this loop wait for the event loop's next iteration, so that many timers cannot starve
        // sockets.
        let now_ns = self.now_ns();
        while let Some((at_ns, slot)) = self.timers.take_due(now_ns) {
            let slot = slot as usize;
            let task = &mut self.slots[slot];
            if task.alarm_ns != at_ns {
                continue;
            }
            if let Some(reply) = task.put_off.take() {
                self.take_up(slot, *reply)?;
            } else if std::mem::take(&mut task.sleeping) {
                self.drive(slot, Reply::Done)?;
            } else if let Some(awaited) =
                task.awaited.filter(|awaited| task.links[awaited.link].is_redialling())
            {
                let (target, dialer) = (&self.shared.job.target, &self.shared.dialer);
                let step = task.links[awaited.link].redial(target, dialer, &mut *self.io);
                self.on_step(slot, step)?;
            } else if task.stage == Stage::BackingOff {
                let reply = if self.shared.control.phase() >= Phase::Stopping {
                    self.end_task(slot)?
                } else {
                    task.stage = Stage::Event;
                    self.start_event(slot)?
                };
                if let Some(reply) = reply {
                    self.drive(slot, reply)?;
                }
            } else if task.stage == Stage::Thinking {
                self.begin_task(slot)?;
            } else if task.stage == Stage::Reconnecting && task.awaited.is_none() {
                self.reconnect(slot)?;
            }
        }
        Ok(())
    }
}
