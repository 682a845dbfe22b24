//! Waits until freshly started servers are at rest.
//!
//! A server that already answers may not have finished its start. MySQL 8.0, for example, writes about 70 MB in the 4
//! s after its first answer. When four instances of MySQL 9.7 were measured right after their start, the youngest was
//! 7% slower in the first step than the oldest.

use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use super::slot::SystemSlot;
use crate::run::record::Activity;

/// Length of a window: the time between two readings of the servers' activity.
const WINDOW: Duration = Duration::from_millis(250);
/// A server is at rest after this many consecutive quiet windows. Together they are longer than a second, because
/// background threads of InnoDB work once a second.
const QUIET_WINDOWS: u32 = 5;
/// In a quiet window, a server uses at most this share of a core. Idle servers use up to 5%.
const CPU_SHARE_MAX: f64 = 0.1;
/// In a quiet window, a server writes at most this many bytes.
const WRITE_BYTES_MAX: u64 = 64 << 10;

/// A server that is not at rest yet.
struct Unsettled<'a, 'b> {
    slot: &'a mut SystemSlot<'b>,
    activity: Activity,
    quiet_windows: u32,
}

/// Waits until the systems that were started since the last call are at rest, or until the user stops the run. If a
/// server still works after `seconds_max`, for example because it has many dirty pages, it is measured anyway.
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

/// Returns `None` for a system that has settled already, or that has no process of its own.
fn unsettled<'a, 'b>(slot: &'a mut SystemSlot<'b>) -> Option<Unsettled<'a, 'b>> {
    if std::mem::replace(&mut slot.is_settled, true) {
        return None;
    }
    let activity = Activity::of(slot.system().ok()?.work())?;
    Some(Unsettled { slot, activity, quiet_windows: 0 })
}

impl Unsettled<'_, '_> {
    /// Whether the server is still working. A server that has died is not waited for.
    fn is_working(&mut self) -> bool {
        let Some((cpu_us, write_bytes)) = self.activity.since_last() else { return false };
        let cpu_share = cpu_us as f64 / WINDOW.as_micros() as f64;
        let is_quiet = cpu_share <= CPU_SHARE_MAX && write_bytes <= WRITE_BYTES_MAX;
        self.quiet_windows = if is_quiet { self.quiet_windows + 1 } else { 0 };
        self.quiet_windows < QUIET_WINDOWS
    }
}
