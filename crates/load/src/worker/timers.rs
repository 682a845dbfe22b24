//! Timers of an event loop.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Timers, each with its time in ns since the load began and the slot to wake.
#[derive(Debug, Default)]
pub(super) struct Timers(BinaryHeap<Reverse<(u64, u32)>>);

impl Timers {
    pub(super) fn set(&mut self, at_ns: u64, slot: u32) {
        self.0.push(Reverse((at_ns, slot)));
    }

    /// Time of the next timer.
    pub(super) fn next_ns(&self) -> Option<u64> {
        self.0.peek().map(|Reverse((at_ns, _))| *at_ns)
    }

    /// Takes a timer that is due. Returns its time and its slot.
    pub(super) fn take_due(&mut self, now_ns: u64) -> Option<(u64, u32)> {
        if self.next_ns()? > now_ns {
            return None;
        }
        self.0.pop().map(|Reverse(due)| due)
    }
}
