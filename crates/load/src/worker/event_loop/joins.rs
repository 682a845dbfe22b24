//! Connections that join over time. Each begins its events some time after measuring began.

use dyno_script::Probe;

use super::EventLoop;

impl<P: Probe> EventLoop<'_, P> {
    /// Once measuring has begun, sets each connection's timer to the time at which the connection joins.
    pub(super) fn take_up_joins(&mut self) {
        if !self.waits_to_join {
            return;
        }
        let Some(from_ns) = self.shared.control.joins_from_ns() else { return };
        self.waits_to_join = false;
        for (slot, tid) in self.assignment.tids.clone().enumerate() {
            let at_ns = self.shared.job.joins_at_ns(tid).unwrap_or(0);
            self.wake_at(slot, from_ns.saturating_add(at_ns));
        }
    }
}
