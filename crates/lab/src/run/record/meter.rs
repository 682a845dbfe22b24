//! Measures CPU time, I/O and context switches between two moments.

use std::path::Path;

use dyno_host::{Device, DeviceSample, HostSample, ProcessSample, ProcessTree, sample_host};
use dyno_store::Usage;

use super::memory::MemoryMeter;

/// Where the work of a system is done, for measuring its CPU time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// A server process and its children (PostgreSQL has one per connection).
    Server(u32),
    /// The load process itself.
    InClient,
    /// A process that Dyno did not start and cannot find.
    Elsewhere,
}

/// Reads CPU, I/O, memory and host counters of a trial.
#[derive(Debug)]
pub(crate) struct Meter {
    /// The processes that do the system's work.
    process: Option<ProcessTree>,
    /// Whether the system runs inside the load process, as SQLite does.
    in_process: bool,
    /// The system's connection pooler.
    pooler: Option<ProcessTree>,
    device: Option<Device>,
    pub(crate) memory: MemoryMeter,
}

/// All counters at one moment. A counter that cannot be read is `None`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    process: Option<ProcessSample>,
    pooler: Option<ProcessSample>,
    host: Option<HostSample>,
    device: Option<DeviceSample>,
}

impl Meter {
    /// Makes a meter. It reads the system's processes, its connection pooler, the load process and the device of
    /// the system's data folder, as far as each of them is known and on this host.
    pub(crate) fn new(work: Work, pooler: Option<u32>, client_pid: Option<u32>, data: Option<&Path>) -> Self {
        let pid = match work {
            Work::Server(pid) => Some(pid),
            Work::InClient => client_pid,
            Work::Elsewhere => None,
        };
        Self {
            process: pid.and_then(|pid| ProcessTree::open(pid).ok()),
            pooler: pooler.and_then(|pid| ProcessTree::open(pid).ok()),
            in_process: work == Work::InClient,
            device: data.and_then(Device::of_path),
            memory: MemoryMeter::new(work, client_pid),
        }
    }

    pub(crate) fn read(&mut self) -> Reading {
        Reading {
            process: self.process.as_mut().and_then(|process| process.sample().ok()),
            pooler: self.pooler.as_mut().and_then(|pooler| pooler.sample().ok()),
            host: sample_host().ok(),
            device: self.device.as_ref().and_then(|device| device.sample().ok()),
        }
    }

    /// CPU time of the system's processes between two readings, in µs; `None` if it is unknown.
    pub(crate) fn server_cpu_us(from: &Reading, to: &Reading) -> Option<u64> {
        let process = difference(from.process, to.process, |from, to| to.since(&from))?;
        Some(process.user_cpu_us + process.system_cpu_us)
    }

    /// Resource usage between two readings. `client` is the usage that the load process reports about itself.
    pub(crate) fn usage(&self, from: &Reading, to: &Reading, client: &dyno_load::Usage) -> Usage {
        let mut usage = Usage::default();
        if let Some(process) = difference(from.process, to.process, |from, to| to.since(&from)) {
            usage.server_user_cpu_us = Some(process.user_cpu_us);
            usage.server_system_cpu_us = Some(process.system_cpu_us);
            usage.server_context_switches =
                Some(process.voluntary_context_switches + process.involuntary_context_switches);
            usage.process_read_bytes = process.read_bytes;
            usage.process_write_bytes = process.write_bytes;
        }
        if let Some(pooler) = difference(from.pooler, to.pooler, |from, to| to.since(&from)) {
            usage.pooler_user_cpu_us = Some(pooler.user_cpu_us);
            usage.pooler_system_cpu_us = Some(pooler.system_cpu_us);
        }
        // The load process itself reports its CPU time, because it can read this time exactly at the ends of the
        // interval.
        let (user, system, switches) = if self.in_process {
            (
                &mut usage.server_user_cpu_us,
                &mut usage.server_system_cpu_us,
                &mut usage.server_context_switches,
            )
        } else {
            (
                &mut usage.client_user_cpu_us,
                &mut usage.client_system_cpu_us,
                &mut usage.client_context_switches,
            )
        };
        *user = Some(client.user_us);
        *system = Some(client.system_us);
        *switches = Some(client.context_switches);
        if let Some(device) = difference(from.device, to.device, |from, to| to.since(&from)) {
            usage.device_reads = Some(device.reads);
            usage.device_read_bytes = Some(device.read_bytes);
            usage.device_writes = Some(device.writes);
            usage.device_write_bytes = Some(device.write_bytes);
            usage.device_flushes = device.flushes;
        }
        if let Some(host) = difference(from.host, to.host, |from, to| to.since(&from)) {
            usage.host_user_cpu_us = Some(host.user_cpu_us);
            usage.host_system_cpu_us = Some(host.system_cpu_us);
            usage.host_iowait_cpu_us = Some(host.iowait_cpu_us);
            usage.host_steal_cpu_us = Some(host.steal_cpu_us);
            usage.host_idle_cpu_us = Some(host.idle_cpu_us);
        }
        usage
    }
}

fn difference<T, U>(from: Option<T>, to: Option<T>, since: impl FnOnce(T, T) -> U) -> Option<U> {
    Some(since(from?, to?))
}
