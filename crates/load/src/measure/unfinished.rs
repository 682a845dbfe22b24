//! Events that are in flight or due when a job ends. Only a lower bound of their latency is known: their age
//! (right-censored observations).

use crate::measure::latency::Latency;
use crate::schedule::arrivals::Schedule;
use crate::schedule::control::{Control, Window};

#[derive(Clone, Debug, Default)]
pub(crate) struct Unfinished {
    /// Ages of events that had begun and were abandoned. An event's age is measured when the event is abandoned.
    pub(crate) in_flight: Latency,
    /// Ages of due events that had not begun at the end of the measured time.
    pub(crate) waiting: Latency,
}

/// The events that became due in a slice at a rate and had not begun at the slice's end.
#[derive(Clone, Debug, Default)]
pub(crate) struct Left {
    /// Ages of events that became due in the slice's measured time and had not begun at its end.
    pub(crate) waiting: Latency,
    /// Number of events that had not begun at the slice's end, including those that became due in the lead.
    pub(crate) backlog: u64,
}

impl Left {
    /// Returns the events of a slice's schedule that had not begun at the slice's end. Events that became due in the
    /// lead are counted, but their ages are not recorded.
    pub(crate) fn of(schedule: &mut Schedule, window: &Window) -> Self {
        let mut left = Self::default();
        let counted_ns = window.to_ns.saturating_sub(window.from_ns);
        schedule.take_ages_ns(window.to_ns, |age_ns| {
            left.backlog += 1;
            if age_ns <= counted_ns {
                left.waiting.record_ns(age_ns);
            }
        });
        left
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.waiting.merge(&other.waiting);
        self.backlog += other.backlog;
    }
}

impl Unfinished {
    /// The events of a schedule that will never begin; empty if the job ended because its number of events was
    /// reached.
    pub(crate) fn of_schedule(schedule: &mut Schedule, control: &Control) -> Self {
        let mut unfinished = Self::default();
        if !control.is_spent() {
            schedule.take_ages_ns(control.stopped_ns(), |age_ns| unfinished.waiting.record_ns(age_ns));
        }
        unfinished
    }

    /// Adds an event that was due or began at `since_ns` and is abandoned at `now_ns`. Both are in ns since the load
    /// began.
    pub(crate) fn abandon(&mut self, since_ns: u64, now_ns: u64) {
        self.in_flight.record_ns(now_ns.saturating_sub(since_ns));
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.in_flight.merge(&other.in_flight);
        self.waiting.merge(&other.waiting);
    }

    /// All ages.
    pub(crate) fn ages(&self) -> Latency {
        let mut ages = self.waiting.clone();
        ages.merge(&self.in_flight);
        ages
    }
}
