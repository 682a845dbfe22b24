//! Finds out whether all cores that this thread may run on are busy.

use std::fs::File;
use std::os::unix::fs::FileExt as _;
use std::time::Duration;

use rustix::thread::{CpuSet, sched_getaffinity};

/// Time between two readings of the cores' idle times, in ns. The kernel counts these times in hundredths of a second.
const LOOK_EVERY_NS: u64 = 200_000_000;
/// Cores with at most this share of idle time count as busy.
const IDLE_SHARE_MAX: f64 = 0.05;
/// Bounds of the size of the buffer for `/proc/stat`, which has a line for each CPU. The buffer grows if the text does
/// not fit.
const TEXT_BYTES: std::ops::RangeInclusive<usize> = 4 * 1024..=256 * 1024;

/// While all cores are busy, a loop waits until several answers have arrived before it handles them. It waits for a
/// quarter of the answers in flight (1 / `GATHERED_SHARE`), but for at most `GATHERED_MAX`.
const GATHERED_SHARE: u32 = 4;
const GATHERED_MAX: u32 = 32;
/// A loop waits for several answers only if at least this many connections per core wait for an answer. With fewer
/// connections, the server would run out of work meanwhile.
const GATHERED_FROM: u32 = 4;
/// Longest time for which an answer waits for other answers.
pub(crate) const GATHER_PATIENCE: Duration = Duration::from_micros(400);

/// The cores of a thread, and whether they were busy between the last two readings.
pub(crate) struct BusyCores {
    /// The file `/proc/stat`; `None` if it cannot be used.
    stat: Option<File>,
    allowed: CpuSet,
    text: Vec<u8>,
    looked_ns: u64,
    times: Option<Times>,
    are_busy: bool,
}

/// Idle time and total time of some cores since the host's start, summed over the cores, in the kernel's ticks.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Times {
    idle: u64,
    all: u64,
}

impl BusyCores {
    /// Creates the value for the cores of the calling thread. Whether they are busy is not known yet.
    pub(crate) fn of_this_thread() -> Self {
        let allowed = sched_getaffinity(None).ok();
        Self {
            stat: allowed.and_then(|_| File::open("/proc/stat").ok()),
            allowed: allowed.unwrap_or_default(),
            text: vec![0; *TEXT_BYTES.start()],
            looked_ns: 0,
            times: None,
            are_busy: false,
        }
    }

    /// Number of cores that the thread may run on.
    fn count(&self) -> u32 {
        self.allowed.count()
    }

    /// Returns how many answers the loop should wait for before it handles them. `waiting` is the number of connections
    /// that wait for an answer. `None` means that each answer should be handled when it arrives, because the cores are
    /// not busy, or because the server would run out of work meanwhile.
    pub(crate) fn answers_to_gather(&mut self, waiting: u32, now_ns: u64) -> Option<usize> {
        let is_crowd = waiting >= (GATHERED_FROM * self.count()).max(2 * GATHERED_SHARE);
        (is_crowd && self.are_busy(now_ns)).then(|| (waiting / GATHERED_SHARE).min(GATHERED_MAX) as usize)
    }

    /// Whether the cores are busy; false until two readings have been taken. `now_ns` may come from any clock.
    fn are_busy(&mut self, now_ns: u64) -> bool {
        if now_ns.saturating_sub(self.looked_ns) >= LOOK_EVERY_NS {
            self.looked_ns = now_ns;
            let now = self.read();
            let before = std::mem::replace(&mut self.times, now);
            self.are_busy = before.zip(now).is_some_and(|(before, now)| are_busy_between(before, now));
        }
        self.are_busy
    }

    fn read(&mut self) -> Option<Times> {
        let stat = self.stat.as_ref()?;
        loop {
            let length = stat.read_at(&mut self.text, 0).ok()?;
            if length < self.text.len() || length >= *TEXT_BYTES.end() {
                return times(std::str::from_utf8(&self.text[..length]).ok()?, &self.allowed);
            }
            self.text.resize(length * 2, 0);
        }
    }
}

fn are_busy_between(before: Times, now: Times) -> bool {
    let all = now.all.saturating_sub(before.all);
    all > 0 && now.idle.saturating_sub(before.idle) as f64 <= IDLE_SHARE_MAX * all as f64
}

/// Reads `/proc/stat` (proc(5)), which has a line `cpuN user nice system idle iowait irq softirq steal …` for
/// each CPU. `None` if it has no line for these CPUs.
fn times(text: &str, cpus: &CpuSet) -> Option<Times> {
    let mut sum: Option<Times> = None;
    for line in text.lines() {
        let mut words = line.split_ascii_whitespace();
        let number = words.next().and_then(|name| name.strip_prefix("cpu")?.parse::<usize>().ok());
        if !number.is_some_and(|cpu| cpu < CpuSet::MAX_CPU && cpus.is_set(cpu)) {
            continue;
        }
        let sum = sum.get_or_insert(Times { idle: 0, all: 0 });
        for (place, ticks) in words.take(8).enumerate() {
            let ticks: u64 = ticks.parse().unwrap_or(0);
            sum.all += ticks;
            sum.idle += if place == 3 || place == 4 { ticks } else { 0 };
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_of_the_cores_of_the_thread() {
        let text = "cpu  9 9 9 9 9 9 9 9 0 0\ncpu0 1 2 3 40 5 6 7 8 0 0\ncpu1 1 0 0 0 0 0 0 0 0 0\ncpu12 1 1 1 1 1 1 1 1 9 9\nintr 5\n";
        let of = |cpus: &[usize]| {
            let mut set = CpuSet::new();
            for cpu in cpus {
                set.set(*cpu);
            }
            times(text, &set)
        };
        assert_eq!(of(&[0]), Some(Times { idle: 45, all: 72 }));
        assert_eq!(of(&[1, 12]), Some(Times { idle: 2, all: 9 }));
        assert_eq!((of(&[2]), of(&[])), (None, None));
    }

    #[test]
    fn cores_are_busy_that_are_hardly_ever_idle() {
        let before = Times { idle: 100, all: 1000 };
        let after = |idle: u64| are_busy_between(before, Times { idle: 100 + idle, all: 1040 });
        assert_eq!([0, 2, 3].map(after), [true, true, false]);
        assert!(!are_busy_between(before, before));
    }

    #[test]
    fn they_are_read_from_the_kernel_at_the_second_look() {
        let mut cores = BusyCores::of_this_thread();
        assert!(!cores.are_busy(LOOK_EVERY_NS));
        assert!(cores.times.is_some_and(|times| times.all > times.idle));
        cores.are_busy(2 * LOOK_EVERY_NS - 1);
        assert_eq!(cores.looked_ns, LOOK_EVERY_NS);
    }
}
