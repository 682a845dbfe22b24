//! A job whose connections join over time: nothing happens until the order to measure.

use std::sync::mpsc::RecvTimeoutError;

use super::{POLL, Run};
use crate::frame::Order;
use crate::reporter::Reporter;

impl Run<'_> {
    /// Waits for the order, from which joins are timed; false if the job ended before.
    pub(super) fn wait_to_measure(&mut self, reporter: &mut Reporter) -> bool {
        while self.going() && self.ended < self.plan.workers.len() {
            match self.orders.recv_timeout(POLL) {
                Ok(Order::Measure) => {
                    self.shared.control.begin_joins();
                    // Ends the interval of the wait, which counts as warm-up.
                    reporter.tick();
                    return true;
                }
                Ok(Order::Slice(_)) => {
                    self.fail("a job that is not in slices was ordered to run one".to_owned());
                }
                Err(RecvTimeoutError::Timeout) => self.take_messages(),
                Err(RecvTimeoutError::Disconnected) => return false,
            }
        }
        false
    }
}
