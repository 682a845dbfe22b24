//! Gives the busy threads of a server, and its clients, cores of their own.

use std::collections::HashMap;
use std::fs;

use rustix::thread::{self, Pid, sched_getaffinity, sched_setaffinity};

use crate::process::descendants;

/// CPU time of the threads of a process and its descendants at one moment.
#[derive(Debug)]
pub struct ThreadTimes {
    pid: u32,
    cpu_ns: HashMap<u32, u64>,
}

impl ThreadTimes {
    /// Reads two small files for each thread. Threads that may not be read are left out.
    pub fn read(pid: u32) -> Self {
        let pids = std::iter::once(pid).chain(descendants(pid));
        Self { pid, cpu_ns: pids.flat_map(threads).filter_map(|tid| Some((tid, cpu_ns(tid)?))).collect() }
    }

    /// The threads that have used the most CPU since then, at most `count`, the busiest first.
    pub fn busiest(&self, count: usize) -> Vec<u32> {
        let now = Self::read(self.pid).cpu_ns;
        let used =
            now.into_iter().map(|(tid, ns)| (ns - self.cpu_ns.get(&tid).copied().unwrap_or(0).min(ns), tid));
        let mut used: Vec<_> = used.filter(|(ns, _)| *ns > 0).collect();
        used.sort_unstable_by(|one, other| other.cmp(one));
        used.into_iter().take(count).map(|(_, tid)| tid).collect()
    }
}

/// Threads that are pinned to cores. Dropping it lets them run where they could before.
#[derive(Debug)]
pub struct OwnCores {
    pinned: Vec<u32>,
    before: thread::CpuSet,
}

impl OwnCores {
    /// Whether this process may use twice as many cores as there are connections: one for each of their two ends.
    pub fn are_enough(connections: u32) -> bool {
        sched_getaffinity(None).is_ok_and(|cpus| 2 * connections as usize <= cores(&cpus).len())
    }

    /// Pins each of a server's threads to a core of its own, and all threads of the process `clients` to the other cores;
    /// none if these would be fewer than the server's, or if no thread could be pinned.
    ///
    /// Only threads that may use the same CPUs as that process are pinned: where a plan confines either, none is.
    pub fn give(server: &[u32], clients: u32) -> Option<Self> {
        let before = affinity(clients)?;
        let mut cores = cores(&before);
        // The first core has most interrupts.
        cores.reverse();
        if server.is_empty() || 2 * server.len() > cores.len() {
            return None;
        }
        let others = cores.split_off(server.len()).concat();
        let mut given = Self { pinned: Vec::new(), before };
        for (tid, core) in server.iter().zip(&cores) {
            given.pin(*tid, core);
        }
        if given.pinned.is_empty() {
            return None;
        }
        for tid in threads(clients) {
            given.pin(tid, &others);
        }
        Some(given)
    }

    /// Pins a thread, unless it is gone, is restricted already, or may not be moved by this user.
    fn pin(&mut self, tid: u32, cpus: &[usize]) {
        let mut mask = thread::CpuSet::new();
        for cpu in cpus {
            mask.set(*cpu);
        }
        if affinity(tid) == Some(self.before) && set_affinity(tid, &mask).is_some() {
            self.pinned.push(tid);
        }
    }
}

impl Drop for OwnCores {
    fn drop(&mut self) {
        for tid in &self.pinned {
            // Fails if the thread has ended.
            let _ = set_affinity(*tid, &self.before);
        }
    }
}

/// The CPUs of a set, by core. Hardware threads of one core are together.
fn cores(cpus: &thread::CpuSet) -> Vec<Vec<usize>> {
    let mut cores: Vec<(String, Vec<usize>)> = Vec::new();
    for cpu in (0..thread::CpuSet::MAX_CPU).filter(|cpu| cpus.is_set(*cpu)) {
        let file = format!("/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list");
        let siblings = fs::read_to_string(file).unwrap_or_else(|_| cpu.to_string());
        match cores.iter_mut().find(|(known, _)| *known == siblings) {
            Some((_, cpus)) => cpus.push(cpu),
            None => cores.push((siblings, vec![cpu])),
        }
    }
    cores.into_iter().map(|(_, cpus)| cpus).collect()
}

