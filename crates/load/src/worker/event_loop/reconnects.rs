//! Replaces connections that are lost during a load that continues without them: the event in flight counts as failed,
//! and the task connects anew.

use std::collections::VecDeque;

use dyno_script::{Entry, Probe, Reply, SqlFailure};
use dyno_stats::SplitMix64;

use super::super::link::Link;
use super::super::retry::dial_range_us;
use super::super::slot::Stage;
use super::{EventLoop, LoopError};
use crate::schedule::control::Phase;
use crate::session::failure;

/// The most tasks of a loop that connect anew at the same time.
///
/// A server that serves thousands of logins at once finishes all of them late: each step of one waits behind the steps
/// of all others, and MariaDB's thread pool prefers new connections to the statements of those that are there. With this
/// limit, tasks come back one after the other, and half of 10,000 are back after 0.8 instead of 1.1 s
/// (`bench/results.md`, `reconnect`).
const COMEBACKS_MAX: u32 = 500;

/// Tasks that connect anew.
#[derive(Debug, Default)]
pub(super) struct Comebacks {
    /// Those that may connect, with the called ones.
    underway: u32,
    waiting: VecDeque<u32>,
    /// Those that waited, may connect now, and do not know it yet.
    called: Vec<u32>,
}

impl Comebacks {
    /// Whether a slot may connect now. If not, it will be called.
    fn begin(&mut self, slot: usize) -> bool {
        let slot = slot as u32;
        if let Some(at) = self.called.iter().position(|called| *called == slot) {
            self.called.swap_remove(at);
            return true;
        }
        let may = self.underway < COMEBACKS_MAX;
        if may {
            self.underway += 1;
        } else {
            self.waiting.push_back(slot);
        }
        may
    }

    /// Ends one, successful or not. Calls the slot that has waited longest, and returns it.
    fn end(&mut self) -> Option<usize> {
        let next = self.waiting.pop_front();
        match next {
            Some(slot) => self.called.push(slot),
            None => self.underway -= 1,
        }
        next.map(|slot| slot as usize)
    }
}

