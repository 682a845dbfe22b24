//! Orders for which a job waits.

use std::sync::mpsc::RecvTimeoutError;

use super::{POLL, Run};
use crate::protocol::frame::Order;

impl Run<'_> {
    /// Waits for the order `awaited`. Returns false if the job ended before the order came. Any other order makes the
    /// job fail.
    pub(super) fn wait_for(&mut self, awaited: Order) -> bool {
        while self.going() && self.ended < self.plan.workers.len() {
            match self.orders.recv_timeout(POLL) {
                Ok(order) if order == awaited => return true,
                Ok(_) => self.fail("the job was given an order that it does not wait for".to_owned()),
                Err(RecvTimeoutError::Timeout) => self.take_messages(),
                Err(RecvTimeoutError::Disconnected) => return false,
            }
        }
        false
    }
}
