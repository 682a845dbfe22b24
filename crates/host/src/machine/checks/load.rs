//! Other processes that use the CPUs.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use super::rounded;
use crate::machine::counters::{HostUsage, sample_host};
use crate::processes::cpu_clock::cpu_ns;

const WINDOW: Duration = Duration::from_millis(300);
const PROCESSES_MAX: usize = 5;
/// Processes that use less than this share of a CPU are ignored.
const CPUS_MIN: f64 = 0.02;

/// CPU usage in a short time window.
#[derive(Clone, Debug, PartialEq)]
pub struct OtherLoad {
    /// Share of CPU time that the hypervisor gave to other guests in the window, from 0 to 1.
    pub steal_share: Option<f64>,
    /// The processes that used the most CPU time in the window, busiest first. This process and its descendants are
    /// left out.
    pub busiest: Vec<BusyProcess>,
}

/// A process that used CPU.
#[derive(Clone, Debug, PartialEq)]
pub struct BusyProcess {
    pub pid: u32,
    /// The process's name, which the kernel truncates to 15 bytes.
    pub name: String,
    /// Number of CPUs that the process used. 1.5 means one and a half.
    pub cpus: f64,
}

/// Waits for the length of the window, and returns the usage in it.
pub(super) fn measure() -> OtherLoad {
    let (host, clocks, begin) = (sample_host().ok(), clocks(), Instant::now());
    thread::sleep(WINDOW);
    let usage = host.and_then(|host| Some(sample_host().ok()?.since(&host)));
    let elapsed_ns = begin.elapsed().as_nanos() as f64;
    OtherLoad {
        steal_share: usage.as_ref().and_then(|usage| share(usage, usage.steal_cpu_us)),
        busiest: busiest(&clocks, elapsed_ns),
    }
}

/// A part of the CPU time as a share of all CPU time. `None` if no clock tick came during the window.
fn share(usage: &HostUsage, part_us: u64) -> Option<f64> {
    let all_us = usage.user_cpu_us
        + usage.system_cpu_us
        + usage.iowait_cpu_us
        + usage.steal_cpu_us
        + usage.idle_cpu_us;
    (all_us > 0).then(|| rounded(part_us as f64 / all_us as f64))
}

/// The CPU time that every visible process has used so far.
fn clocks() -> HashMap<u32, u64> {
    let Ok(items) = fs::read_dir("/proc") else { return HashMap::new() };
    let pids = items.filter_map(|item| item.ok()?.file_name().to_str()?.parse::<u32>().ok());
    pids.filter_map(|pid| Some((pid, cpu_ns(pid).ok()?))).collect()
}

fn busiest(before: &HashMap<u32, u64>, elapsed_ns: f64) -> Vec<BusyProcess> {
    let used = |(pid, now): (u32, u64)| {
        // A process that started within the window has no earlier time, so all its CPU time counts.
        let cpus = now.saturating_sub(before.get(&pid).copied().unwrap_or(0)) as f64 / elapsed_ns;
        (cpus >= CPUS_MIN).then_some((pid, rounded(cpus)))
    };
    let mut busy: Vec<_> = clocks().into_iter().filter_map(used).collect();
    busy.sort_by(|a, b| b.1.total_cmp(&a.1));
    let name = |pid| fs::read_to_string(format!("/proc/{pid}/comm")).ok();
    busy.into_iter()
        .filter(|(pid, _)| !is_ours(*pid))
        .filter_map(|(pid, cpus)| Some(BusyProcess { pid, name: name(pid)?.trim().to_owned(), cpus }))
        .take(PROCESSES_MAX)
        .collect()
}

/// Whether a process is this process or one of its descendants.
fn is_ours(mut pid: u32) -> bool {
    let mut seen = HashSet::new();
    while pid != 0 && seen.insert(pid) {
        if pid == std::process::id() {
            return true;
        }
        pid = parent(pid).unwrap_or(0);
    }
    false
}

fn parent(pid: u32) -> Option<u32> {
    let stat = procfs::process::Process::new(i32::try_from(pid).ok()?).ok()?.stat().ok()?;
    u32::try_from(stat.ppid).ok()
}

#[cfg(test)]
mod tests {
    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn a_process_of_ours_is_not_other_load_and_one_of_others_is() {
        // When this shell ends, its child gets init as its parent and no longer counts as a descendant.
        let output = Command::new("sh")
            .args(["-c", "(exec sh -c 'while :; do :; done') >/dev/null & echo $!"])
            .stderr(Stdio::null())
            .output()
            .unwrap();
        let pid: u32 = String::from_utf8(output.stdout).unwrap().trim().parse().unwrap();
        let mut ours = Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
        let known = [ours.id(), std::process::id(), pid].map(is_ours);
        let load =
            (0..100).map(|_| measure()).find(|load| load.busiest.iter().any(|process| process.pid == pid));
        ours.kill().unwrap();
        ours.wait().unwrap();
        let orphan = rustix::process::Pid::from_raw(i32::try_from(pid).unwrap()).unwrap();
        rustix::process::kill_process(orphan, rustix::process::Signal::KILL).unwrap();

        assert_eq!(known, [true, true, false]);
        let load = load.expect("a process that never waits is not among the busiest");
        assert!(load.busiest.iter().all(|process| process.pid != ours.id()), "{load:?}");
    }

    #[test]
    fn a_window_without_a_tick_has_no_shares() {
        let now = sample_host().unwrap();
        let usage = now.since(&now);
        assert_eq!(share(&usage, 0), None);
    }
}
