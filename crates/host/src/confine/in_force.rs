//! The limits that the kernel applies, compared with the requested ones.

use std::fmt;

use procfs::Current as _;
use rustix::param::page_size;
use serde::Serialize;

use super::confinement::{Confinement, IoLimits};
use super::cpu_set::CpuSet;
use super::size::format_bytes;

/// The limits of a server that the kernel applies at one moment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct InForce {
    /// The CPUs on which the server's main thread may run; `None` if the process is gone.
    pub server_cpus: Option<CpuSet>,
    /// The server's memory limit. `None` if it has no limit, or is not in the group with the limit.
    pub memory_bytes: Option<u64>,
    /// Swap that the server may use in addition to its memory; `None` if swap is not limited.
    pub swap_bytes: Option<u64>,
    /// Limits of I/O on the server's volume.
    #[serde(flatten)]
    pub io: IoLimits,
    /// The least duration of a request to the server's disk, in microseconds; `None` if no latency is set.
    pub latency_us: Option<u64>,
    /// Size of the volume's device, in bytes; `None` without a volume.
    pub volume_bytes: Option<u64>,
    /// Whether the loop device uses direct I/O on the volume's file; `None` without a volume.
    pub is_direct_io: Option<bool>,
}

/// A limit whose value in the kernel differs from the requested one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LimitDifference {
    /// The limit's key in plans, such as `memory`. `swap` is no key in plans: a limit of memory forbids all swap.
    pub limit: &'static str,
    pub asked: String,
    pub found: String,
}

/// A resource that a confinement cannot limit on this host, because the kernel lacks the means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NotLimited {
    Swap,
    /// The page cache for the volume's file, which belongs to the file system that contains this file.
    PageCacheBelow,
    /// Threads that the kernel runs for the server.
    KernelThreads,
    /// Pages that the kernel writes back for the server.
    WriteBack,
}

/// A confinement read back from the kernel.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReadBack {
    pub in_force: InForce,
    pub differences: Vec<LimitDifference>,
    pub not_limited: Vec<NotLimited>,
}

impl fmt::Display for NotLimited {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Swap => {
                "swap: the kernel does not count it for groups; switch swap off (swapoff -a), or boot with swapaccount=1"
            }
            Self::PageCacheBelow => {
                "the page cache below the volume: its file system has no direct I/O, so memory beyond the limit \
                 caches what is read; put DYNO_CACHE on ext4 or XFS"
            }
            Self::KernelThreads => {
                "the kernel's threads for the server (io_uring): there is no cpuset controller; mount one"
            }
            Self::WriteBack => {
                "what the kernel writes back: there is no memory controller beside io; enable memory in \
                 cgroup.subtree_control"
            }
        })
    }
}

impl Confinement {
    /// The limits that differ from the requested ones.
    pub fn differences(&self, in_force: &InForce) -> Vec<LimitDifference> {
        let cpus = |cpus: &Option<CpuSet>| cpus.as_ref().map(ToString::to_string);
        let bytes = |bytes: Option<u64>| bytes.map(format_bytes);
        let number = |number: Option<u64>| number.map(|number| number.to_string());
        let milliseconds = |us: Option<u64>| us.map(|us| (us as f64 / 1e3).to_string());
        // The kernel rounds memory down to whole pages, and a device's size down to whole sectors.
        let rounded = |bytes: Option<u64>, unit: u64| bytes.map(|bytes| bytes / unit * unit);
        let swap = self.memory_bytes.and(in_force.swap_bytes).map(|_| 0);
        let bursting = self.burst_as_baseline(&in_force.io);
        let (asked, found) = (&self.io, &bursting);
        let limits = [
            ("server_cpus", cpus(&self.server_cpus), cpus(&in_force.server_cpus)),
            ("memory", bytes(rounded(self.memory_bytes, page_size() as u64)), bytes(in_force.memory_bytes)),
            ("swap", bytes(swap), bytes(in_force.swap_bytes)),
            ("read_iops", number(asked.read_iops), number(found.read_iops)),
            ("write_iops", number(asked.write_iops), number(found.write_iops)),
            ("read_bytes_per_second", bytes(asked.read_bytes_per_second), bytes(found.read_bytes_per_second)),
            (
                "write_bytes_per_second",
                bytes(asked.write_bytes_per_second),
                bytes(found.write_bytes_per_second),
            ),
            ("latency_ms", milliseconds(self.latency_us), milliseconds(in_force.latency_us)),
            ("volume", bytes(rounded(self.volume_bytes(), 512)), bytes(in_force.volume_bytes)),
        ];
        let differs = limits.into_iter().filter(|(_, asked, found)| asked.is_some() && asked != found);
        differs
            .map(|(limit, asked, found)| LimitDifference {
                limit,
                asked: asked.unwrap_or_default(),
                found: found.unwrap_or_else(|| "no limit".to_owned()),
            })
            .collect()
    }
}

