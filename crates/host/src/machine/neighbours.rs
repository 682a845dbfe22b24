//! CPU time that neighbours use on the host during a measurement. Neighbours are processes outside the run, and
//! other guests of the hypervisor.

use std::collections::HashMap;
use std::fs;
use std::time::Instant;

use procfs::process::Process;

use crate::machine::counters::{HostSample, sample_host};
use crate::processes::counters::{ProcessSample, ProcessTree, descendants};
use crate::processes::cpu_clock::cpu_ns;

/// The flag that marks kernel threads in `/proc/pid/stat` (`PF_KTHREAD` in the kernel's `include/linux/sched.h`).
const PF_KTHREAD: u32 = 0x0020_0000;

/// Watches the neighbours of a measurement, from its creation on.
#[derive(Debug)]
pub struct Neighbours {
    began: Instant,
    host: HostSample,
    own: Vec<OwnTree>,
    /// CPU time of each kernel thread when the watch began, in nanoseconds.
    kernel_ns: HashMap<u32, u64>,
}

/// A process of the run and its descendants, with the CPU time that they had used when the watch began.
#[derive(Debug)]
struct OwnTree {
    tree: ProcessTree,
    since: ProcessSample,
}

/// CPU time that neighbours used in an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NeighbourUsage {
    /// Length of the interval.
    pub elapsed_us: u64,
    /// Number of CPUs of the host.
    pub cpus: u32,
    /// CPU time of processes outside the run, accurate to about 10 ms. Kernel threads and interrupts are left out,
    /// because they mostly work for servers.
    pub cpu_us: u64,
    /// CPU time that the hypervisor gave to other guests.
    pub steal_us: u64,
}

impl Neighbours {
    /// Begins to watch. This process, the processes `ours`, and the descendants of both do not count as
    /// neighbours. `None` if the kernel does not show the host's CPU time.
    ///
    /// Reads a file for each process of the host, which takes some milliseconds.
    pub fn watch(ours: &[u32]) -> Option<Self> {
        let own = std::process::id();
        let descendants = descendants(own);
        let others = ours.iter().copied().filter(|pid| *pid != own && !descendants.contains(pid));
        let trees = std::iter::once(own).chain(others).filter_map(|pid| {
            let mut tree = ProcessTree::open(pid).ok()?;
            let since = tree.sample().ok()?;
            Some(OwnTree { tree, since })
        });
        let (own, kernel_ns) = (trees.collect(), kernel_threads());
        Some(Self { host: sample_host().ok()?, began: Instant::now(), own, kernel_ns })
    }

    /// CPU time that neighbours used since the watch began. `None` if the kernel no longer shows the host's CPU
    /// time.
    pub fn usage(mut self) -> Option<NeighbourUsage> {
        let host = sample_host().ok()?.since(&self.host);
        let elapsed_us = self.began.elapsed().as_micros() as u64;
        let own_us: u64 = self.own.iter_mut().map(OwnTree::used_us).sum();
        let idle_us = host.idle_cpu_us + host.iowait_cpu_us + host.steal_cpu_us;
        // Busy time is computed from idle time. The kernel measures idle time by the clock, but counts busy time by
        // ticks, which can miss a process that sleeps at each tick.
        let all_us = elapsed_us * u64::from(host.cpus);
        let busy_us = all_us.saturating_sub(idle_us + host.interrupt_cpu_us);
        Some(NeighbourUsage {
            elapsed_us,
            cpus: host.cpus,
            cpu_us: busy_us.saturating_sub(own_us + self.kernel_us()),
            steal_us: host.steal_cpu_us,
        })
    }

    /// CPU time that kernel threads used since the watch began. Threads that have ended are not counted.
    fn kernel_us(&self) -> u64 {
        let used =
            |(pid, now): (u32, u64)| now.saturating_sub(self.kernel_ns.get(&pid).copied().unwrap_or(0));
        kernel_threads().into_iter().map(used).sum::<u64>() / 1000
    }
}

impl OwnTree {
    /// CPU time that the processes used since the watch began. 0 if the process at the root of the tree has ended.
    fn used_us(&mut self) -> u64 {
        let Ok(now) = self.tree.sample() else { return 0 };
        let used = now.since(&self.since);
        used.user_cpu_us + used.system_cpu_us
    }
}

/// CPU time that every kernel thread has used so far, in nanoseconds.
fn kernel_threads() -> HashMap<u32, u64> {
    let Ok(items) = fs::read_dir("/proc") else { return HashMap::new() };
    let pids = items.filter_map(|item| item.ok()?.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| is_kernel_thread(*pid)).filter_map(|pid| Some((pid, cpu_ns(pid).ok()?))).collect()
}

fn is_kernel_thread(pid: u32) -> bool {
    let stat = i32::try_from(pid).ok().and_then(|pid| Process::new(pid).ok()?.stat().ok());
    stat.is_some_and(|stat| stat.flags & PF_KTHREAD != 0)
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command};
    use std::thread;
    use std::time::Duration;

    use super::*;

    /// A process that never waits.
    struct Busy(Child);

    impl Busy {
        fn start() -> Self {
            Self(Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap())
        }

        /// Waits until the process has used this much CPU time since the call.
        fn use_cpu(&self, time: Duration) {
            let since = cpu_ns(self.0.id()).unwrap();
            while cpu_ns(self.0.id()).unwrap() - since < time.as_nanos() as u64 {
                thread::sleep(Duration::from_millis(1));
            }
        }
    }

    impl Drop for Busy {
        fn drop(&mut self) {
            self.0.kill().unwrap();
            self.0.wait().unwrap();
        }
    }

    /// Other tests run at the same time, in this process and in others. So the time of the neighbours also contains
    /// an unknown part.
    #[test]
    fn a_child_is_no_neighbour_and_a_process_of_others_is() {
        const WORK: Duration = Duration::from_millis(300);
        // The loop's parent ends at once, so the loop is not a child of this process. It keeps no pipe of this
        // process open.
        let script = "(while :; do :; done) >/dev/null 2>&1 & echo $!";
        let orphan = Command::new("sh").args(["-c", script]).output().unwrap();
        let orphan: u32 = String::from_utf8(orphan.stdout).unwrap().trim().parse().unwrap();
        let used_by_orphan = || Duration::from_nanos(cpu_ns(orphan).unwrap());
        let (watched, before) = (Neighbours::watch(&[]).unwrap(), used_by_orphan());
        let child = Busy::start();
        child.use_cpu(WORK);
        let (of_orphan, usage) = (used_by_orphan().saturating_sub(before), watched.usage().unwrap());
        let known = Neighbours::watch(&[orphan]).unwrap();
        let is_ours = known.own.len() == 2;
        let orphan = rustix::process::Pid::from_raw(i32::try_from(orphan).unwrap()).unwrap();
        rustix::process::kill_process(orphan, rustix::process::Signal::KILL).unwrap();

        let tick = Duration::from_millis(20);
        let neighbours = Duration::from_micros(usage.cpu_us);
        assert!(neighbours + tick >= of_orphan, "{usage:?}, the process used {of_orphan:?}");
        let rest = Duration::from_micros(usage.elapsed_us * u64::from(usage.cpus) - usage.cpu_us);
        assert!(rest + tick >= WORK, "{usage:?} has the child's time");
        assert!(is_ours, "a process that is named is ours");
    }

    #[test]
    fn kernel_threads_are_told_from_processes() {
        assert!(!is_kernel_thread(std::process::id()));
        // Containers show no kernel threads.
        assert!(
            kernel_threads()
                .keys()
                .all(|pid| fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line.is_empty()))
        );
    }
}
