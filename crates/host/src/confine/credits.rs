//! Volumes with burst credits: their limit is higher while they have credits.
//!
//! The model is that of burstable cloud volumes ("I/O credits and burst performance" in the guide of Amazon EBS,
//! section on gp2). A volume earns credits at its baseline rate up to a maximum, and each operation costs one credit.
//! While the volume has credits, it may work at the burst rate.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use super::IoLimits;
use super::cgroup::{Cgroup, IoCounts};

/// Time between two changes of the limit. The kernel releases waiting operations only about every tenth of a
/// second.
const PERIOD: Duration = Duration::from_millis(250);

/// A balance of credits.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Credits {
    baseline_iops: f64,
    burst_iops: f64,
    max: f64,
    balance: f64,
}

impl Credits {
    /// A full balance.
    pub(super) fn full(baseline_iops: u64, burst_iops: u64, max: u64) -> Self {
        Self {
            baseline_iops: baseline_iops as f64,
            burst_iops: burst_iops as f64,
            max: max as f64,
            balance: max as f64,
        }
    }

    /// Adds the credits that the volume earns in `seconds`, and subtracts one credit for each of the `operations`.
    fn pass(&mut self, seconds: f64, operations: u64) {
        let earned = self.baseline_iops * seconds - operations as f64;
        self.balance = (self.balance + earned).clamp(0.0, self.max);
    }

    /// The number of operations per second that the balance allows during a period.
    fn iops(&self, period: Duration) -> u64 {
        let allowed = self.baseline_iops + self.balance / period.as_secs_f64();
        allowed.clamp(self.baseline_iops, self.burst_iops) as u64
    }
}

/// A volume's credits, and the thread that adjusts the volume's limit to them.
#[derive(Debug)]
pub(super) struct Burst {
    credits: Arc<Mutex<Credits>>,
    thread: Mutex<Option<LimitThread>>,
}

#[derive(Debug)]
struct LimitThread {
    stop: Sender<()>,
    thread: JoinHandle<()>,
}

impl Burst {
    pub(super) fn new(credits: Credits) -> Self {
        Self { credits: Arc::new(Mutex::new(credits)), thread: Mutex::new(None) }
    }

    /// The limits that the balance allows now.
    pub(super) fn limits(&self, configured: &IoLimits) -> IoLimits {
        with_iops(configured, self.credits.lock().unwrap_or_else(PoisonError::into_inner).iops(PERIOD))
    }

    /// Adjusts the limits of a device (`MAJOR:MINOR`) to the balance until [`Self::stop`].
    pub(super) fn start(&self, cgroup: Cgroup, device: String, configured: IoLimits) {
        let (stop, stopped) = channel();
        let credits = Arc::clone(&self.credits);
        let thread = thread::spawn(move || adjust(&credits, &cgroup, &device, &configured, &stopped));
        self.replace(Some(LimitThread { stop, thread }));
    }

    /// Ends the thread. The balance does not change until the next [`Self::start`].
    pub(super) fn stop(&self) {
        self.replace(None);
    }

    fn replace(&self, next: Option<LimitThread>) {
        let mut thread = self.thread.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(before) = std::mem::replace(&mut *thread, next) {
            drop(before.stop);
            // A thread that panicked is ignored. The limit that it set last stays in force.
            let _ = before.thread.join();
        }
    }
}

impl Drop for Burst {
    fn drop(&mut self) {
        self.stop();
    }
}

fn with_iops(configured: &IoLimits, iops: u64) -> IoLimits {
    IoLimits { read_iops: Some(iops), write_iops: Some(iops), ..configured.clone() }
}

/// Updates the balance and the limit once per period, until the other end of the channel is dropped.
fn adjust(
    credits: &Mutex<Credits>,
    cgroup: &Cgroup,
    device: &str,
    configured: &IoLimits,
    stopped: &Receiver<()>,
) {
    let operations = || cgroup.io_counts(device).map(|IoCounts { reads, writes }| reads + writes);
    let (mut before, mut since) = (operations().unwrap_or(0), Instant::now());
    let mut limit = None;
    while stopped.recv_timeout(PERIOD) == Err(RecvTimeoutError::Timeout) {
        // A failed reading is skipped. The next reading includes its operations.
        let now = operations().unwrap_or(before);
        let iops = {
            let mut credits = credits.lock().unwrap_or_else(PoisonError::into_inner);
            credits.pass(since.elapsed().as_secs_f64(), now.saturating_sub(before));
            credits.iops(PERIOD)
        };
        (before, since) = (now, Instant::now());
        // If the kernel refuses, the old limit stays in force, and the trial's check of limits shows the
        // difference.
        if limit != Some(iops) && cgroup.limit_io(device, &with_iops(configured, iops)).is_ok() {
            limit = Some(iops);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_volume_bursts_until_its_credits_are_spent_and_saves_while_it_rests() {
        let mut credits = Credits::full(300, 3000, 5400);
        let second = Duration::from_secs(1);
        assert_eq!(credits.iops(second), 3000);
        // In each second, the volume spends 2700 credits more than it earns.
        credits.pass(1.0, 3000);
        assert_eq!(credits.iops(second), 3000);
        credits.pass(1.0, 3000);
        assert_eq!(credits.iops(second), 300);
        credits.pass(1.0, 300);
        assert_eq!(credits.iops(second), 300);
        credits.pass(4.0, 0);
        assert_eq!(credits.iops(second), 1500);
        credits.pass(1e6, 0);
        assert_eq!(credits, Credits::full(300, 3000, 5400));
    }
}
