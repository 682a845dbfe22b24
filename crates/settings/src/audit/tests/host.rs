//! The rules about the host: each is seen to fire and not to.

use crate::audit::HostChecks;
use crate::audit::testing::said;

fn of(rule: &str, host: &HostChecks) -> Vec<String> {
    said(rule, &[], host)
}

/// Nothing that anybody could object to.
fn good() -> HostChecks {
    HostChecks {
        cpus: Some(8),
        cpu_governor: Some("performance".to_owned()),
        steal_percent: Some(0.2),
        transparent_huge_pages: Some("madvise".to_owned()),
        swap_used_bytes: Some(0),
        disk_free_bytes: Some(100 << 30),
        disk_needed_bytes: Some(10 << 30),
        other_load: Some(0.1),
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
    let cases: [(&str, HostChecks, &str); 12] = [
        (
            "cpu-governor",
            HostChecks { cpu_governor: Some("powersave".to_owned()), ..good() },
            "the CPU governor is powersave: speed follows the load",
        ),
        (
            "cpu-steal",
            HostChecks { steal_percent: Some(4.25), ..good() },
            "the hypervisor takes 4.2% of the CPU time",
        ),
        ("other-load", HostChecks { other_load: Some(1.5), ..good() }, "other processes keep 1.5 cores busy"),
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
            "disk-too-quick",
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
