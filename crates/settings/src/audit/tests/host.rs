//! Tests of the rules on the host. Each rule has a case in which it fires, and a case in which it does not.

use crate::audit::HostChecks;
use crate::audit::testing::said;

fn of(rule: &str, host: &HostChecks) -> Vec<String> {
    said(rule, &[], host)
}

/// A host without findings.
fn good() -> HostChecks {
    HostChecks {
        cpus: Some(8),
        cpu_governor: Some("performance".to_owned()),
        turbo: Some(false),
        wake_us: Some(5.0),
        cpu_quota: None,
        memory_limit_bytes: None,
        steal_percent: Some(0.2),
        transparent_huge_pages: Some("madvise".to_owned()),
        swap_used_bytes: Some(0),
        disk_free_bytes: Some(100 << 30),
        disk_needed_bytes: Some(10 << 30),
        other_load: Some(0.1),
        other_processes: vec!["sshd (pid 3, 0.1)".to_owned()],
        fsync_us: Some(900.0),
        file_system: Some("ext4".to_owned()),
        mount_options: Some(vec!["rw".to_owned(), "relatime".to_owned()]),
        hypervisor: None,
    }
}

#[test]
fn a_good_host_and_an_unknown_one_are_not_spoken_of() {
    for host in [good(), HostChecks::default()] {
        assert_eq!(crate::audit::audit(&[], &host).findings, []);
    }
}

#[test]
fn each_fault_is_told() {
    let cases: [(&str, HostChecks, &str); 17] = [
        (
            "cpu-governor",
            HostChecks { cpu_governor: Some("powersave".to_owned()), ..good() },
            "the CPU governor is powersave: speed follows the load",
        ),
        (
            "cpu-turbo",
            HostChecks { turbo: Some(true), ..good() },
            "the CPU's turbo is on: speed depends on how many cores are busy",
        ),
        (
            "cores-sleep",
            HostChecks { wake_us: Some(45.0), ..good() },
            "an idle core takes 45 µs to run what is woken on it",
        ),
        (
            "cpu-quota",
            HostChecks { cpu_quota: Some(1.5), ..good() },
            "the run is in a group that gets the time of 1.5 cores",
        ),
        (
            "memory-limit",
            HostChecks { memory_limit_bytes: Some(1 << 30), ..good() },
            "the run is in a group that gets 1024 MB of memory",
        ),
        (
            "network-filesystem",
            HostChecks { file_system: Some("nfs4".to_owned()), ..good() },
            "the data will be on another machine (nfs4)",
        ),
        (
            "cpu-steal",
            HostChecks { steal_percent: Some(4.25), ..good() },
            "the hypervisor takes 4.2% of the CPU time",
        ),
        (
            "other-load",
            HostChecks {
                other_load: Some(1.5),
                other_processes: vec!["rustc (pid 7, 1.0)".to_owned(), "cron (pid 8, 0.5)".to_owned()],
                ..good()
            },
            "other processes keep 1.5 cores busy: rustc (pid 7, 1.0), cron (pid 8, 0.5)",
        ),
        (
            "huge-pages",
            HostChecks { transparent_huge_pages: Some("always".to_owned()), ..good() },
            "transparent huge pages are always on",
        ),
        ("swap", HostChecks { swap_used_bytes: Some(1), ..good() }, "1 MB of memory are swapped out"),
        (
            "disk-space",
            HostChecks { disk_free_bytes: Some(5 << 30), ..good() },
            "5120 MB are free where the data will be, 10240 MB are needed",
        ),
        (
            "disk-space",
            HostChecks { disk_free_bytes: Some(1 << 30), disk_needed_bytes: None, ..good() },
            "1024 MB are free where the data will be, 2048 MB are needed",
        ),
        (
            "fsync-too-fast",
            HostChecks { fsync_us: Some(7.0), ..good() },
            "a write and fsync of 4 KB takes 7 µs: the device may be lying",
        ),
        (
            "data-in-memory",
            HostChecks { file_system: Some("tmpfs".to_owned()), fsync_us: Some(1.0), ..good() },
            "the data will be in memory (tmpfs)",
        ),
        (
            "copying-file-system",
            HostChecks { file_system: Some("btrfs".to_owned()), ..good() },
            "the data will be on btrfs",
        ),
        (
            "write-barriers-off",
            HostChecks { mount_options: Some(vec!["rw".to_owned(), "nobarrier".to_owned()]), ..good() },
            "the file system is mounted with nobarrier",
        ),
        (
            "virtual-machine",
            HostChecks { hypervisor: Some("kvm".to_owned()), ..good() },
            "the host is a virtual machine (kvm)",
        ),
    ];
    for (rule, host, expected) in cases {
        assert_eq!(of(rule, &host), [expected]);
        assert_eq!(crate::audit::audit(&[], &host).findings.len(), 1, "{rule}");
    }
}
