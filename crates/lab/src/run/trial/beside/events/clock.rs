//! The clock of a trial's events: when measuring began, and whether events must end now.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Longest wait until the flags are checked again.
const GLANCE: Duration = Duration::from_millis(20);

#[derive(Debug, Default)]
pub(super) struct Clock {
    began: Mutex<Option<Instant>>,
    changed: Condvar,
    /// Whether the step's time is over. This ends the events that do not outlast the step.
    is_over: AtomicBool,
    /// Whether the trial was aborted. This ends all events.
    is_aborted: AtomicBool,
}

impl Clock {
    /// Starts the clock.
    pub(super) fn begin(&self, at: Instant) {
        self.began.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(at);
        self.changed.notify_all();
    }

    pub(super) fn end_step(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    pub(super) fn abort(&self) {
        self.is_aborted.store(true, Ordering::Relaxed);
        self.end_step();
        self.changed.notify_all();
    }

    pub(super) fn is_aborted(&self) -> bool {
        self.is_aborted.load(Ordering::Relaxed)
    }

    /// Returns the flag that ends an event. `until_done` means that the step waits for the event.
    pub(super) fn end_of(&self, until_done: bool) -> &AtomicBool {
        if until_done { &self.is_aborted } else { &self.is_over }
    }

    /// When measuring began; `None` if it has not begun.
    pub(super) fn began(&self) -> Option<Instant> {
        *self.began.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until measuring begins, and returns the time at which it began. Returns `None` if the trial ends first.
    pub(super) fn wait_to_begin(&self) -> Option<Instant> {
        let mut began = self.began.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            if self.is_over.load(Ordering::Relaxed) {
                return None;
            }
            if let Some(began) = *began {
                return Some(began);
            }
            began = self.changed.wait_timeout(began, GLANCE).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// Sleeps until a moment. Returns false if the flag was set before that moment.
pub(super) fn sleep_until(at: Instant, end: &AtomicBool) -> bool {
    loop {
        if end.load(Ordering::Relaxed) {
            return false;
        }
        let left = at.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return true;
        }
        std::thread::sleep(left.min(GLANCE));
    }
}
