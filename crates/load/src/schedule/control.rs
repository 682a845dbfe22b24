//! The phase of a job, which all workers share: when the job began, and whether more events may begin.

use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU8, AtomicU32, Ordering};
use std::sync::{Condvar, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use crate::io::Waker;
use crate::measure::recorder::Part;
use crate::schedule::arrivals::{Rate, Schedule};

/// Longest wait before a condition is checked again, if nobody knows in advance when the condition becomes true.
const LONGEST_WAIT: Duration = Duration::from_secs(1);

/// The phase of a job. It only moves forward.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Phase {
    /// Connections are being opened and initialised.
    Preparing,
    Running,
    /// No new event begins, but events in flight may end.
    Stopping,
    /// Everything is aborted.
    Aborting,
}

/// The time of a slice, in ns since the load began.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Window {
    /// Number of the slice, from 1; 0 before the first slice.
    pub(crate) number: u32,
    pub(crate) start_ns: u64,
    /// End of the lead, where the measured time begins.
    pub(crate) from_ns: u64,
    /// End of the measured time, after which no event begins.
    pub(crate) to_ns: u64,
    /// Length of a bin; 0 for no bins.
    pub(crate) bin_ns: u64,
    /// Events that become due per second over all connections; `None` for a closed loop.
    pub(crate) rate: Option<f64>,
}

impl Window {
    /// The endless slice of a job without slices.
    pub(crate) const ENDLESS: Self =
        Self { number: 0, start_ns: 0, from_ns: 0, to_ns: u64::MAX, bin_ns: 0, rate: None };

    /// The schedule of events for the given share of the load's connections; `None` for a closed loop. In each slice,
    /// the arrivals are different.
    pub(crate) fn schedule(&self, share: f64, seed: u64) -> Option<Schedule> {
        let seed = seed.wrapping_add(u64::from(self.number) << 32);
        Some(Schedule::beginning_at(self.start_ns, Rate::steady(self.rate?), share, seed))
    }

    /// The part of the slice in which a time lies.
    pub(crate) fn part(&self, at_ns: u64) -> Part {
        if at_ns < self.from_ns { Part::Lead } else { Part::Counted }
    }

    /// The share of an event's time that lies in the measured time.
    pub(crate) fn share(&self, began_ns: u64, ended_ns: u64) -> f64 {
        if began_ns >= self.from_ns {
            return 1.0;
        }
        ended_ns.saturating_sub(self.from_ns) as f64 / ended_ns.saturating_sub(began_ns).max(1) as f64
    }

    /// Time from the end of the slice's lead until `at_ns`; zero before the first slice.
    pub(crate) fn counted_ns(&self, at_ns: u64) -> u64 {
        if self.number == 0 { 0 } else { at_ns.saturating_sub(self.from_ns) }
    }

    /// The bin in which a time lies; `None` if the slice has no bins.
    pub(crate) fn bin(&self, at_ns: u64) -> Option<usize> {
        let since_ns = at_ns.saturating_sub(self.start_ns);
        since_ns.checked_div(self.bin_ns).map(|bin| bin as usize)
    }
}

#[derive(Debug)]
pub(crate) struct Control {
    phase: AtomicU8,
    changing: Mutex<()>,
    changed: Condvar,
    epoch: OnceLock<Instant>,
    /// When [`Phase::Stopping`] began.
    stopped: OnceLock<Instant>,
    /// Wakers of event loops.
    wakers: Mutex<Vec<Waker>>,
    events_left: Option<AtomicI64>,
    /// Whether events are subtracted from `events_left`. This is not so during a warm-up.
    counts_down: AtomicBool,
    /// The current slice, or the previous one while no slice runs; `None` for a job without slices.
    window: Option<Mutex<Window>>,
    /// The number of the slice in `window`. Reading it is cheaper than locking `window`.
    window_number: AtomicU32,
    /// When measuring began, in a job whose connections join over time.
    joins_from: OnceLock<Instant>,
}

