//! Memory of a process with its descendants.

use std::fs;

use super::tree::descendants;

/// Follows the resident memory of a process and its descendants.
#[derive(Debug)]
pub struct MemoryGauge {
    pid: u32,
    /// Whether the peak that the kernel records covers the time since the gauge was created, and no time before.
    has_exact_peak: bool,
    looks: u64,
    sum_bytes: u128,
    peak_bytes: u64,
}

/// Resident memory over a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryUsage {
    /// Largest resident memory. For a single process this is the kernel's own peak (`VmHWM`), if this user may
    /// reset that peak. Otherwise it is the largest sample.
    pub peak_bytes: u64,
    /// The mean of the samples.
    pub mean_bytes: u64,
}

impl MemoryGauge {
    /// Begins to follow a process.
    pub fn of(pid: u32) -> Self {
        // Writing "5" resets the peak of the resident memory (proc(5), clear_refs).
        let has_exact_peak = fs::write(format!("/proc/{pid}/clear_refs"), "5").is_ok();
        let mut gauge = Self { pid, has_exact_peak, looks: 0, sum_bytes: 0, peak_bytes: 0 };
        gauge.look();
        gauge
    }

    /// Takes a sample of the memory. Does nothing if the process has ended.
    pub fn look(&mut self) {
        let Some(own) = Resident::of(self.pid) else { return };
        let children: Vec<Resident> = descendants(self.pid).into_iter().filter_map(Resident::of).collect();
        if self.has_exact_peak && children.is_empty() {
            self.peak_bytes = self.peak_bytes.max(own.peak);
        }
        let bytes = together(own, &children);
        self.looks += 1;
        self.sum_bytes += u128::from(bytes);
        self.peak_bytes = self.peak_bytes.max(bytes);
    }

    /// The memory so far. `None` if the process could never be read.
    pub fn usage(&self) -> Option<MemoryUsage> {
        let mean_bytes = self.sum_bytes.checked_div(u128::from(self.looks))?;
        Some(MemoryUsage {
            peak_bytes: self.peak_bytes,
            mean_bytes: u64::try_from(mean_bytes).unwrap_or(u64::MAX),
        })
    }
}

/// Resident memory of one process, in bytes.
#[derive(Clone, Copy)]
struct Resident {
    /// Memory that belongs to this process alone.
    private: u64,
    /// Files and shared memory, which the process's children may have mapped too.
    shared: u64,
    peak: u64,
}

impl Resident {
    fn of(pid: u32) -> Option<Self> {
        let status = procfs::process::Process::new(i32::try_from(pid).ok()?).ok()?.status().ok()?;
        let bytes = |kib: Option<u64>| kib.unwrap_or(0) * 1024;
        Some(Self {
            private: bytes(Some(status.rssanon?)),
            shared: bytes(status.rssfile) + bytes(status.rssshmem),
            peak: bytes(status.vmhwm),
        })
    }
}

/// Memory of a process together with children that share memory with it. PostgreSQL's processes share one set of
/// buffers, and each process has mapped the part that it used. Therefore only the largest of these parts is added.
fn together(own: Resident, children: &[Resident]) -> u64 {
    let all = || std::iter::once(&own).chain(children);
    let shared = all().map(|process| process.shared).max().unwrap_or(0);
    all().map(|process| process.private).sum::<u64>() + shared
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command, Stdio};

    use super::*;

    const MIB: u64 = 1 << 20;

    /// Starts a program that allocates some MiB, prints a line, and ends when its input ends.
    fn holder(mib: u64) -> Child {
        let script = format!("x = bytearray(b'x' * {mib} * 2**20); print('held', flush=True); input()");
        let mut child = Command::new("python3")
            .args(["-c", &script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(child.stdout.as_mut().unwrap()), &mut line)
            .unwrap();
        child
    }

    #[test]
    fn the_memory_that_a_process_holds_is_its_peak_and_its_mean() {
        let mut child = holder(64);
        let mut gauge = MemoryGauge::of(child.id());
        gauge.look();
        let usage = gauge.usage().unwrap();
        assert!((64 * MIB..128 * MIB).contains(&usage.mean_bytes), "{usage:?}");
        assert!(usage.peak_bytes >= usage.mean_bytes && usage.peak_bytes < 192 * MIB, "{usage:?}");
        child.kill().unwrap();
        child.wait().unwrap();
        gauge.look();
        assert_eq!(gauge.usage(), Some(usage), "a process that has ended changes nothing");
        assert_eq!(MemoryGauge::of(child.id()).usage(), None);
    }

    #[test]
    fn what_processes_share_counts_once() {
        let process = |private: u64, shared: u64| Resident { private, shared, peak: 0 };
        assert_eq!(together(process(10, 500), &[process(3, 200), process(4, 600)]), 617);
        assert_eq!(together(process(10, 500), &[]), 510);
    }
}
