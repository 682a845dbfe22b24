//! Time until an idle core runs a woken thread.

use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

/// Pause before each measurement. After such a time without work, a core is as idle as between two requests of one
/// client.
const REST: Duration = Duration::from_micros(500);
const WAKE_UPS: u32 = 41;

/// The median time from waking a thread on an idle core until the thread runs, in µs. Takes some 30 ms on an idle
/// host.
pub(super) fn median_us() -> Option<u64> {
    let (begins, waiting) = mpsc::channel::<Instant>();
    let (done, times) = mpsc::channel::<u64>();
    let sleeper = thread::Builder::new().name("wake-up".to_owned()).spawn(move || {
        for begin in waiting {
            // An error is ignored: it means that the receiver no longer waits for this value.
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
    times_us.get(times_us.len() / 2).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wake_up_takes_less_than_a_minute() {
        assert!(median_us().is_some_and(|us| us < 60_000_000));
    }
}