fn affinity(tid: u32) -> Option<thread::CpuSet> {
    sched_getaffinity(Some(Pid::from_raw(tid.cast_signed())?)).ok()
}

fn set_affinity(tid: u32, cpus: &thread::CpuSet) -> Option<()> {
    sched_setaffinity(Some(Pid::from_raw(tid.cast_signed())?), cpus).ok()
}

/// The threads of a process; none if it is gone.
fn threads(pid: u32) -> Vec<u32> {
    let tasks = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    tasks.filter_map(|task| task.file_name().to_str()?.parse().ok()).collect()
}

/// CPU time of a thread in nanoseconds (`Documentation/scheduler/sched-stats.rst`); none if it has ended, or the kernel
/// does not count it.
fn cpu_ns(tid: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{tid}/schedstat")).ok()?;
    text.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command};

    use super::*;

    struct Running(Child);

    impl Running {
        fn new(script: &str) -> Self {
            Self(Command::new("sh").args(["-c", script]).spawn().unwrap())
        }

        fn pid(&self) -> u32 {
            self.0.id()
        }
    }

    impl Drop for Running {
        fn drop(&mut self) {
            for pid in descendants(self.pid()).into_iter().chain([self.pid()]) {
                let _ = Command::new("kill").args(["-9", &pid.to_string()]).status();
            }
            self.0.wait().unwrap();
        }
    }

    fn cpus(pid: u32) -> Vec<usize> {
        let mask = affinity(pid).unwrap();
        (0..thread::CpuSet::MAX_CPU).filter(|cpu| mask.is_set(*cpu)).collect()
    }

    fn wait_for(mut is_it: impl FnMut() -> bool) {
        while !is_it() {
            std::thread::yield_now();
        }
    }

    #[test]
    fn the_busiest_thread_of_a_process_and_its_children_is_found() {
        let server = Running::new("sleep 60 & while :; do :; done & wait");
        wait_for(|| descendants(server.pid()).len() == 2);
        let since = ThreadTimes::read(server.pid());
        wait_for(|| !since.busiest(1).is_empty());
        let [busiest] = since.busiest(1)[..] else { panic!("one was wanted") };
        let line = fs::read_to_string(format!("/proc/{busiest}/cmdline")).unwrap();
        assert!(busiest != server.pid() && !line.starts_with("sleep"), "{line}");
        assert!(since.busiest(5).len() < 3, "what sleeps is not busy");
        assert!(ThreadTimes::read(u32::MAX / 4).busiest(1).is_empty());
    }

    #[test]
    fn a_server_and_its_clients_have_no_core_in_common_until_it_ends() {
        let (server, clients) = (Running::new("sleep 60"), Running::new("sleep 60"));
        let whole = cpus(clients.pid());
        let given = OwnCores::give(&[server.pid()], clients.pid());
        assert_eq!(given.is_some(), OwnCores::are_enough(1));
        if given.is_some() {
            let mut all = [cpus(server.pid()), cpus(clients.pid())].concat();
            all.sort_unstable();
            assert_eq!(all, whole, "each CPU belongs to one of them");
        }
        drop(given);
        assert_eq!((cpus(server.pid()), cpus(clients.pid())), (whole.clone(), whole));
    }

    #[test]
    fn nothing_is_pinned_without_room_or_where_cpus_are_limited() {
        let (server, clients) = (Running::new("sleep 60"), Running::new("sleep 60"));
        let many = vec![server.pid(); cpus(clients.pid()).len()];
        assert!(OwnCores::give(&many, clients.pid()).is_none(), "no core is left for the clients");
        assert!(OwnCores::give(&[], clients.pid()).is_none());
        let mut first = thread::CpuSet::new();
        first.set(cpus(server.pid())[0]);
        set_affinity(server.pid(), &first).unwrap();
        if OwnCores::are_enough(1) {
            assert!(OwnCores::give(&[server.pid()], clients.pid()).is_none());
        }
    }
}
