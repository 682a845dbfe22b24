//! Runs a job whose connections join over time. No events run until the order to measure.

use super::Run;
use crate::measure::reporter::Reporter;
use crate::protocol::frame::Order;

impl Run<'_> {
    /// Waits for the order to measure. Connections join at times that are measured from that moment. Returns false if
    /// the job ended before the order came.
    pub(super) fn wait_to_measure(&mut self, reporter: &mut Reporter) -> bool {
        if !self.wait_for(Order::Measure) {
            return false;
        }
        self.shared.control.begin_joins();
        // This tick ends the interval in which the job waited. The interval counts as warm-up.
        reporter.tick();
        true
    }
}
