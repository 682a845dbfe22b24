//! Waiting for what takes a moment, such as a process to die.

use std::thread;
use std::time::{Duration, Instant};

/// Keeps a broken test from waiting for ever.
const PATIENCE: Duration = Duration::from_secs(30);

/// Waits until something is so.
///
/// # Panics
/// It is not so after 30 s.
pub fn wait_until(what: &str, is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + PATIENCE;
    while !is_so() {
        assert!(Instant::now() < deadline, "{what}: still not so");
        thread::sleep(Duration::from_millis(10));
    }
}
