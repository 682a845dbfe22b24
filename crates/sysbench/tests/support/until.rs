//! Calls that are stopped.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::support::{Outcome, sysbench_until};

/// Calls the command, and stops it once the script has made a file.
pub(crate) fn sysbench_until_there_is(file: &Path, arguments: &[&[&str]]) -> Outcome {
    let (stop, ended) = (AtomicBool::new(false), AtomicBool::new(false));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            while !file.exists() && !ended.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_millis(5));
            }
            stop.store(true, Ordering::Relaxed);
        });
        let outcome = sysbench_until(&stop, arguments);
        ended.store(true, Ordering::Relaxed);
        outcome
    })
}
