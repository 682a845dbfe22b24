//! Gives each busy thread of a server a separate core, and keeps the server's clients on the remaining cores.

use std::collections::HashMap;
use std::fs;

use crate::confine::CpuSet;
use crate::processes::counters::{descendants, threads};

/// CPU time of the threads of a process and its descendants at one moment.
#[derive(Debug)]
pub struct ThreadTimes {
    pid: u32,
    cpu_ns: HashMap<u32, u64>,
}

impl ThreadTimes {
    /// Reads the CPU time of all threads, from one small file for each thread. Threads that may not be read are left
    /// out.
    pub fn read(pid: u32) -> Self {
        let pids = std::iter::once(pid).chain(descendants(pid));
        Self { pid, cpu_ns: pids.flat_map(threads).filter_map(|tid| Some((tid, cpu_ns(tid)?))).collect() }
    }

    /// Returns at most `count` threads: those that have used the most CPU time since this value was read, busiest
    /// first.
    pub fn busiest(&self, count: usize) -> Vec<u32> {
        let now = Self::read(self.pid).cpu_ns;
        let used =
            now.into_iter().map(|(tid, ns)| (ns - self.cpu_ns.get(&tid).copied().unwrap_or(0).min(ns), tid));
        let mut used: Vec<_> = used.filter(|(ns, _)| *ns > 0).collect();
        used.sort_unstable_by(|one, other| other.cmp(one));
        used.into_iter().take(count).map(|(_, tid)| tid).collect()
    }
}

/// Threads that are pinned to cores. When this value is dropped, they get back the CPUs that they could use before.
#[derive(Debug)]
pub struct OwnCores {
    pinned: Vec<u32>,
    before: CpuSet,
    server_cpus: CpuSet,
}

impl OwnCores {
    /// Whether this process may use at least twice as many cores as there are connections. A connection needs a core
    /// for each of its two ends.
    pub fn are_enough(connections: u32) -> bool {
        CpuSet::allowed().is_some_and(|cpus| 2 * connections as usize <= cpus.cores().len())
    }

    /// Pins each of a server's threads to a separate core, and all threads of the process `clients` to the remaining
    /// cores. `None` if the clients would get fewer cores than the server, or if no thread could be pinned.
    ///
    /// A thread is pinned only if it may use the same CPUs as `clients`.
    pub fn give(server: &[u32], clients: u32) -> Option<Self> {
        let before = CpuSet::of_process(clients)?;
        let mut cores = before.cores();
        // The first core handles most interrupts, so it is used last.
        cores.reverse();
        if server.is_empty() || 2 * server.len() > cores.len() {
            return None;
        }
        let others = CpuSet::union(&cores.split_off(server.len()));
        let mut given = Self { pinned: Vec::new(), server_cpus: before.clone(), before };
        let pinned =
            server.iter().zip(cores).filter_map(|(tid, core)| given.pin(*tid, &core).then_some(core));
        let used: Vec<CpuSet> = pinned.collect();
        if used.is_empty() {
            return None;
        }
        given.server_cpus = CpuSet::union(&used);
        for tid in threads(clients) {
            given.pin(tid, &others);
        }
        Some(given)
    }

    /// The CPUs to which threads of the server are pinned.
    pub fn server_cpus(&self) -> &CpuSet {
        &self.server_cpus
    }

    /// Pins a thread, and returns whether it is pinned. A thread is left out if it is gone, if its CPUs are already
    /// restricted, or if this user may not move it.
    fn pin(&mut self, tid: u32, cpus: &CpuSet) -> bool {
        let is_free = CpuSet::of_process(tid).is_some_and(|found| found == self.before);
        let is_pinned = is_free && cpus.mask().give(tid).is_ok();
        if is_pinned {
            self.pinned.push(tid);
        }
        is_pinned
    }
}

