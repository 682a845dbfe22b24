//! How long an idle core takes to run what is woken on it.

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// A core that has had nothing to do for this long is as idle as it gets between two requests of one client.
const REST: Duration = Duration::from_micros(500);
const WAKE_UPS: u32 = 41;

/// The time from waking a thread on an idle core until it runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WakeUp {
    /// Median, in µs.
    pub median_us: u64,
    /// How many were measured.
    pub count: u32,
}

/// Wakes a thread that waits, again and again. Takes some 30 ms on an idle host.
pub(super) fn measure() -> Option<WakeUp> {
    let (begins, waiting) = mpsc::channel::<Instant>();
    let (done, times) = mpsc::channel::<u64>();
    let sleeper = thread::Builder::new().name("wake-up".to_owned()).spawn(move || {
        for begin in waiting {
            // Who asked is gone when it has given up.
            let _ = done.send(begin.elapsed().as_micros() as u64);
        }
    });
    let sleeper = sleeper.ok()?;
    let mut times_us: Vec<u64> = (0..WAKE_UPS)
        .filter_map(|_| {
            thread::sleep(REST);
            begins.send(Instant::now()).ok()?;
            times.recv().ok()
        })
        .collect();
    drop(begins);
    sleeper.join().ok()?;
    times_us.sort_unstable();
    let median_us = *times_us.get(times_us.len() / 2)?;
    Some(WakeUp { median_us, count: times_us.len() as u32 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_wake_up_is_measured() {
        let wake_up = measure().unwrap();
        assert_eq!(wake_up.count, WAKE_UPS);
    }
}
