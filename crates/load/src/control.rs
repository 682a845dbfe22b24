//! What all workers of a job share: where it stands, when it began, whether more events may start.

use std::sync::atomic::{AtomicI64, AtomicU8, Ordering};
use std::sync::{Condvar, Mutex, OnceLock, PoisonError};
use std::time::Instant;

use crate::io::Waker;

/// Where a job stands. It only moves forward.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Phase {
    /// Connections are being opened and initialised.
    Preparing,
    /// Events are run.
    Running,
    /// No new event begins; those under way may end.
    Stopping,
    /// Everything is dropped where it stands.
    Aborting,
}

#[derive(Debug)]
pub(crate) struct Control {
    phase: AtomicU8,
    changing: Mutex<()>,
    changed: Condvar,
    epoch: OnceLock<Instant>,
    /// Of loops that wait for sockets.
    wakers: Mutex<Vec<Waker>>,
    events_left: Option<AtomicI64>,
}

impl Control {
    pub(crate) fn new(events: Option<u64>) -> Self {
        Self {
            phase: AtomicU8::new(Phase::Preparing as u8),
            changing: Mutex::new(()),
            changed: Condvar::new(),
            epoch: OnceLock::new(),
            wakers: Mutex::default(),
            events_left: events.map(|events| AtomicI64::new(i64::try_from(events).unwrap_or(i64::MAX))),
        }
    }

    pub(crate) fn phase(&self) -> Phase {
        match self.phase.load(Ordering::Acquire) {
            0 => Phase::Preparing,
            1 => Phase::Running,
            2 => Phase::Stopping,
            _ => Phase::Aborting,
        }
    }

    /// Moves on to `phase`, unless the job is further already.
    pub(crate) fn advance(&self, phase: Phase) {
        let _guard = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        if phase == Phase::Running {
            self.epoch.get_or_init(Instant::now);
        }
        self.phase.fetch_max(phase as u8, Ordering::Release);
        self.changed.notify_all();
        self.wake_loops();
    }

    fn wake_loops(&self) {
        for waker in self.wakers.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            waker.wake();
        }
    }

    /// Wakes a loop each time that the job moves on, and when its last event has been taken.
    pub(crate) fn wake_too(&self, waker: Waker) {
        self.wakers.lock().unwrap_or_else(PoisonError::into_inner).push(waker);
    }

    /// Blocks until the job is past [`Phase::Preparing`].
    pub(crate) fn wait_for_start(&self) {
        let mut guard = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        while self.phase() == Phase::Preparing {
            guard = self.changed.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// When the load began; now, where it has not.
    pub(crate) fn epoch(&self) -> Instant {
        self.epoch.get().copied().unwrap_or_else(Instant::now)
    }

    /// Whether another event may begin, as far as is known.
    pub(crate) fn has_events(&self) -> bool {
        self.phase() == Phase::Running && !self.is_spent()
    }

    /// Whether as many events have been taken as the job may run.
    pub(crate) fn is_spent(&self) -> bool {
        self.events_left.as_ref().is_some_and(|left| left.load(Ordering::Relaxed) <= 0)
    }

    /// Takes one event from what the job may run; false when there is none left or the job is ending.
    pub(crate) fn take_event(&self) -> bool {
        if self.phase() != Phase::Running {
            return false;
        }
        let Some(left) = &self.events_left else { return true };
        let left = left.fetch_sub(1, Ordering::Relaxed);
        if left == 1 {
            self.wake_loops();
        }
        left > 0
    }
}
