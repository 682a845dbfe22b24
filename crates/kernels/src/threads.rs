//! `threads`: an event gives the CPU away again and again, with a lock in its hands.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use crate::Event;

/// Locks that threads share. Each event has the next one in turn.
#[derive(Debug)]
pub struct YieldLocks {
    locks: Vec<Mutex<()>>,
    events: AtomicU64,
}

impl YieldLocks {
    /// As many locks, at least one.
    pub fn new(number: u64) -> Self {
        Self { locks: (0..number.max(1)).map(|_| Mutex::new(())).collect(), events: AtomicU64::new(0) }
    }
}

/// Takes the event's lock, yields and gives the lock back, as often as `yields` says.
pub fn threads_event(locks: Arc<YieldLocks>, yields: u64) -> Event {
    Box::new(move || {
        let number = locks.events.fetch_add(1, Ordering::Relaxed);
        let lock = &locks.locks[(number % locks.locks.len() as u64) as usize];
        for _ in 0..yields {
            let _held = lock.lock().unwrap_or_else(PoisonError::into_inner);
            std::thread::yield_now();
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_of_all_threads_take_turns_at_the_locks() {
        let locks = Arc::new(YieldLocks::new(2));
        let held = locks.locks[1].lock().unwrap();
        threads_event(Arc::clone(&locks), 3)();
        drop(held);
        threads_event(Arc::clone(&locks), 3)();
        assert_eq!(locks.events.load(Ordering::Relaxed), 2);
    }
}
