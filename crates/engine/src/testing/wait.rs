//! Waits for events that take a moment, such as the death of a process.

use std::thread;
use std::time::{Duration, Instant};

/// Time limit, so that a broken test does not wait for ever.
const PATIENCE: Duration = Duration::from_secs(30);

/// Waits until a condition is true.
///
/// # Panics
/// The condition is still false after 30 s.
pub fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < deadline, "{what}: still not so");
        thread::sleep(Duration::from_millis(10));
    }
}
