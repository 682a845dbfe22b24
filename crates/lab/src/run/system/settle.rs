//! Waits until freshly started servers are at rest.
//!
//! A server that answers has not finished its start: MySQL 8.0 writes some 70 MB in the following 4 s. Of
//! four instances of MySQL 9.7 that were measured right after their start, the youngest was 7% slower in the
//! first step than the oldest.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::slot::SystemSlot;
use crate::run::record::Activity;

/// Time between two looks at the servers.
const WINDOW: Duration = Duration::from_millis(250);
/// A server is at rest after this many quiet windows. Together they are longer than a second, because
/// background threads of InnoDB work once a second.
const QUIET_WINDOWS: u32 = 5;
/// In a quiet window a server uses less of a core than this share. Idle ones use up to 5%.
const CPU_SHARE_MAX: f64 = 0.1;
/// In a quiet window a server writes no more than this.
const WRITE_BYTES_MAX: u64 = 64 << 10;

/// A server that is being waited for.
struct Unsettled<'a, 'b> {
    slot: &'a mut SystemSlot<'b>,
    activity: Activity,
    quiet_windows: u32,
}

/// Waits until the systems that were started since the last call are at rest, or the user stops the run. A server that
/// still works after `seconds_max`, for example because it has many dirty pages, is measured anyway.
pub(crate) fn settle<'a, 'b: 'a>(
    slots: impl Iterator<Item = &'a mut SystemSlot<'b>>,
    seconds_max: f64,
    stop: &AtomicBool,
) {
    let began = Instant::now();
    let mut unsettled: Vec<Unsettled<'a, 'b>> = slots.filter_map(unsettled).collect();
    while !unsettled.is_empty()
        && began.elapsed().as_secs_f64() < seconds_max
        && !stop.load(Ordering::Relaxed)
    {
        thread::sleep(WINDOW);
        unsettled.retain_mut(|server| {
            server.slot.instance.settle_seconds = began.elapsed().as_secs_f64();
            server.is_working()
        });
    }
}

/// `None` for a system that has settled already, or that has no process of its own.
fn unsettled<'a, 'b>(slot: &'a mut SystemSlot<'b>) -> Option<Unsettled<'a, 'b>> {
    if std::mem::replace(&mut slot.is_settled, true) {
        return None;
    }
    let activity = Activity::of(slot.system().ok()?.work())?;
    Some(Unsettled { slot, activity, quiet_windows: 0 })
}

impl Unsettled<'_, '_> {
    /// Whether to wait longer for the server. There is no wait for a server that has died.
    fn is_working(&mut self) -> bool {
        let Some((cpu_us, write_bytes)) = self.activity.since_last() else { return false };
        let cpu_share = cpu_us as f64 / WINDOW.as_micros() as f64;
        let is_quiet = cpu_share <= CPU_SHARE_MAX && write_bytes <= WRITE_BYTES_MAX;
        self.quiet_windows = if is_quiet { self.quiet_windows + 1 } else { 0 };
        self.quiet_windows < QUIET_WINDOWS
    }
}
