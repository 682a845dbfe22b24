//! Counters of a process, and of a process with its children.

mod memory;
mod tree;

use procfs::ProcError;

use crate::error::SampleError;
use crate::processes::cpu_clock::cpu_ns;
use crate::processes::switches::{SwitchAccount, Switches, by_thread};

pub use memory::{MemoryGauge, MemoryUsage};
pub use tree::ProcessTree;
pub(crate) use tree::{descendants, threads};

/// A process to sample. It keeps data of earlier samples, so that sums never decrease.
#[derive(Debug)]
pub struct Process {
    pid: u32,
    folder: procfs::process::Process,
    switches: SwitchAccount,
}

/// Counters of a process at one moment. They count from the start of the process unless stated otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessSample {
    /// CPU time by the scheduler's clock, including ended threads.
    cpu_ns: u64,
    /// CPU time in user space, in ticks. Ticks only serve to divide `cpu_ns` into user and kernel time.
    user_ticks: u64,
    /// CPU time in the kernel, in ticks. Ticks only serve to divide `cpu_ns` into user and kernel time.
    system_ticks: u64,
    /// CPU time of children that have ended and were reaped, with their descendants, in ticks.
    reaped_user_ticks: u64,
    reaped_system_ticks: u64,
    switches: Switches,
    /// Counters of storage, and of read and write calls. `None` if this user may not see them.
    io: Option<IoCounters>,
    /// Resident memory in bytes at this moment.
    pub rss_bytes: u64,
    /// Number of threads at this moment.
    pub threads: u32,
}

/// `/proc/pid/io`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct IoCounters {
    read_bytes: u64,
    write_bytes: u64,
    read_calls: u64,
    write_calls: u64,
}

/// Usage of a process between two samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessUsage {
    /// CPU time in user space. The sum of this and [`Self::system_cpu_us`] is exact (the scheduler's). How it is
    /// divided between the two is an estimate from the kernel's ticks.
    pub user_cpu_us: u64,
    /// CPU time in the kernel.
    pub system_cpu_us: u64,
    /// Context switches because a thread had to wait.
    pub voluntary_context_switches: u64,
    /// Context switches because a thread's time slice ended.
    pub involuntary_context_switches: u64,
    /// Bytes read from storage. Like `write_bytes`, `read_calls` and `write_calls`, this is `None` if this user may
    /// not see the process's storage counters.
    pub read_bytes: Option<u64>,
    /// Bytes written to storage, counted when pages become dirty.
    pub write_bytes: Option<u64>,
    /// Number of system calls that read, with or without access to storage (`syscr`).
    pub read_calls: Option<u64>,
    /// Number of system calls that write, with or without access to storage (`syscw`).
    pub write_calls: Option<u64>,
}

impl Process {
    /// Opens a running process. If its pid is reused later, samples report that the process has ended.
    ///
    /// # Errors
    /// There is no such process.
    pub fn open(pid: u32) -> Result<Self, SampleError> {
        let id = i32::try_from(pid).map_err(|_| SampleError::ProcessEnded { pid })?;
        // This keeps the folder `/proc/pid` open. An open folder never refers to a later process with the same id.
        let folder =
            procfs::process::Process::new(id).map_err(|error| SampleError::of_process(pid, error))?;
        Ok(Self { pid, folder, switches: SwitchAccount::default() })
    }

    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// Reads the process's counters.
    ///
    /// # Errors
    /// The process has ended, or may not be read.
    pub fn sample(&mut self) -> Result<ProcessSample, SampleError> {
        let stat = self.folder.stat().map_err(|error| SampleError::of_process(self.pid, error))?;
        if stat.state == 'Z' {
            return Err(SampleError::ProcessEnded { pid: self.pid });
        }
        self.sample_with(&stat)
    }

    /// Reads the process's counters, even if it is a zombie. The kernel keeps a zombie's counters until its parent
    /// reaps it.
    fn sample_to_the_end(&mut self) -> Result<ProcessSample, SampleError> {
        let stat = self.folder.stat().map_err(|error| SampleError::of_process(self.pid, error))?;
        self.sample_with(&stat)
    }

