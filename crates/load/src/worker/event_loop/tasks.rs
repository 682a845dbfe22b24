//! Tasks of an event loop: resumes them with answers until they wait again.

use dyno_script::{Probe, Progress, Reply, Stage as Mark};

use super::super::link::LinkProgress;
use super::super::slot::{Begun, Slot, SlotHost, Stage, begin, note_statement};
use super::{EventLoop, LoopError, Message};

/// Wait before connecting again to a server whose backlog is full.
const REDIAL_NS: u64 = 2_000_000;

/// How long a task may run one event after another without having to wait, in ns. Then the loop begins its next
/// iteration, in which records become visible and other tasks run.
pub(super) const TURN_NS_MAX: u64 = 1_000_000;

/// The result of resuming a task.
enum Turn {
    Begun(Begun),
    Finished { stop: bool },
    Restart,
}

impl<P: Probe> EventLoop<'_, P> {
    /// Handles a link's progress for the task that waits for the link. Returns the answer, or `None` if the task must
    /// wait longer.
    pub(super) fn settle(&mut self, slot: usize, step: LinkProgress) -> Option<Reply> {
        let awaited = self.slots[slot].awaited?;
        match step {
            LinkProgress::Pending => {
                self.own(slot, awaited.link);
                self.watch_login(slot, awaited.link);
                None
            }
            LinkProgress::Redial => {
                self.watch_login(slot, awaited.link);
                let at_ns = self.now_ns() + REDIAL_NS;
                self.wake_at(slot, at_ns);
                None
            }
            LinkProgress::Reply(reply) => {
                self.read_clock();
                self.pass_edge();
                if let Reply::Failed(failure) = &reply
                    && self.is_lost(slot, awaited.link, failure)
                {
                    self.lose(slot, failure);
                    return None;
                }
                let task = &mut self.slots[slot];
                task.awaited = None;
                if let Reply::Failed(failure) = &reply
                    && failure.ignorable
                {
                    self.batch.ignored(failure);
                }
                // The rollback of a failed event does not count as a query of the script.
                if !matches!(task.stage, Stage::RollingBack(_)) {
                    let latency_ns = self.clock_ns.saturating_sub(task.asked_ns);
                    if let Some(bin) = self.window.bin(self.clock_ns) {
                        self.batch.bin(bin);
                    }
                    if let Some(link) = task.links.get(awaited.link) {
                        let outer = P::enter(Mark::Record);
                        note_statement(&reply, link, latency_ns, &mut self.batch);
                        P::enter(outer);
                    }
                }
                Some(awaited.reply(reply))
            }
        }
    }

    /// Runs a task until it waits, or until it has run events for [`TURN_NS_MAX`].
    pub(super) fn drive(&mut self, slot: usize, mut reply: Reply) -> Result<(), LoopError> {
        let began_ns = self.clock_ns;
        loop {
            let mut event_ended = false;
            let turn = match self.resume(slot, reply, &mut event_ended) {
                Err(error) if self.is_in_thread_done(slot) => {
                    self.shared.say(Message::FailedLate(error.to_string()));
                    Turn::Finished { stop: false }
                }
                turn => turn?,
            };
            if event_ended && self.slots[slot].stage == Stage::OwnLoop {
                self.record_event(slot);
            }
            let between_events = matches!(turn, Turn::Begun(Begun::NextEvent) | Turn::Finished { .. });
            let next = match turn {
                Turn::Begun(Begun::LinkProgress(step)) => self.settle(slot, step),
                Turn::Begun(Begun::Sleep(us)) => {
                    self.slots[slot].sleeping = true;
                    let at_ns = self.now_ns() + us * 1000;
                    self.wake_at(slot, at_ns);
                    None
                }
                Turn::Begun(Begun::NextEvent) => self.next_of_own_loop(slot),
                Turn::Finished { stop } => self.finished(slot, stop)?,
                Turn::Restart => {
                    self.restart(slot)?;
                    None
                }
            };
            match next {
                Some(next) if between_events && self.clock_ns.saturating_sub(began_ns) > TURN_NS_MAX => {
                    self.put_off(slot, next);
                    return Ok(());
                }
                Some(next) => reply = next,
                None => return Ok(()),
            }
        }
    }

    /// Whether a task runs the script's `thread_done`. An error there ends only this task.
    fn is_in_thread_done(&self, slot: usize) -> bool {
        self.slots[slot].stage == Stage::Ending && self.shared.runs_events()
    }

    /// Defers a task's next event to the loop's next iteration.
    fn put_off(&mut self, slot: usize, reply: Reply) {
        self.slots[slot].put_off = Some(Box::new(reply));
        self.wake_at(slot, self.clock_ns);
    }

    /// Resumes a task that was deferred. Its next event begins now.
    pub(super) fn take_up(&mut self, slot: usize, reply: Reply) -> Result<(), LoopError> {
        self.read_clock();
        self.slots[slot].due_ns = self.clock_ns;
        self.drive(slot, reply)
    }

    fn resume(&mut self, slot: usize, reply: Reply, event_ended: &mut bool) -> Result<Turn, LoopError> {
        let mut notes = self.notes.as_mut().filter(|_| slot == 0);
        if let Some(notes) = &mut notes {
            notes.replied(&reply);
        }
        let Slot { task, links, awaited, asked_ns, .. } = &mut self.slots[slot];
        let counts = &mut self.batch.counts;
        let mut host = SlotHost { links, counts, shared: self.shared, event_ended };
        let outer = P::enter(Mark::Resume);
        let progress = if P::RECORDS {
            self.runtime.resume_marked(*task, &mut host, reply)?
        } else {
            self.runtime.resume(*task, &mut host, reply)?
        };
        P::enter(outer);
        Ok(match progress {
            Progress::Waiting(request) => {
                if let Some(notes) = notes {
                    notes.asked(&request);
                }
                self.shared.tell_names(&request);
                // The clock is not read again, because only this script has run since the last reading.
                *asked_ns = self.clock_ns;
                Turn::Begun(begin(links, awaited, asked_ns, &request, self.shared, &mut *self.io))
            }
            Progress::Finished { stop } => Turn::Finished { stop },
            Progress::Restart => Turn::Restart,
        })
    }
}