impl Control {
    pub(crate) fn new(events: Option<u64>, sliced: bool) -> Self {
        Self {
            phase: AtomicU8::new(Phase::Preparing as u8),
            changing: Mutex::new(()),
            changed: Condvar::new(),
            epoch: OnceLock::new(),
            stopped: OnceLock::new(),
            wakers: Mutex::default(),
            events_left: events.map(|events| AtomicI64::new(i64::try_from(events).unwrap_or(i64::MAX))),
            counts_down: AtomicBool::new(true),
            window: sliced.then(Mutex::default),
            window_number: AtomicU32::new(0),
            joins_from: OnceLock::new(),
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

    /// Advances to `phase`. Does nothing if the job is already in a later phase.
    pub(crate) fn advance(&self, phase: Phase) {
        let _guard = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        if phase == Phase::Running {
            self.epoch.get_or_init(Instant::now);
        }
        if phase >= Phase::Stopping {
            self.stopped.get_or_init(Instant::now);
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

    /// Registers an event loop's waker. The loop is woken when the phase changes, and when the last event has been
    /// taken.
    pub(crate) fn wake_too(&self, waker: Waker) {
        self.wakers.lock().unwrap_or_else(PoisonError::into_inner).push(waker);
    }

    /// Begins the next slice, and wakes the workers that wait for it.
    pub(crate) fn open_window(&self, window: Window) {
        if let Some(current) = &self.window {
            *current.lock().unwrap_or_else(PoisonError::into_inner) = window;
        }
        let _guard = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        self.window_number.store(window.number, Ordering::Release);
        self.changed.notify_all();
        self.wake_loops();
    }

    /// Whether events run in slices only.
    pub(crate) fn is_sliced(&self) -> bool {
        self.window.is_some()
    }

    /// The current slice; `None` if it is the slice with the number `known`, which the caller has already.
    pub(crate) fn window_after(&self, known: u32) -> Option<Window> {
        if self.window_number.load(Ordering::Acquire) == known {
            return None;
        }
        self.window.as_ref().map(|window| *window.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Blocks until a slice other than number `known` begins, and returns it; `None` if the job ends first.
    pub(crate) fn wait_for_window(&self, known: u32) -> Option<Window> {
        let mut guard = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        while self.phase() == Phase::Running && self.window_number.load(Ordering::Acquire) == known {
            guard = self.changed.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
        drop(guard);
        (self.phase() == Phase::Running).then(|| self.window_after(known)).flatten()
    }

    /// Records that measuring begins. Connections join at times that are measured from now.
    pub(crate) fn begin_joins(&self) {
        let _guard = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        self.joins_from.get_or_init(Instant::now);
        self.changed.notify_all();
        self.wake_loops();
    }

    /// The time at which measuring began in a job whose connections join over time, in ns since the load began; `None`
    /// before that.
    pub(crate) fn joins_from_ns(&self) -> Option<u64> {
        let from = self.joins_from.get()?;
        Some(from.saturating_duration_since(self.epoch()).as_nanos() as u64)
    }

    /// Blocks a connection until the time at which it joins, which is `at_ns` after measuring began. Returns false if
    /// the job ends first.
    pub(crate) fn wait_to_join(&self, at_ns: u64) -> bool {
        let mut guard = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        while self.phase() == Phase::Running {
            let left = match self.joins_from.get() {
                None => LONGEST_WAIT,
                Some(from) => Duration::from_nanos(at_ns).saturating_sub(from.elapsed()),
            };
            if left.is_zero() {
                return true;
            }
            guard = self.changed.wait_timeout(guard, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        false
    }

    /// Blocks until the job is past [`Phase::Preparing`].
    pub(crate) fn wait_for_start(&self) {
        let mut guard = self.changing.lock().unwrap_or_else(PoisonError::into_inner);
        while self.phase() == Phase::Preparing {
            guard = self.changed.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// When the load began. Returns the present if it has not begun.
    pub(crate) fn epoch(&self) -> Instant {
        self.epoch.get().copied().unwrap_or_else(Instant::now)
    }

    /// End of the measured time, in ns since the load began. Returns the present if it has not ended.
    pub(crate) fn stopped_ns(&self) -> u64 {
        let stopped = self.stopped.get().copied().unwrap_or_else(Instant::now);
        stopped.saturating_duration_since(self.epoch()).as_nanos() as u64
    }

    /// Sets whether events that begin from now on are subtracted from the limit of events.
    pub(crate) fn count_down(&self, counts: bool) {
        self.counts_down.store(counts, Ordering::Relaxed);
    }

    /// Whether another event may begin.
    pub(crate) fn has_events(&self) -> bool {
        self.phase() == Phase::Running && !self.is_spent()
    }

    /// Whether all events of the job have been taken.
    pub(crate) fn is_spent(&self) -> bool {
        self.events_left.as_ref().is_some_and(|left| left.load(Ordering::Relaxed) <= 0)
    }

    /// Takes one event of the job. Returns false if there are no more events or the job is ending.
    pub(crate) fn take_event(&self) -> bool {
        if self.phase() != Phase::Running {
            return false;
        }
        let Some(left) = self.events_left.as_ref().filter(|_| self.counts_down.load(Ordering::Relaxed))
        else {
            return true;
        };
        let left = left.fetch_sub(1, Ordering::Relaxed);
        if left == 1 {
            self.wake_loops();
        }
        left > 0
    }
}