impl Confinement {
    /// Returns the found limits of I/O in a form that can be compared with the requested ones. With burst credits,
    /// the limit in the kernel varies between the baseline and the burst rate. A limit in this range is replaced by
    /// the baseline, which is the requested limit.
    fn burst_as_baseline(&self, found: &IoLimits) -> IoLimits {
        let Some((baseline, burst, _)) = self.burst() else { return found.clone() };
        let allowed =
            |iops: Option<u64>| iops.map(|iops| if iops <= burst { iops.min(baseline) } else { iops });
        IoLimits {
            read_iops: allowed(found.read_iops),
            write_iops: allowed(found.write_iops),
            ..found.clone()
        }
    }
}

/// Whether the host has swap.
pub(super) fn has_swap() -> bool {
    procfs::Meminfo::current().is_ok_and(|memory| memory.swap_total > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked() -> Confinement {
        Confinement {
            server_cpus: Some("0-1".parse().unwrap()),
            memory_bytes: Some((64 << 20) + 1),
            io: IoLimits { write_bytes_per_second: Some(8 << 20), ..IoLimits::of_iops(200) },
            latency_us: Some(2500),
            volume_bytes: Some(64 << 20),
            ..Confinement::default()
        }
    }

    fn in_force() -> InForce {
        InForce {
            server_cpus: Some("0-1".parse().unwrap()),
            memory_bytes: Some(64 << 20),
            swap_bytes: Some(0),
            io: asked().io,
            latency_us: Some(2500),
            volume_bytes: Some(64 << 20),
            is_direct_io: Some(true),
        }
    }

    #[test]
    fn limits_as_asked_for_do_not_differ_and_others_that_nobody_asked_for_do_not_count() {
        assert_eq!(asked().differences(&in_force()), []);
        assert_eq!(Confinement::default().differences(&in_force()), []);
    }

    #[test]
    fn each_limit_that_differs_is_told_with_both_values() {
        let changed = InForce {
            server_cpus: Some("0".parse().unwrap()),
            memory_bytes: Some(128 << 20),
            swap_bytes: Some(1 << 30),
            io: IoLimits { write_iops: None, read_iops: Some(7), ..asked().io },
            latency_us: Some(0),
            ..in_force()
        };
        let found: Vec<_> = asked()
            .differences(&changed)
            .into_iter()
            .map(|found| format!("{} {} {}", found.limit, found.asked, found.found))
            .collect();
        let expected = [
            "server_cpus 0-1 0",
            "memory 64M 128M",
            "swap 0 1G",
            "read_iops 200 7",
            "write_iops 200 no limit",
            "latency_ms 2.5 0",
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn a_volume_with_credits_may_have_any_limit_from_its_baseline_to_its_burst() {
        let asked = Confinement { burst_iops: Some(1000), burst_credits: Some(5000), ..asked() };
        for (iops, differences) in [(200, 0), (640, 0), (1000, 0), (1001, 2), (150, 2)] {
            let io = IoLimits { write_bytes_per_second: Some(8 << 20), ..IoLimits::of_iops(iops) };
            let found = InForce { io, ..in_force() };
            assert_eq!(asked.differences(&found).len(), differences, "{iops}");
        }
    }

    #[test]
    fn what_is_in_force_is_flat_json() {
        let json = serde_json::to_value(in_force()).unwrap();
        assert_eq!(json["write_iops"], 200);
        assert_eq!(json["server_cpus"], "0-1");
    }
}
