//! Times during which a script kept an event loop from its other connections.

/// Stretches of work shorter than this, in ns, are not examined.
const LONG_NS: u64 = 10_000_000;
/// Time between readings of the thread's usage. Each reading is a system call.
const READ_EVERY_NS: u64 = 5_000_000;

/// Finds the longest time for which the thread ran or blocked between two readings of the clock. Time in which the
/// thread only waited for a CPU does not count, because on a busy machine the kernel may run hundreds of server threads
/// first.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stalls {
    longest_ns: u64,
    /// The most recent reading of the usage. `read_ns` is the time of this reading.
    usage: ThreadUsage,
    read_ns: u64,
}

/// Usage of the calling thread so far.
#[derive(Clone, Copy, Debug, Default)]
struct ThreadUsage {
    cpu_ns: u64,
    /// Number of times that the kernel preempted the thread.
    preemptions: i64,
}

impl Stalls {
    /// Records a stretch in which the loop was busy with one connection.
    pub(super) fn passed(&mut self, from_ns: u64, to_ns: u64) {
        let length_ns = to_ns.saturating_sub(from_ns);
        if length_ns <= LONG_NS.max(self.longest_ns) {
            if to_ns.saturating_sub(self.read_ns) > READ_EVERY_NS {
                self.read(to_ns);
            }
            return;
        }
        let (before, before_ns) = (self.usage, self.read_ns);
        self.read(to_ns);
        let stalled_ns = if self.usage.preemptions == before.preemptions {
            length_ns
        } else {
            // The CPU time since the previous reading may include CPU time before the stretch. That part is at most the
            // time between the reading and the stretch, so this time is subtracted.
            let cpu_ns = self.usage.cpu_ns.saturating_sub(before.cpu_ns);
            cpu_ns.saturating_sub(from_ns.saturating_sub(before_ns)).min(length_ns)
        };
        self.longest_ns = self.longest_ns.max(stalled_ns);
    }

    pub(super) fn longest_us(&self) -> u64 {
        self.longest_ns / 1000
    }

    fn read(&mut self, now_ns: u64) {
        self.usage = ThreadUsage::now();
        self.read_ns = now_ns;
    }
}

impl ThreadUsage {
    fn now() -> Self {
        // SAFETY: an all-zero rusage is a valid value of that plain C structure.
        let mut raw: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: `raw` lives through the call, which only writes to it.
        if unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut raw) } != 0 {
            return Self::default();
        }
        let ns = |time: libc::timeval| time.tv_sec as u64 * 1_000_000_000 + time.tv_usec as u64 * 1000;
        Self { cpu_ns: ns(raw.ru_utime) + ns(raw.ru_stime), preemptions: raw.ru_nivcsw }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    #[test]
    fn a_stretch_that_blocks_counts_and_short_ones_do_not() {
        let mut stalls = Stalls::default();
        let began = Instant::now();
        let ns = || began.elapsed().as_nanos() as u64;
        stalls.passed(0, ns());
        stalls.passed(0, LONG_NS);
        assert_eq!(stalls.longest_us(), 0);
        let from_ns = ns();
        std::thread::sleep(Duration::from_millis(30));
        stalls.passed(from_ns, ns());
        let blocked_us = stalls.longest_us();
        // Usually the whole 30 ms count. But if the kernel preempted the thread meanwhile, only its CPU time counts,
        // which is short.
        assert!(!(10_000..30_000).contains(&blocked_us), "{blocked_us}");
    }
}
