//! Replaces connections that are lost during a load that continues without them: the event in flight counts as failed,
//! and the task connects anew.

use dyno_script::{Entry, Probe, Reply, SqlFailure};
use dyno_stats::SplitMix64;

use super::super::link::Link;
use super::super::retry::dial_range_us;
use super::super::slot::Stage;
use super::{EventLoop, LoopError};
use crate::schedule::control::Phase;
use crate::session::failure;

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

    /// Replaces the connections of a task that waits for a due event, if one of them has closed. No event
    /// fails with it.
    pub(super) fn replace_if_idle(&mut self, slot: usize) {
        let is_idle = self.shared.job.reconnects()
            && self.slots.get(slot).is_some_and(|slot| slot.stage == Stage::Idle)
            && self.idle.contains(&(slot as u32));
        if is_idle {
            self.idle.retain(|idle| *idle != slot as u32);
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
        task.dials = if task.stage == Stage::Reconnecting { task.dials.saturating_add(1) } else { 1 };
        task.stage = Stage::Reconnecting;
        let range_us = dial_range_us(task.dials, job.connections_in_all());
        let tid = u64::from(job.tids_from() + self.assignment.tids.start) + slot as u64;
        let seed = job.seed ^ self.clock_ns ^ (tid << 32);
        let wait_us = SplitMix64::new(seed).below(range_us as usize + 1) as u64;
        self.wake_at(slot, self.clock_ns + wait_us * 1000);
    }

    /// Runs a task's `thread_init` again, which opens its connections.
    pub(super) fn reconnect(&mut self, slot: usize) -> Result<(), LoopError> {
        if self.shared.control.phase() >= Phase::Stopping {
            self.abandon(slot);
            return Ok(());
        }
        self.enter(slot, Entry::ThreadInit)
    }

    /// Continues with events once `thread_init` has ended.
    pub(super) fn reconnected(&mut self, slot: usize) -> Result<Option<Reply>, LoopError> {
        self.batch.counts.reconnects += 1;
        self.read_clock();
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
