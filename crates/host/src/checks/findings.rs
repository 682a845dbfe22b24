//! What checks mean for measurements.

use serde::{Deserialize, Serialize};

use super::Checks;

/// Steal time above this moves results by as much, and more in the tail.
const STEAL_SHARE_MAX: f64 = 0.01;
/// Other load above this does.
const OTHER_CPUS_MAX: f64 = 0.1;
const FREE_DISK_BYTES_MIN: u64 = 5 << 30;
/// Flash without a protected cache takes longer for a flush than this.
const SYNC_WRITE_US_MIN: u64 = 50;
/// File systems that keep data in memory, or elsewhere.
const MEMORY_FILE_SYSTEMS: [&str; 2] = ["tmpfs", "ramfs"];
const REMOTE_FILE_SYSTEMS: [&str; 6] = ["nfs", "nfs4", "cifs", "smb3", "9p", "fuse.sshfs"];

/// How much something matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// Good to know when results are compared with those of another host.
    Note,
    /// Makes results unsteady, or other than what they seem.
    Warning,
}

/// Something about a host that matters for measurements on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostFinding {
    /// A name that stays (`host.steal`).
    pub id: String,
    /// How much it matters.
    pub severity: Severity,
    /// What was found, what it does to results, and what can be done: one line.
    pub explanation: String,
}

impl Checks {
    /// What of the checks matters for measurements, warnings first.
    pub fn findings(&self) -> Vec<HostFinding> {
        let rules =
            [cpu_frequency, turbo, steal, other_load, swap, huge_pages, disk_space, file_system, sync_write];
        let mut findings: Vec<_> = rules.iter().filter_map(|rule| rule(self)).collect();
        findings.extend(own_limits(self));
        findings.extend(virtual_machine(self));
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        findings
    }
}

fn note(id: &str, explanation: String) -> HostFinding {
    HostFinding { id: format!("host.{id}"), severity: Severity::Note, explanation }
}

fn warning(id: &str, explanation: String) -> HostFinding {
    HostFinding { severity: Severity::Warning, ..note(id, explanation) }
}

fn cpu_frequency(checks: &Checks) -> Option<HostFinding> {
    let governor = checks.governor.as_ref().filter(|governor| *governor != "performance")?;
    Some(warning(
        "governor",
        format!(
            "the CPU frequency follows the load (governor {governor}), which slows low concurrency down; set \
             performance"
        ),
    ))
}

fn turbo(checks: &Checks) -> Option<HostFinding> {
    let text =
        "CPUs run faster than nominal while few are busy and cool, so one thread looks better than many";
    checks.turbo.filter(|is_on| *is_on).map(|_| note("turbo", text.to_owned()))
}

fn steal(checks: &Checks) -> Option<HostFinding> {
    let share = checks.load.steal_share.filter(|share| *share > STEAL_SHARE_MAX)?;
    let percent = share * 100.0;
    Some(warning("steal", format!("the hypervisor gives {percent:.0} % of the CPU time to others")))
}

fn other_load(checks: &Checks) -> Option<HostFinding> {
    let busiest = &checks.load.busiest;
    let cpus: f64 = busiest.iter().map(|process| process.cpus).sum();
    let name = |process: &super::BusyProcess| {
        format!("{} (pid {}, {:.2} CPUs)", process.name, process.pid, process.cpus)
    };
    let names: Vec<_> = busiest.iter().map(name).collect();
    let text = || format!("other processes use CPU: {}; stop them", names.join(", "));
    (cpus > OTHER_CPUS_MAX).then(|| warning("other_load", text()))
}

fn swap(checks: &Checks) -> Option<HostFinding> {
    let bytes = checks.swap_used_bytes.filter(|bytes| *bytes > 0)?;
    Some(note(
        "swap",
        format!("{} MiB are swapped out; memory was short once, and may be again", bytes.div_ceil(1 << 20)),
    ))
}

fn huge_pages(checks: &Checks) -> Option<HostFinding> {
    let text = "transparent huge pages are always on, which costs memory and pauses for compaction; set madvise, \
                which leaves it to the server";
    checks
        .transparent_huge_pages
        .as_ref()
        .filter(|mode| *mode == "always")
        .map(|_| note("transparent_huge_pages", text.to_owned()))
}

fn disk_space(checks: &Checks) -> Option<HostFinding> {
    let bytes = checks.free_disk_bytes.filter(|bytes| *bytes < FREE_DISK_BYTES_MIN)?;
    let text =
        format!("{} MiB are free for data; servers need room for logs and compaction too", bytes >> 20);
    Some(warning("disk_space", text))
}

fn file_system(checks: &Checks) -> Option<HostFinding> {
    let kind = checks.file_system.as_ref()?.kind.as_str();
    if MEMORY_FILE_SYSTEMS.contains(&kind) {
        return Some(warning(
            "file_system",
            format!("data is kept in memory ({kind}), so no disk is measured"),
        ));
    }
    REMOTE_FILE_SYSTEMS.contains(&kind).then(|| {
        warning("file_system", format!("data is kept elsewhere ({kind}), so a network is measured too"))
    })
}

