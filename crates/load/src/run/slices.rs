//! Runs a job in slices. A slice begins with an order, and ends when no connection has an event in flight any more.

use std::sync::PoisonError;
use std::sync::mpsc::RecvTimeoutError;
use std::time::{Duration, Instant};

use super::{POLL, Run};
use crate::machine::usage;
use crate::measure::reporter::Reporter;
use crate::measure::unfinished::Left;
use crate::protocol::frame::{Frame, Order, SliceOrder};
use crate::schedule::control::Window;

impl Run<'_> {
    /// Runs slices until there are no more orders.
    pub(super) fn run_slices(&mut self, reporter: &mut Reporter) {
        reporter.begin_measuring();
        (self.sink)(Frame::Measuring);
        let mut number = 0;
        while self.going() && self.ended < self.plan.workers.len() {
            match self.orders.recv_timeout(POLL) {
                Ok(Order::Slice(order)) => {
                    number += 1;
                    self.run_slice(number, order, reporter);
                }
                Ok(Order::Begin | Order::Measure) => {
                    self.fail("a job in slices was ordered to run all the time".to_owned());
                }
                Err(RecvTimeoutError::Timeout) => self.take_messages(),
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    fn run_slice(&mut self, number: u32, order: SliceOrder, reporter: &mut Reporter) {
        let used = usage::now();
        let began = Instant::now();
        let epoch = self.shared.control.epoch();
        let since_epoch = |at: Instant| at.saturating_duration_since(epoch);
        let ns = |seconds: f64| Duration::try_from_secs_f64(seconds).unwrap_or_default().as_nanos() as u64;
        let start_ns = since_epoch(began).as_nanos() as u64;
        let from_ns = start_ns + ns(order.lead_seconds);
        let to_ns = from_ns + ns(order.seconds);
        let bin_ns = order.bin_seconds.map_or(0, ns);
        let window = Window { number, start_ns, from_ns, to_ns, bin_ns, rate: order.rate };
        self.set_schedule(window);
        self.rested = 0;
        self.shared.control.open_window(window);
        let workers = self.plan.workers.len();
        while self.rested + self.ended < workers && self.going() {
            self.listen_until(Instant::now() + POLL);
        }
        if self.going() {
            self.leave_waiting(window);
            let paced_seconds = order.rate.map(|_| order.seconds);
            let usage = usage::now().since(used);
            let slice = reporter.slice(from_ns / 1000, self.connections(), paced_seconds, usage);
            (self.sink)(Frame::Slice(slice));
        }
    }

    /// Sets the schedule of a slice's events. Workers that are threads share this schedule. Event loops have their own
    /// schedules.
    fn set_schedule(&self, window: Window) {
        let shared = &self.shared;
        *shared.slice_schedule.lock().unwrap_or_else(PoisonError::into_inner) =
            window.schedule(1.0, shared.job.seed.wrapping_add(1));
    }

    /// Records the due events that threads did not begin. Event loops record such events themselves.
    fn leave_waiting(&self, window: Window) {
        let schedule = self.shared.slice_schedule.lock().unwrap_or_else(PoisonError::into_inner).take();
        let recorder = self.plan.workers.first().map(|worker| &worker.recorder);
        if let (Some(mut schedule), Some(recorder), false) = (schedule, recorder, self.plan.event_loops) {
            recorder.leave(&Left::of(&mut schedule, &window));
        }
    }

    /// Handles the messages that workers have sent so far, without waiting.
    pub(super) fn take_messages(&mut self) {
        while let Ok(message) = self.messages.try_recv() {
            self.on_message(message);
        }
    }
}
