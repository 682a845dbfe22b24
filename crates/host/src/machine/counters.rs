//! Counters of the whole host.

use procfs::{CurrentSI, KernelStats};

use crate::error::SampleError;

/// The host's counters at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostSample(HostUsage);

/// Usage of all CPUs between two samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostUsage {
    /// CPU time in user space, low priorities and guests included.
    pub user_cpu_us: u64,
    /// CPU time in the kernel, interrupts included.
    pub system_cpu_us: u64,
    /// CPU time of interrupts, which is part of [`system_cpu_us`](Self::system_cpu_us).
    pub interrupt_cpu_us: u64,
    /// Idle CPU time while storage requests were pending.
    pub iowait_cpu_us: u64,
    /// CPU time that a hypervisor gave to other guests.
    pub steal_cpu_us: u64,
    /// Idle CPU time without pending storage requests.
    pub idle_cpu_us: u64,
    pub context_switches: u64,
    /// Number of CPUs that are online.
    pub cpus: u32,
}

/// Reads the host's counters from `/proc/stat`, whose CPU times are in ticks (usually 10 ms).
///
/// # Errors
/// `/proc` is not mounted.
pub fn sample_host() -> Result<HostSample, SampleError> {
    let stat = KernelStats::current().map_err(|error| SampleError::unreadable("/proc/stat", &error))?;
    let us_a_tick = 1_000_000 / procfs::ticks_per_second();
    let us = |ticks: u64| ticks * us_a_tick;
    let cpu = &stat.total;
    let interrupts = cpu.irq.unwrap_or(0) + cpu.softirq.unwrap_or(0);
    Ok(HostSample(HostUsage {
        user_cpu_us: us(cpu.user + cpu.nice),
        system_cpu_us: us(cpu.system + interrupts),
        interrupt_cpu_us: us(interrupts),
        iowait_cpu_us: us(cpu.iowait.unwrap_or(0)),
        steal_cpu_us: us(cpu.steal.unwrap_or(0)),
        idle_cpu_us: us(cpu.idle),
        context_switches: stat.ctxt,
        cpus: stat.cpu_time.len() as u32,
    }))
}

impl HostSample {
    /// Usage since an earlier sample. `iowait` and `idle` may decrease a little (`proc_stat(5)`). A decrease counts
    /// as 0.
    pub fn since(&self, earlier: &Self) -> HostUsage {
        let (now, then) = (&self.0, &earlier.0);
        HostUsage {
            user_cpu_us: now.user_cpu_us.saturating_sub(then.user_cpu_us),
            system_cpu_us: now.system_cpu_us.saturating_sub(then.system_cpu_us),
            interrupt_cpu_us: now.interrupt_cpu_us.saturating_sub(then.interrupt_cpu_us),
            iowait_cpu_us: now.iowait_cpu_us.saturating_sub(then.iowait_cpu_us),
            steal_cpu_us: now.steal_cpu_us.saturating_sub(then.steal_cpu_us),
            idle_cpu_us: now.idle_cpu_us.saturating_sub(then.idle_cpu_us),
            context_switches: now.context_switches.saturating_sub(then.context_switches),
            cpus: now.cpus,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_passes_on_every_cpu() {
        let first = sample_host().unwrap();
        let cpu_us = |usage: &HostUsage| {
            usage.user_cpu_us
                + usage.system_cpu_us
                + usage.iowait_cpu_us
                + usage.steal_cpu_us
                + usage.idle_cpu_us
        };
        let usage = loop {
            let usage = sample_host().unwrap().since(&first);
            if cpu_us(&usage) >= 100_000 {
                break usage;
            }
            std::thread::yield_now();
        };
        assert!(usage.context_switches > 0, "{usage:?}");
    }

    #[test]
    fn a_counter_that_goes_back_counts_as_nothing() {
        let now = sample_host().unwrap();
        let mut later = now;
        later.0.idle_cpu_us = now.0.idle_cpu_us.saturating_sub(10_000);
        assert_eq!(later.since(&now).idle_cpu_us, 0);
    }
}
