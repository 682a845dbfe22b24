//! Replaces lost connections, in a load that continues in spite of lost connections. The event in flight counts as
//! failed, and the task connects again.

use std::collections::VecDeque;

use dyno_script::{Entry, Probe, Reply, SqlFailure};
use dyno_stats::SplitMix64;

use super::super::link::Link;
use super::super::retry::dial_range_us;
use super::super::slot::Stage;
use super::{EventLoop, LoopError};
use crate::schedule::control::Phase;
use crate::session::failure;

/// Largest number of tasks of a loop that connect again at the same time.
///
/// A server that serves thousands of logins at once finishes all of them late: each step of a login waits behind
/// the steps of all others, and MariaDB's thread pool prefers new connections to the statements of existing ones.
/// With this limit, tasks come back one after the other, and half of 10,000 are back after 0.8 s instead of 1.1 s
/// (`bench/results.md`, `reconnect`).
const COMEBACKS_MAX: u32 = 500;

/// The tasks of a loop that connect again.
#[derive(Debug, Default)]
pub(super) struct Comebacks {
    /// Number of tasks that may connect now. They include the tasks in `called`.
    underway: u32,
    waiting: VecDeque<u32>,
    /// Slots that had to wait and may connect now, but have not begun to connect yet.
    called: Vec<u32>,
}

impl Comebacks {
    /// Returns whether a slot may connect now. If it may not, it is queued until a call of [`end`](Self::end) returns
    /// it.
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

    /// Ends the attempt of one task, successful or not. Allows the slot that has waited longest to connect, and returns
    /// it.
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
    /// Whether a failed request means that a task has lost its connection, in a job that continues after such a
    /// loss.
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

    /// Gives up a task's connections, and lets the task connect again after a wait. The task's event counts as
    /// failed.
    pub(super) fn lose(&mut self, slot: usize, failure: &SqlFailure) {
        let task = &mut self.slots[slot];
        if task.stage != Stage::Reconnecting {
            self.batch.failed(failure);
            self.lost.abandon(task.due_ns, self.clock_ns);
        }
        self.await_reconnect(slot);
    }

    /// Records that a connection has closed, if its task waits for a due event.
    pub(super) fn note_closed(&mut self, slot: usize) {
        let waits = self.slots.get(slot).is_some_and(|slot| slot.stage == Stage::Idle);
        if waits && self.shared.job.reconnects() {
            self.closed.push(slot as u32);
        }
    }

    /// Replaces all connections of each task that lost a connection while it waited for a due event. No event was in
    /// flight, so none counts as failed.
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

    /// Lets the next task connect, because the attempt of another task has ended.
    fn end_comeback(&mut self) {
        if let Some(next) = self.comebacks.end() {
            self.wake_at(next, self.clock_ns);
        }
    }

    /// Runs a task's `thread_init` again, which opens its connections. If too many tasks do so already, the task
    /// waits.
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

    /// Ends the tasks that have no connection. Called when no further event may begin.
    pub(super) fn end_reconnecting(&mut self) {
        for slot in 0..self.slots.len() {
            if self.slots[slot].stage == Stage::Reconnecting {
                self.abandon(slot);
            }
        }
    }

    /// Ends a task that has no connection. `thread_done` is not called, because there is nothing to close.
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
        // Another slot cannot begin instead of the called slot.
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