    /// CPU time, user and system, of the process's children that have ended and were reaped, in ticks.
    fn reaped_ticks(&self) -> Result<(u64, u64), SampleError> {
        let stat = self.folder.stat().map_err(|error| SampleError::of_process(self.pid, error))?;
        Ok(reaped_ticks(&stat))
    }

    fn sample_with(&mut self, stat: &procfs::process::Stat) -> Result<ProcessSample, SampleError> {
        let pid = self.pid;
        let (reaped_user_ticks, reaped_system_ticks) = reaped_ticks(stat);
        let io = match self.folder.io() {
            Ok(io) => Some(io),
            Err(ProcError::PermissionDenied(_)) => None,
            Err(error) => return Err(SampleError::of_process(pid, error)),
        };
        Ok(ProcessSample {
            cpu_ns: cpu_ns(pid).map_err(|error| SampleError::of_process(pid, error.into()))?,
            user_ticks: stat.utime,
            system_ticks: stat.stime,
            reaped_user_ticks,
            reaped_system_ticks,
            switches: self.switches.update(by_thread(pid)),
            io: io.map(|io| IoCounters {
                read_bytes: io.read_bytes,
                write_bytes: io.write_bytes,
                read_calls: io.syscr,
                write_calls: io.syscw,
            }),
            rss_bytes: stat.rss * procfs::page_size(),
            threads: u32::try_from(stat.num_threads).unwrap_or(0),
        })
    }
}

/// The kernel's `cutime` and `cstime`, which are signed but never negative.
fn reaped_ticks(stat: &procfs::process::Stat) -> (u64, u64) {
    (stat.cutime.unsigned_abs(), stat.cstime.unsigned_abs())
}

impl ProcessSample {
    /// The process's usage since an earlier sample.
    pub fn since(&self, earlier: &Self) -> ProcessUsage {
        let cpu_us = self.cpu_ns.saturating_sub(earlier.cpu_ns) / 1000;
        let user_cpu_us = (cpu_us as f64 * self.user_share(earlier)).round() as u64;
        let io = |counter: fn(&IoCounters) -> u64| {
            Some(counter(self.io.as_ref()?).saturating_sub(counter(earlier.io.as_ref()?)))
        };
        ProcessUsage {
            user_cpu_us,
            system_cpu_us: cpu_us - user_cpu_us,
            voluntary_context_switches: self.switches.voluntary.saturating_sub(earlier.switches.voluntary),
            involuntary_context_switches: self
                .switches
                .involuntary
                .saturating_sub(earlier.switches.involuntary),
            read_bytes: io(|io| io.read_bytes),
            write_bytes: io(|io| io.write_bytes),
            read_calls: io(|io| io.read_calls),
            write_calls: io(|io| io.write_calls),
        }
    }

    /// Adds another process's counters.
    fn add(&mut self, other: &Self) {
        self.cpu_ns += other.cpu_ns;
        self.user_ticks += other.user_ticks;
        self.system_ticks += other.system_ticks;
        self.switches += other.switches;
        self.rss_bytes += other.rss_bytes;
        self.threads += other.threads;
        self.io = self.io.zip(other.io).map(|(own, other)| IoCounters {
            read_bytes: own.read_bytes + other.read_bytes,
            write_bytes: own.write_bytes + other.write_bytes,
            read_calls: own.read_calls + other.read_calls,
            write_calls: own.write_calls + other.write_calls,
        });
    }

    /// Share of the CPU time since an earlier sample that was spent in user space, from 0 to 1. If no tick passed
    /// since then, this is the share in the process's whole life.
    fn user_share(&self, earlier: &Self) -> f64 {
        let user = self.user_ticks.saturating_sub(earlier.user_ticks);
        let system = self.system_ticks.saturating_sub(earlier.system_ticks);
        match (user, user + system, self.user_ticks, self.user_ticks + self.system_ticks) {
            (_, 0, _, 0) => 1.0,
            (_, 0, user, all) | (user, all, _, _) => user as f64 / all as f64,
        }
    }
}

#[cfg(test)]
mod tests;