impl Drop for OwnCores {
    fn drop(&mut self) {
        for tid in &self.pinned {
            // An error is ignored, because it means that the thread has ended.
            let _ = self.before.mask().give(*tid);
        }
    }
}

/// CPU time of a thread in nanoseconds (`Documentation/scheduler/sched-stats.rst`). `None` if the thread has ended,
/// or if the kernel does not count the time.
fn cpu_ns(tid: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/{tid}/schedstat")).ok()?;
    text.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use std::process::{Child, Command, Stdio};

    use super::*;

    /// A shell. When this value is dropped, the shell and its children are killed.
    struct Running(Child);

    impl Running {
        fn new(script: &str) -> Self {
            Self(Command::new("sh").args(["-c", script]).stdin(Stdio::piped()).spawn().unwrap())
        }

        /// A shell that waits for its standard input.
        fn idle() -> Self {
            Self::new("read line")
        }

        fn pid(&self) -> u32 {
            self.0.id()
        }

        fn cpus(&self) -> CpuSet {
            CpuSet::of_process(self.pid()).unwrap()
        }
    }

    impl Drop for Running {
        fn drop(&mut self) {
            for pid in descendants(self.pid()) {
                let _ = Command::new("kill").args(["-9", &pid.to_string()]).status();
            }
            let _ = self.0.kill();
            self.0.wait().unwrap();
        }
    }

    fn wait_for(mut is_it: impl FnMut() -> bool) {
        while !is_it() {
            std::thread::yield_now();
        }
    }

    /// Whether a process sleeps (`S` in `/proc/pid/stat`) and has this name.
    fn sleeps(pid: u32, name: &str) -> bool {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        stat.contains(&format!("({name}) S "))
    }

    #[test]
    fn the_busiest_thread_of_a_process_and_its_children_is_found() {
        let server = Running::new("exec 3<&0; cat <&3 & while :; do :; done & wait");
        let cat = || descendants(server.pid()).into_iter().find(|pid| sleeps(*pid, "cat"));
        wait_for(|| descendants(server.pid()).len() == 2 && cat().is_some() && sleeps(server.pid(), "sh"));
        let since = ThreadTimes::read(server.pid());
        wait_for(|| !since.busiest(1).is_empty());
        let busy = descendants(server.pid()).into_iter().find(|pid| Some(*pid) != cat()).unwrap();
        assert_eq!((since.busiest(1), since.busiest(5)), (vec![busy], vec![busy]));
        assert!(ThreadTimes::read(u32::MAX / 4).busiest(1).is_empty());
    }

    #[test]
    fn a_server_and_its_clients_have_no_core_in_common_until_it_ends() {
        let (server, clients) = (Running::idle(), Running::idle());
        let whole = clients.cpus();
        let given = OwnCores::give(&[server.pid()], clients.pid());
        assert_eq!(given.is_some(), OwnCores::are_enough(1));
        if let Some(given) = &given {
            let (of_server, of_clients) = (server.cpus(), clients.cpus());
            assert_eq!(*given.server_cpus(), of_server);
            assert_eq!(of_server.count() + of_clients.count(), whole.count());
            assert_eq!(CpuSet::union(&[of_server, of_clients]), whole, "each CPU belongs to one of them");
        }
        drop(given);
        assert_eq!((server.cpus(), clients.cpus()), (whole.clone(), whole));
    }

    #[test]
    fn nothing_is_pinned_without_room_or_where_cpus_are_limited() {
        let (server, clients) = (Running::idle(), Running::idle());
        let many = vec![server.pid(); clients.cpus().count()];
        assert!(OwnCores::give(&many, clients.pid()).is_none(), "no core is left for the clients");
        assert!(OwnCores::give(&[], clients.pid()).is_none());
        server.cpus().cores()[0].mask().give(server.pid()).unwrap();
        if OwnCores::are_enough(1) {
            assert!(OwnCores::give(&[server.pid()], clients.pid()).is_none());
        }
    }
}