fn sync_write(checks: &Checks) -> Option<HostFinding> {
    let us = checks.sync_write?.median_us;
    let text = format!(
        "a write of 4 KB is reported safe after {us} us: the storage has a protected cache, or does not wait \
         for its own"
    );
    (us < SYNC_WRITE_US_MIN).then(|| note("sync_write", text))
}

fn own_limits(checks: &Checks) -> Vec<HostFinding> {
    let cpus = checks.own_limits.cpus.map(|cpus| {
        warning("cpu_quota", format!(
            "dyno runs in a group that gets {cpus:.1} CPUs, and is stopped for the rest of each period once it \
             has used them"
        ))
    });
    let memory = checks.own_limits.memory_bytes.map(|bytes| {
        note("memory_limit", format!("dyno runs in a group that gets {} MiB of memory", bytes >> 20))
    });
    cpus.into_iter().chain(memory).collect()
}

fn virtual_machine(checks: &Checks) -> Option<HostFinding> {
    let machine = checks.machine.as_deref().unwrap_or("of unknown make");
    let text = format!("this is a virtual machine ({machine}), whose neighbours cannot be seen");
    checks.is_virtual.filter(|is_virtual| *is_virtual).map(|_| note("virtual", text))
}

#[cfg(test)]
mod tests {
    use super::super::{BusyProcess, FileSystem, OtherLoad, OwnLimits, SyncWrite};
    use super::*;

    fn quiet() -> Checks {
        Checks {
            governor: Some("performance".to_owned()),
            turbo: Some(false),
            load: OtherLoad { steal_share: Some(0.0), busy_share: Some(0.0), busiest: Vec::new() },
            load_average: Some(0.0),
            transparent_huge_pages: Some("madvise".to_owned()),
            swap_used_bytes: Some(0),
            free_disk_bytes: Some(1 << 40),
            disk_bytes: Some(1 << 41),
            file_system: Some(FileSystem {
                kind: "ext4".to_owned(),
                source: Some("/dev/vda".to_owned()),
                options: "rw".to_owned(),
                device: Some("vda".to_owned()),
                write_cache: None,
                is_rotational: None,
            }),
            sync_write: Some(SyncWrite { median_us: 800, count: 50 }),
            is_virtual: Some(false),
            machine: None,
            own_limits: OwnLimits::default(),
        }
    }

    fn found(change: impl FnOnce(&mut Checks)) -> String {
        let mut checks = quiet();
        change(&mut checks);
        let line =
            |finding: HostFinding| format!("{:?} {}: {}", finding.severity, finding.id, finding.explanation);
        checks.findings().into_iter().map(line).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn a_quiet_host_has_nothing_to_tell() {
        assert_eq!(found(|_| ()), "");
    }

    #[test]
    fn each_thing_that_matters_is_found_by_itself() {
        let busy = BusyProcess { pid: 7, name: "rustc".to_owned(), cpus: 1.0 };
        for (line, expected) in [
            (found(|checks| checks.governor = Some("powersave".to_owned())), "Warning host.governor: "),
            (found(|checks| checks.turbo = Some(true)), "Note host.turbo: "),
            (
                found(|checks| checks.load.steal_share = Some(0.05)),
                "Warning host.steal: the hypervisor gives 5 %",
            ),
            (
                found(|checks| checks.load.busiest = vec![busy]),
                "Warning host.other_load: other processes use CPU: rustc (pid 7, 1.00 CPUs)",
            ),
            (found(|checks| checks.swap_used_bytes = Some(1)), "Note host.swap: 1 MiB"),
            (
                found(|checks| checks.transparent_huge_pages = Some("always".to_owned())),
                "Note host.transparent",
            ),
            (found(|checks| checks.free_disk_bytes = Some(1 << 30)), "Warning host.disk_space: 1024 MiB"),
            (
                found(|checks| checks.file_system.as_mut().unwrap().kind = "tmpfs".to_owned()),
                "Warning host.file_system: data is kept in memory",
            ),
            (
                found(|checks| checks.file_system.as_mut().unwrap().kind = "nfs4".to_owned()),
                "Warning host.file_system: data is kept elsewhere",
            ),
            (
                found(|checks| checks.sync_write.as_mut().unwrap().median_us = 3),
                "Note host.sync_write: a write of 4 KB is reported safe after 3 us",
            ),
            (found(|checks| checks.own_limits.cpus = Some(1.5)), "Warning host.cpu_quota: "),
            (found(|checks| checks.own_limits.memory_bytes = Some(1 << 30)), "Note host.memory_limit: "),
            (found(|checks| checks.is_virtual = Some(true)), "Note host.virtual: "),
        ] {
            assert!(line.starts_with(expected), "{line:?} is not {expected:?}");
            assert_eq!(line.lines().count(), 1, "{line}");
        }
    }

    #[test]
    fn warnings_come_first_and_what_is_unknown_is_not_found() {
        let lines = found(|checks| {
            checks.turbo = Some(true);
            checks.load.steal_share = Some(0.5);
        });
        assert!(lines.starts_with("Warning host.steal"), "{lines}");
        let unknown = found(|checks| {
            (checks.governor, checks.sync_write, checks.file_system) = (None, None, None);
        });
        assert_eq!(unknown, "");
    }
}
