//! `mutex`: an event takes locks of an array, with empty turns before each.

use std::sync::{Arc, Mutex, PoisonError};

use crate::Event;
use crate::barrier::barrier;
use crate::random::Random;

/// Locks that threads share.
#[derive(Debug)]
pub struct Locks(Vec<Mutex<u64>>);

impl Locks {
    /// As many locks, at least one.
    pub fn new(number: u64) -> Self {
        Self((0..number.max(1)).map(|_| Mutex::new(0)).collect())
    }
}

/// Takes `taken` of the locks at random, with `turns` of an empty loop before each.
pub fn mutex_event(locks: Arc<Locks>, taken: u64, turns: u64, seed: u64) -> Event {
    let mut random = Random::new(seed);
    Box::new(move || {
        let locks = &locks.0;
        for _ in 0..taken {
            let lock = &locks[random.below(locks.len() as u64) as usize];
            for _ in 0..turns {
                barrier();
            }
            *lock.lock().unwrap_or_else(PoisonError::into_inner) += 1;
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_locks_are_taken() {
        let locks = Arc::new(Locks::new(3));
        mutex_event(Arc::clone(&locks), 100, 2, 1)();
        let taken: Vec<u64> = locks.0.iter().map(|lock| *lock.lock().unwrap()).collect();
        assert!(taken.iter().sum::<u64>() == 100 && taken.iter().all(|taken| *taken > 0), "{taken:?}");
    }
}
