//! A process with its descendants, for servers with a process per connection.

use std::collections::HashMap;
use std::fs;

use super::{Process, ProcessSample};
use crate::error::SampleError;
use crate::processes::switches::Switches;

/// Largest number of attempts to read the children. An attempt fails if a child is reaped meanwhile.
const LOOKS_MAX: usize = 8;

/// A process with the descendants that were forked by main threads. Sums never decrease, because the usage of ended
/// descendants is kept.
///
/// The kernel adds the CPU time of an ended process, in ticks, to the process that reaped it. So the sums include the
/// CPU time from a descendant's last sample to its end, and that of descendants that lived only between two samples.
/// The context switches in these two cases are missing.
#[derive(Debug)]
pub struct ProcessTree {
    root: Process,
    children: HashMap<u32, Child>,
    ended: Ended,
}

#[derive(Debug)]
struct Child {
    process: Process,
    last: ProcessSample,
}

/// Usage of ended children. Their storage counters are left out, because the kernel adds these to the parent's
/// counters when it reaps a child (`wait_task_zombie` of `kernel/exit.c`).
#[derive(Debug, Default)]
struct Ended {
    cpu_ns: u64,
    user_ticks: u64,
    system_ticks: u64,
    switches: Switches,
}

impl ProcessTree {
    /// Opens a running process.
    ///
    /// # Errors
    /// There is no such process.
    pub fn open(pid: u32) -> Result<Self, SampleError> {
        Ok(Self { root: Process::open(pid)?, children: HashMap::new(), ended: Ended::default() })
    }

    /// Reads the counters of all processes and adds them up. Shared memory counts once for each process that has
    /// mapped it.
    ///
    /// # Errors
    /// The process at the root has ended, or may not be read. Unreadable descendants are left out and cause no
    /// error.
    pub fn sample(&mut self) -> Result<ProcessSample, SampleError> {
        let mut looks = 0;
        loop {
            let before = self.reaped_so_far()?;
            self.sample_children();
            let root = self.root.sample()?;
            looks += 1;
            // A process that is reaped between these readings may count twice, as a child and as reaped, or not at
            // all. In this case, read again.
            let reaped = self.reaped(&root);
            if before == reaped || looks == LOOKS_MAX {
                return Ok(self.sum(root, reaped));
            }
        }
    }

    /// CPU time of all children that the living processes have reaped, in ticks, user and system. If a process that
    /// has reaped children is reaped itself, their time passes to its parent.
    fn reaped(&self, root: &ProcessSample) -> (u64, u64) {
        let of = |sample: &ProcessSample| (sample.reaped_user_ticks, sample.reaped_system_ticks);
        let children = self.children.values().map(|child| of(&child.last));
        children.fold(of(root), |sum, one| (sum.0 + one.0, sum.1 + one.1))
    }

    /// Reads the current value of the CPU time that [`reaped`](Self::reaped) computes from samples. The root is always
    /// read. A child is read only if it had reaped a child of its own at its last sample.
    fn reaped_so_far(&self) -> Result<(u64, u64), SampleError> {
        let mut sum = self.root.reaped_ticks()?;
        for child in self.children.values() {
            let last = (child.last.reaped_user_ticks, child.last.reaped_system_ticks);
            let now = if last == (0, 0) { last } else { child.process.reaped_ticks().unwrap_or(last) };
            sum = (sum.0 + now.0, sum.1 + now.1);
        }
        Ok(sum)
    }

    fn sum(&mut self, root: ProcessSample, reaped: (u64, u64)) -> ProcessSample {
        let mut sum = root;
        self.ended.at_least(reaped.0, reaped.1);
        self.ended.add_to(&mut sum);
        for child in self.children.values() {
            sum.add(&child.last);
        }
        sum
    }

    fn sample_children(&mut self) {
        let living = descendants(self.root.pid());
        let gone = self.children.extract_if(|pid, _| !living.contains(pid));
        gone.for_each(|(_, child)| self.ended.take_in(&child.last));
        for pid in living {
            self.sample_child(pid);
        }
    }

    /// Reads a child's counters. If its pid now belongs to another process, that process is counted as a new child.
    fn sample_child(&mut self, pid: u32) {
        if let Some(child) = self.children.get_mut(&pid) {
            if let Ok(sample) = child.process.sample_to_the_end() {
                child.last = sample;
                return;
            }
            self.ended.take_in(&child.last);
            self.children.remove(&pid);
        }
        let opened = Process::open(pid).and_then(|mut process| {
            let last = process.sample_to_the_end()?;
            Ok(Child { process, last })
        });
        self.children.extend(opened.ok().map(|child| (pid, child)));
    }
}

impl Ended {
    fn take_in(&mut self, last: &ProcessSample) {
        self.cpu_ns += last.cpu_ns;
        self.user_ticks += last.user_ticks;
        self.system_ticks += last.system_ticks;
        self.switches += last.switches;
    }

    /// Raises the usage to the kernel's count of reaped children, which is coarse but includes every child.
    fn at_least(&mut self, user_ticks: u64, system_ticks: u64) {
        self.user_ticks = self.user_ticks.max(user_ticks);
        self.system_ticks = self.system_ticks.max(system_ticks);
        let ns_per_tick = 1_000_000_000 / procfs::ticks_per_second();
        self.cpu_ns = self.cpu_ns.max((user_ticks + system_ticks) * ns_per_tick);
    }

    fn add_to(&self, sum: &mut ProcessSample) {
        sum.cpu_ns += self.cpu_ns;
        sum.user_ticks += self.user_ticks;
        sum.system_ticks += self.system_ticks;
        sum.switches += self.switches;
    }
}

/// The living descendants that were forked by main threads. For this process, also those that were forked by other
/// threads. A server with a single process has no descendants, so the cost is reading one small file.
pub(crate) fn descendants(pid: u32) -> Vec<u32> {
    let mut found = children(pid);
    let mut at = 0;
    while at < found.len() {
        found.extend(children(found[at]));
        at += 1;
    }
    found
}

/// The threads of a process. Empty if the process is gone or may not be read.
pub(crate) fn threads(pid: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    tasks.filter_map(|task| task.file_name().to_str()?.parse().ok()).collect()
}

fn children(pid: u32) -> Vec<u32> {
    if pid == std::process::id() {
        return threads(pid).into_iter().flat_map(|tid| children_of_thread(pid, tid)).collect();
    }
    children_of_thread(pid, pid)
}

/// Reads `/proc/pid/task/tid/children` (proc(5)). Empty if the kernel does not have this file.
fn children_of_thread(pid: u32, tid: u32) -> Vec<u32> {
    let text = fs::read_to_string(format!("/proc/{pid}/task/{tid}/children")).unwrap_or_default();
    text.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).collect()
}
