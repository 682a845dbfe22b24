//! Context switches of a process: the sum over its threads, which never decreases.

use std::collections::HashMap;
use std::fs;
use std::ops::AddAssign;

use crate::processes::counters::threads;

/// Context switches by cause.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Switches {
    /// The thread had to wait for something.
    pub(crate) voluntary: u64,
    /// The thread's time slice ended.
    pub(crate) involuntary: u64,
}

impl AddAssign for Switches {
    fn add_assign(&mut self, other: Self) {
        self.voluntary += other.voluntary;
        self.involuntary += other.involuntary;
    }
}

/// Counts of a process's threads.
///
/// The kernel reports switches by thread only (`/proc/pid/status` shows those of the main thread), and a thread's
/// count disappears with the thread. The last count of each thread is therefore kept. When the thread has ended,
/// its count is added to the sum of ended threads. Two kinds of switches are missing: those between a thread's last
/// sample and its end, and those of threads that lived only between two samples. With a sample per second and a
/// thread per connection, both are negligible.
#[derive(Clone, Debug, Default)]
pub(crate) struct SwitchAccount {
    living: HashMap<i32, Switches>,
    ended: Switches,
}

impl SwitchAccount {
    /// Updates the counts from those of the living threads. Returns the process's sum so far.
    pub(crate) fn update(&mut self, now: HashMap<i32, Switches>) -> Switches {
        for (thread, last) in &self.living {
            // A smaller count with the same id belongs to a new thread, because Linux reuses thread ids.
            if now
                .get(thread)
                .is_none_or(|now| now.voluntary < last.voluntary || now.involuntary < last.involuntary)
            {
                self.ended += *last;
            }
        }
        self.living = now;
        let mut sum = self.ended;
        self.living.values().for_each(|switches| sum += *switches);
        sum
    }
}

/// Counts of a process's living threads. Threads that end meanwhile are left out. The result is empty if the
/// process cannot be read.
pub(crate) fn by_thread(pid: u32) -> HashMap<i32, Switches> {
    let of_thread = |tid: u32| {
        let status = fs::read_to_string(format!("/proc/{pid}/task/{tid}/status")).ok()?;
        Some((tid.cast_signed(), parse(&status)?))
    };
    threads(pid).into_iter().filter_map(of_thread).collect()
}

/// Parses the two counts of a `status` file. They are parsed here, because parsing the whole file would cost a
/// hundred allocations per thread and second during the measurement.
fn parse(status: &str) -> Option<Switches> {
    let number = |name: &str| {
        let line = status.lines().rev().find_map(|line| line.strip_prefix(name))?;
        line.trim().parse().ok()
    };
    Some(Switches {
        voluntary: number("voluntary_ctxt_switches:")?,
        involuntary: number("nonvoluntary_ctxt_switches:")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn switches(voluntary: u64, involuntary: u64) -> Switches {
        Switches { voluntary, involuntary }
    }

    #[test]
    fn ended_threads_stay_in_the_sum() {
        let mut account = SwitchAccount::default();
        assert_eq!(account.update([(1, switches(10, 1)), (2, switches(100, 5))].into()), switches(110, 6));
        assert_eq!(account.update([(1, switches(12, 1))].into()), switches(112, 6));
        assert_eq!(account.update([(1, switches(12, 2)), (3, switches(1, 0))].into()), switches(113, 7));
    }

    #[test]
    fn a_thread_id_used_again_is_another_thread() {
        let mut account = SwitchAccount::default();
        account.update([(7, switches(50, 3))].into());
        assert_eq!(account.update([(7, switches(2, 0))].into()), switches(52, 3));
        assert_eq!(account.update([(7, switches(4, 1))].into()), switches(54, 4));
    }

    #[test]
    fn a_status_file_has_both_counts_on_its_last_lines() {
        let status =
            "Name:\tmysqld\nThreads:\t3\nvoluntary_ctxt_switches:\t41\nnonvoluntary_ctxt_switches:\t2\n";
        assert_eq!(parse(status), Some(switches(41, 2)));
        assert_eq!(parse("Name:\tmysqld\n"), None);
    }

    #[test]
    fn every_thread_of_this_process_is_counted() {
        let (stop, stopped) = std::sync::mpsc::channel::<()>();
        let thread = std::thread::spawn(move || stopped.recv());
        let ids: Vec<i32> = by_thread(std::process::id()).into_keys().collect();
        assert!(ids.contains(&(std::process::id() as i32)));
        assert!(ids.len() >= 2, "{ids:?}");
        drop(stop);
        assert!(thread.join().unwrap().is_err());
    }
}
