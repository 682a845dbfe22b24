//! Runs events in slices. Events begin when a slice is ordered, and each record belongs to the part of the slice in
//! which it was made. After a slice, no task runs events.

use dyno_script::Probe;

use super::{EventLoop, LoopError};
use crate::measure::unfinished::Left;

impl<P: Probe> EventLoop<'_, P> {
    /// If the next part of the slice has begun, enters that part: later records belong to it.
    pub(super) fn pass_edge(&mut self) {
        if self.clock_ns >= self.edge_ns {
            self.enter_part();
        }
    }

    fn enter_part(&mut self) {
        let window = self.window;
        self.batch.enter(window.part(self.clock_ns), &self.assignment.recorder);
        self.edge_ns = if window.from_ns > self.clock_ns { window.from_ns } else { u64::MAX };
    }

    /// Begins a slice that was ordered. In a closed loop, every waiting task gets an event.
    pub(super) fn take_up_slice(&mut self) -> Result<(), LoopError> {
        let Some(window) = self.shared.control.window_after(self.window.number) else { return Ok(()) };
        self.window = window;
        self.rested = false;
        self.read_clock();
        self.enter_part();
        self.schedule = window.schedule(self.share(), self.seed());
        if self.schedule.is_some() {
            // At a rate, events begin when they are due.
            return Ok(());
        }
        for _ in 0..self.idle.len() {
            let Some(slot) = self.idle.pop_front() else { break };
            self.read_clock();
            if self.clock_ns >= self.window.to_ns || !self.shared.control.take_event() {
                self.idle.push_front(slot);
                // The slice's time was over before all tasks had begun an event. For each remaining task, the whole
                // measured time counts.
                let idle_ns = self.window.counted_ns(self.window.to_ns) * self.idle.len() as u64;
                self.batch.rests(idle_ns);
                break;
            }
            self.begin_event(slot as usize, self.clock_ns)?;
        }
        Ok(())
    }

    /// Ends the arrivals of a slice at a rate. Called when the slice's time is over. Waiting events never begin.
    pub(super) fn end_arrivals(&mut self) {
        if let Some(mut schedule) = self.schedule.take() {
            self.assignment.recorder.leave(&Left::of(&mut schedule, &self.window));
        }
    }

    /// Reports the end of the slice once its time is over and no event is in flight.
    pub(super) fn end_slice(&mut self) {
        if !self.rested && self.active == 0 && self.now_ns() >= self.window.to_ns {
            self.rested = true;
            self.end_arrivals();
            self.shared.say(super::Message::Rested);
        }
    }
}