impl<P: Probe> EventLoop<'_, P> {
    /// Whether a failed request leaves a task without a usable connection, in a job that continues after lost
    /// connections.
    pub(super) fn is_lost(&self, slot: usize, link: usize, failure: &SqlFailure) -> bool {
        if !self.shared.job.reconnects() {
            return false;
        }
        let task = &self.slots[slot];
        match task.stage {
            Stage::Reconnecting => true,
            Stage::Event | Stage::OwnLoop | Stage::RollingBack(_) => {
                !task.links.get(link).is_some_and(Link::is_open) || failure::ends_session(failure)
            }
            _ => false,
        }
    }

    /// Gives up a task's connections, and lets it connect anew after a wait. Its event counts as failed.
    pub(super) fn lose(&mut self, slot: usize, failure: &SqlFailure) {
        let task = &mut self.slots[slot];
        if task.stage != Stage::Reconnecting {
            self.batch.failed(failure);
            self.lost.abandon(task.due_ns, self.clock_ns);
        }
        self.await_reconnect(slot);
    }

    /// Notes that a connection of a task has closed that may be waiting for a due event.
    pub(super) fn note_closed(&mut self, slot: usize) {
        let waits = self.slots.get(slot).is_some_and(|slot| slot.stage == Stage::Idle);
        if waits && self.shared.job.reconnects() {
            self.closed.push(slot as u32);
        }
    }

    /// Replaces the connections of the tasks that wait for a due event, if one of them has closed. No event fails with
    /// it.
    pub(super) fn replace_closed(&mut self) {
        if self.closed.is_empty() {
            return;
        }
        let mut closed = std::mem::take(&mut self.closed);
        closed.sort_unstable();
        let mut lost = Vec::new();
        self.idle.retain(|slot| {
            let is_lost = closed.binary_search(slot).is_ok();
            if is_lost {
                lost.push(*slot as usize);
            }
            !is_lost
        });
        for slot in lost {
            self.active += 1;
            self.await_reconnect(slot);
        }
    }

    fn await_reconnect(&mut self, slot: usize) {
        let job = &self.shared.job;
        let task = &mut self.slots[slot];
        task.links.iter_mut().for_each(|link| link.disconnect(&mut *self.io));
        task.links.clear();
        (task.awaited, task.sleeping, task.put_off) = (None, false, None);
        task.attempts = 0;
        let has_dialled = task.stage == Stage::Reconnecting;
        task.dials = if has_dialled { task.dials.saturating_add(1) } else { 1 };
        task.stage = Stage::Reconnecting;
        let range_us = dial_range_us(task.dials, job.connections_in_all());
        let tid = u64::from(job.tids_from() + self.assignment.tids.start) + slot as u64;
        let seed = job.seed ^ self.clock_ns ^ (tid << 32);
        let wait_us = SplitMix64::new(seed).below(range_us as usize + 1) as u64;
        self.wake_at(slot, self.clock_ns + wait_us * 1000);
        if has_dialled {
            self.end_comeback();
        }
    }

    /// Lets the next task connect, because one has connected or failed to.
    fn end_comeback(&mut self) {
        if let Some(next) = self.comebacks.end() {
            self.wake_at(next, self.clock_ns);
        }
    }

    /// Runs a task's `thread_init` again, which opens its connections, unless too many tasks do so already.
    pub(super) fn reconnect(&mut self, slot: usize) -> Result<(), LoopError> {
        if self.shared.control.phase() >= Phase::Stopping {
            self.abandon(slot);
            return Ok(());
        }
        if !self.comebacks.begin(slot) {
            return Ok(());
        }
        self.enter(slot, Entry::ThreadInit)
    }

    /// Continues with events once `thread_init` has ended.
    pub(super) fn reconnected(&mut self, slot: usize) -> Result<Option<Reply>, LoopError> {
        self.batch.counts.reconnects += 1;
        self.read_clock();
        self.end_comeback();
        let task = &mut self.slots[slot];
        task.due_ns = self.clock_ns;
        if self.shared.own_thread_run() {
            task.stage = Stage::OwnLoop;
            self.runtime.start(task.task, Entry::ThreadRun)?;
            return Ok(Some(Reply::Done));
        }
        self.next_event(slot)
    }

    /// Ends the tasks without a connection, because no further event may begin.
    pub(super) fn end_reconnecting(&mut self) {
        for slot in 0..self.slots.len() {
            if self.slots[slot].stage == Stage::Reconnecting {
                self.abandon(slot);
            }
        }
    }

    /// Ends a task without a connection. There is nothing that its `thread_done` could close.
    fn abandon(&mut self, slot: usize) {
        let task = &mut self.slots[slot];
        task.links.iter_mut().for_each(|link| link.disconnect(&mut *self.io));
        task.links.clear();
        (task.awaited, task.sleeping, task.stage) = (None, false, Stage::Ended);
        self.active -= 1;
    }
}

#[cfg(test)]
mod tests {
    use super::{COMEBACKS_MAX, Comebacks};

    #[test]
    fn slots_beyond_the_limit_are_called_in_their_order_and_keep_their_place() {
        let most = COMEBACKS_MAX as usize;
        let mut comebacks = Comebacks::default();
        assert!((0..most).all(|slot| comebacks.begin(slot)));
        assert!(!comebacks.begin(most) && !comebacks.begin(most + 1));
        assert_eq!(comebacks.end(), Some(most));
        // Another slot cannot take the place of the called one.
        assert!(!comebacks.begin(most + 2));
        assert!(comebacks.begin(most));
        assert_eq!(
            [comebacks.end(), comebacks.end(), comebacks.end()],
            [Some(most + 1), Some(most + 2), None]
        );
        assert!(comebacks.begin(most + 2) && comebacks.begin(most + 1) && comebacks.begin(most + 3));
        assert!(!comebacks.begin(most + 4));
    }
}
