//! A job whose connections join over time: nothing happens until the order to measure.

use super::Run;
use crate::measure::reporter::Reporter;
use crate::protocol::frame::Order;

impl Run<'_> {
    /// Waits for the order that starts the clock of joins; false if the job ended before.
    pub(super) fn wait_to_measure(&mut self, reporter: &mut Reporter) -> bool {
        if !self.wait_for(Order::Measure) {
            return false;
        }
        self.shared.control.begin_joins();
        // Ends the interval of the wait, which counts as warm-up.
        reporter.tick();
        true
    }
}
