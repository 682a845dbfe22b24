//! Rules on the host.

use crate::audit::rule::Advice::Do;
use crate::audit::rule::{Rule, Severity, of_host};

/// If the space that the run needs is unknown, less free space than this number of bytes is a finding.
const LITTLE_SPACE_BYTES: u64 = 2 << 30;
/// A 4 KB write with fsync on flash takes longer than this, in µs. A faster disk has a battery-backed cache, or
/// reports writes as done too early.
const TOO_QUICK_FSYNC_US: f64 = 20.0;
/// Longest normal time until a core runs a woken thread, in µs. A longer time means that the core halts in a virtual
/// machine or sleeps deeply.
const SLOW_WAKE_US: f64 = 20.0;
const MUCH_STEAL_PERCENT: f64 = 1.0;
/// Largest share of the host's cores that other processes may use without a finding.
const MUCH_OTHER_LOAD: f64 = 0.1;

pub(super) const RULES: &[Rule] = &[
    Rule {
        id: "cpu-governor",
        severity: Severity::Warning,
        about: "cores whose frequency follows the load",
        advice: Do("set the governor to performance (cpupower frequency-set -g performance)"),
        look: |scene| {
            let governor = scene.host.cpu_governor.as_deref().filter(|governor| *governor != "performance");
            of_host(
                governor.map(|governor| format!("the CPU governor is {governor}: speed follows the load")),
            )
        },
    },
    Rule {
        id: "cpu-turbo",
        severity: Severity::Note,
        about: "cores that run faster while few are busy: one client looks better than many",
        advice: Do(
            "switch turbo off to compare numbers of clients (cpufreq/boost, or intel_pstate/no_turbo, in /sys/devices/system/cpu)",
        ),
        look: |scene| {
            let is_on = scene.host.turbo == Some(true);
            of_host(
                is_on.then(|| "the CPU's turbo is on: speed depends on how many cores are busy".to_owned()),
            )
        },
    },
    Rule {
        id: "cores-sleep",
        severity: Severity::Note,
        about: "idle cores that take long to wake: with few clients that is most of a short query",
        advice: Do(
            "run as root, and leave keep_cores_awake at \"auto\" in the plan; compare only runs whose cores were kept alike",
        ),
        look: |scene| {
            let slow = scene.host.wake_us.filter(|us| *us > SLOW_WAKE_US);
            of_host(slow.map(|us| format!("an idle core takes {us:.0} µs to run what is woken on it")))
        },
    },
    Rule {
        id: "cpu-quota",
        severity: Severity::Warning,
        about: "a group that is stopped for the rest of each period once its CPU time is used up",
        advice: Do("run without a quota, and limit the cores instead (server_cpus, client_cpus)"),
        look: |scene| {
            let quota = scene.host.cpu_quota;
            of_host(quota.map(|cpus| format!("the run is in a group that gets the time of {cpus:.1} cores")))
        },
    },
    Rule {
        id: "memory-limit",
        severity: Severity::Note,
        about: "a group with less memory than the host: pages of files are dropped sooner",
        advice: Do("size the servers' caches by it, not by the host"),
        look: |scene| {
            let limit = scene.host.memory_limit_bytes;
            of_host(
                limit.map(|bytes| format!("the run is in a group that gets {} MB of memory", bytes >> 20)),
            )
        },
    },
    Rule {
        id: "cpu-steal",
        severity: Severity::Warning,
        about: "CPU time that the hypervisor gives to other machines",
        advice: Do("use a machine with dedicated cores, and more trials"),
        look: |scene| {
            let steal = scene.host.steal_percent.filter(|percent| *percent > MUCH_STEAL_PERCENT);
            of_host(steal.map(|percent| format!("the hypervisor takes {percent:.1}% of the CPU time")))
        },
    },
    Rule {
        id: "other-load",
        severity: Severity::Warning,
        about: "other processes that keep cores busy",
        advice: Do("stop them, or wait until they are done"),
        look: |scene| {
            let host = scene.host;
            let limit = f64::from(host.cpus.unwrap_or(1)) * MUCH_OTHER_LOAD;
            let load = host.other_load.filter(|load| *load > limit);
            let names = host.other_processes.join(", ");
            of_host(load.map(|load| format!("other processes keep {load:.1} cores busy: {names}")))
        },
    },
    Rule {
        id: "huge-pages",
        severity: Severity::Note,
        about: "transparent huge pages everywhere: stalls when the kernel puts them together",
        advice: Do("echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"),
        look: |scene| {
            let always = scene.host.transparent_huge_pages.as_deref() == Some("always");
            of_host(always.then(|| "transparent huge pages are always on".to_owned()))
        },
    },
    Rule {
        id: "swap",
        severity: Severity::Warning,
        about: "memory that is swapped out: caches may be on disk",
        advice: Do("free memory, then swapoff -a"),
        look: |scene| {
            let used = scene.host.swap_used_bytes.filter(|bytes| *bytes > 0);
            of_host(used.map(|bytes| format!("{} MB of memory are swapped out", bytes.div_ceil(1 << 20))))
        },
    },
    Rule {
        id: "disk-space",
        severity: Severity::Error,
        about: "less free space than the run needs",
        advice: Do("free space, or put the data on another disk"),
        look: |scene| {
            let needed = scene.host.disk_needed_bytes.unwrap_or(LITTLE_SPACE_BYTES);
            let free = scene.host.disk_free_bytes.filter(|free| *free < needed);
            of_host(free.map(|free| {
                format!("{} MB are free where the data will be, {} MB are needed", free >> 20, needed >> 20)
            }))
        },
    },
    Rule {
        id: "fsync-too-fast",
        severity: Severity::Warning,
        about: "a disk that confirms a write sooner than the write can be safe",
        advice: Do("find out whether its write cache survives a power cut; if not, switch it off"),
        look: |scene| {
            let host = scene.host;
            let quick = host
                .fsync_us
                .filter(|us| *us < TOO_QUICK_FSYNC_US && !is_memory(host.file_system.as_deref()));
            of_host(
                quick
                    .map(|us| format!("a write and fsync of 4 KB takes {us:.0} µs: the device may be lying")),
            )
        },
    },
    Rule {
        id: "data-in-memory",
        severity: Severity::Warning,
        about: "data on a file system in memory: a sync costs nothing",
        advice: Do("put the data on a disk, unless memory is what is studied"),
        look: |scene| {
            let kind = scene.host.file_system.as_deref();
            of_host(
                kind.filter(|_| is_memory(kind)).map(|kind| format!("the data will be in memory ({kind})")),
            )
        },
    },
    Rule {
        id: "network-filesystem",
        severity: Severity::Warning,
        about: "data on a file system of another machine: a network is measured too",
        advice: Do("put the data on a disk of this host, unless the network is what is studied"),
        look: |scene| {
            let remote = ["nfs", "nfs4", "cifs", "smb3", "9p", "fuse.sshfs"];
            let kind = scene.host.file_system.as_deref().filter(|kind| remote.contains(kind));
            of_host(kind.map(|kind| format!("the data will be on another machine ({kind})")))
        },
    },
    Rule {
        id: "copying-file-system",
        severity: Severity::Note,
        about: "a file system that writes pages to new places: its work comes on top of the engine's",
        advice: Do("use ext4 or XFS, unless the file system is what is studied"),
        look: |scene| {
            let copying = ["btrfs", "zfs", "overlay", "bcachefs"];
            let kind = scene.host.file_system.as_deref().filter(|kind| copying.contains(kind));
            of_host(kind.map(|kind| format!("the data will be on {kind}")))
        },
    },
    Rule {
        id: "write-barriers-off",
        severity: Severity::Warning,
        about: "a file system that does not flush the disk's cache: a sync promises nothing",
        advice: Do("mount it without nobarrier"),
        look: |scene| {
            let off = ["nobarrier", "barrier=0"];
            let options = scene.host.mount_options.as_deref().unwrap_or_default();
            let option = options.iter().find(|option| off.contains(&option.as_str()));
            of_host(option.map(|option| format!("the file system is mounted with {option}")))
        },
    },
    Rule {
        id: "virtual-machine",
        severity: Severity::Note,
        about: "a virtual machine, whose neighbours and limits do not show from inside",
        advice: Do("take more trials, and compare only what ran on the same machine at the same time"),
        look: |scene| {
            let hypervisor = scene.host.hypervisor.as_deref();
            of_host(hypervisor.map(|name| format!("the host is a virtual machine ({name})")))
        },
    },
];

fn is_memory(file_system: Option<&str>) -> bool {
    matches!(file_system, Some("tmpfs" | "ramfs"))
}
