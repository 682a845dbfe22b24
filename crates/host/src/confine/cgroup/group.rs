//! A cgroup in a hierarchy, and the formats of its files in both versions of cgroups.

use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::tree::Version;
use crate::confine::IoLimits;
use crate::confine::cpu_set::CpuSet;
use crate::confine::error::{At as _, ConfineError};

/// Longest time to wait until the last processes of a group have ended.
const PATIENCE: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(10);

/// Operations on a device, counted in the same way as for the kernel's I/O limits. The file system's requests are
/// counted before the kernel merges neighbouring requests. A flush that comes with a write is not counted separately.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IoCounts {
    pub reads: u64,
    /// Writes, and flushes that come without a write.
    pub writes: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Group {
    pub(crate) version: Version,
    pub(crate) folder: PathBuf,
}

impl Group {
    /// Restricts processes to some CPUs.
    pub(crate) fn limit_cpus(&self, cpus: &CpuSet) -> Result<(), ConfineError> {
        if self.version == Version::V1 {
            // A new group of version 1 has no memory nodes. Processes can join the group only after its nodes are
            // set.
            let parent = self.folder.parent().unwrap_or(&self.folder).join("cpuset.mems");
            let nodes = fs::read_to_string(&parent).at("read", &parent)?;
            self.write("cpuset.mems", nodes.trim())?;
        }
        self.write("cpuset.cpus", &cpus.to_string())
    }

    /// Limits memory, page cache included, and disables swap.
    pub(crate) fn limit_memory(&self, bytes: u64) -> Result<(), ConfineError> {
        match self.version {
            Version::V1 => {
                self.write("memory.limit_in_bytes", &bytes.to_string())?;
                // The file below limits memory and swap together. It exists only if the kernel counts swap.
                self.write_if_there("memory.memsw.limit_in_bytes", &bytes.to_string())
            }
            Version::V2 => {
                self.write("memory.max", &bytes.to_string())?;
                self.write_if_there("memory.swap.max", "0")
            }
        }
    }

    /// Limits I/O on a device (`MAJOR:MINOR`). If a kind of operation has no limit in `io`, its earlier limit is
    /// removed.
    pub(crate) fn limit_io(&self, device: &str, io: &IoLimits) -> Result<(), ConfineError> {
        match self.version {
            Version::V1 => limit_io_v1(&self.folder, device, io),
            Version::V2 => {
                let value = |limit: Option<u64>| limit.map_or("max".to_owned(), |limit| limit.to_string());
                let limits = format!(
                    "{device} rbps={} wbps={} riops={} wiops={}",
                    value(io.read_bytes_per_second),
                    value(io.write_bytes_per_second),
                    value(io.read_iops),
                    value(io.write_iops),
                );
                self.write("io.max", &limits)
            }
        }
    }

    /// Returns the operations on a device (`MAJOR:MINOR`), counted in the same way as for the kernel's I/O limits.
    /// `None` if there were no operations, or if the kernel does not count them.
    pub(crate) fn io_counts(&self, device: &str) -> Option<IoCounts> {
        let file = match self.version {
            Version::V1 => "blkio.throttle.io_serviced",
            Version::V2 => "io.stat",
        };
        let text = fs::read_to_string(self.folder.join(file)).ok()?;
        let of_device = text.lines().filter_map(|line| line.strip_prefix(device)?.strip_prefix(' '));
        // Version 1 has a line for each kind of operation, such as `Read 3`. Version 2 has one line with `rios=3` and
        // others.
        let words: Vec<_> = of_device.flat_map(|line| line.split([' ', '='])).collect();
        let after = |name: &str| words.iter().skip_while(|word| **word != name).nth(1)?.parse().ok();
        let [reads, writes] = match self.version {
            Version::V1 => ["Read", "Write"],
            Version::V2 => ["rios", "wios"],
        };
        Some(IoCounts { reads: after(reads)?, writes: after(writes)? })
    }

    /// The memory that the group's processes use, page cache included, in bytes.
    pub(crate) fn memory_usage_bytes(&self) -> Option<u64> {
        self.number(match self.version {
            Version::V1 => "memory.usage_in_bytes",
            Version::V2 => "memory.current",
        })
    }

    /// The largest memory that the group's processes used, in bytes. Version 2 reports it since Linux 5.19.
    pub(crate) fn memory_peak_bytes(&self) -> Option<u64> {
        self.number(match self.version {
            Version::V1 => "memory.max_usage_in_bytes",
            Version::V2 => "memory.peak",
        })
    }

    /// Number of the group's processes that the kernel killed for lack of memory. Version 1 reports it since Linux
    /// 4.13.
    pub(crate) fn oom_kills(&self) -> Option<u64> {
        self.oom_kills_in(match self.version {
            Version::V1 => "memory.oom_control",
            Version::V2 => "memory.events",
        })
    }

    /// Like [`Self::oom_kills`], but without the kills in child groups. Version 2 reports this number since Linux
    /// 5.2. Version 1 never counts kills in child groups.
    pub(crate) fn oom_kills_without_children(&self) -> Option<u64> {
        match self.version {
            Version::V1 => self.oom_kills(),
            Version::V2 => self.oom_kills_in("memory.events.local"),
        }
    }

    fn oom_kills_in(&self, file: &str) -> Option<u64> {
        let text = fs::read_to_string(self.folder.join(file)).ok()?;
        text.lines()
            .find_map(|line| line.strip_prefix("oom_kill "))
            .and_then(|count| count.trim().parse().ok())
    }

    fn write(&self, file: &str, value: &str) -> Result<(), ConfineError> {
        let path = self.folder.join(file);
        fs::write(&path, value).at("write", &path)
    }

    fn write_if_there(&self, file: &str, value: &str) -> Result<(), ConfineError> {
        if self.folder.join(file).exists() { self.write(file, value) } else { Ok(()) }
    }
}

/// Sets the limits in version 1, which has a file for each limit. 0 means no limit.
pub(crate) fn limit_io_v1(folder: &Path, device: &str, io: &IoLimits) -> Result<(), ConfineError> {
    for (file, limit) in [
        ("blkio.throttle.read_iops_device", io.read_iops),
        ("blkio.throttle.write_iops_device", io.write_iops),
        ("blkio.throttle.read_bps_device", io.read_bytes_per_second),
        ("blkio.throttle.write_bps_device", io.write_bytes_per_second),
    ] {
        let path = folder.join(file);
        fs::write(&path, format!("{device} {}", limit.unwrap_or(0))).at("write", &path)?;
    }
    Ok(())
}

/// Kills the processes of a group and removes it. A missing group is not an error.
pub(crate) fn remove(folder: &Path) -> Result<(), ConfineError> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        match fs::remove_dir(folder) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
            Err(error) if error.kind() == std::io::ErrorKind::ResourceBusy && Instant::now() < deadline => {}
            outcome => return outcome.at("remove", folder),
        }
        kill_all(folder);
        thread::sleep(POLL);
    }
}

fn kill_all(folder: &Path) {
    let processes = fs::read_to_string(folder.join("cgroup.procs")).unwrap_or_default();
    for pid in processes.lines().filter_map(|line| Pid::from_raw(line.parse().ok()?)) {
        // An error is ignored, because it means that the process has ended in the meantime.
        let _ = kill_process(pid, Signal::KILL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(version: Version, root: &Path) -> Group {
        let folder = root.join("ours");
        fs::create_dir(&folder).unwrap();
        Group { version, folder }
    }

    fn text(group: &Group, file: &str) -> String {
        fs::read_to_string(group.folder.join(file)).unwrap()
    }

    fn io() -> IoLimits {
        IoLimits { write_bytes_per_second: Some(1 << 20), ..IoLimits::of_iops(500) }
    }

    #[test]
    fn version_1_has_a_file_a_limit() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("cpuset.mems"), "0-1\n").unwrap();
        let group = group(Version::V1, root.path());
        fs::write(group.folder.join("memory.memsw.limit_in_bytes"), "").unwrap();
        group.limit_cpus(&"0-1".parse().unwrap()).unwrap();
        group.limit_memory(64 << 20).unwrap();
        group.limit_io("7:3", &io()).unwrap();
        assert_eq!(text(&group, "cpuset.cpus"), "0-1");
        assert_eq!(text(&group, "cpuset.mems"), "0-1");
        assert_eq!(text(&group, "memory.limit_in_bytes"), "67108864");
        assert_eq!(text(&group, "memory.memsw.limit_in_bytes"), "67108864");
        assert_eq!(text(&group, "blkio.throttle.read_iops_device"), "7:3 500");
        assert_eq!(text(&group, "blkio.throttle.write_iops_device"), "7:3 500");
        assert_eq!(text(&group, "blkio.throttle.read_bps_device"), "7:3 0");
        assert_eq!(text(&group, "blkio.throttle.write_bps_device"), "7:3 1048576");
        fs::write(group.folder.join("memory.oom_control"), "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n")
            .unwrap();
        assert_eq!((group.oom_kills(), group.oom_kills_without_children()), (Some(2), Some(2)));
        let counts = "7:31 Read 8\n7:3 Read 5\n7:3 Write 6\n7:3 Sync 1\n7:3 Total 11\nTotal 19\n";
        fs::write(group.folder.join("blkio.throttle.io_serviced"), counts).unwrap();
        assert_eq!(group.io_counts("7:3"), Some(IoCounts { reads: 5, writes: 6 }));
        assert_eq!(group.io_counts("7:4"), None);
    }

    #[test]
    fn version_2_has_a_line_a_device() {
        let root = tempfile::tempdir().unwrap();
        let group = group(Version::V2, root.path());
        fs::write(group.folder.join("memory.swap.max"), "max\n").unwrap();
        group.limit_cpus(&"0-3,6".parse().unwrap()).unwrap();
        group.limit_memory(64 << 20).unwrap();
        group.limit_io("7:3", &io()).unwrap();
        assert_eq!(text(&group, "cpuset.cpus"), "0-3,6");
        assert_eq!(text(&group, "memory.max"), "67108864");
        assert_eq!(text(&group, "memory.swap.max"), "0");
        assert_eq!(text(&group, "io.max"), "7:3 rbps=max wbps=1048576 riops=500 wiops=500");
        group.limit_io("7:3", &IoLimits::default()).unwrap();
        assert_eq!(text(&group, "io.max"), "7:3 rbps=max wbps=max riops=max wiops=max");
        fs::write(group.folder.join("memory.events"), "low 0\noom 1\noom_kill 1\noom_group_kill 0\n")
            .unwrap();
        assert_eq!((group.oom_kills(), group.oom_kills_without_children()), (Some(1), None));
        fs::write(group.folder.join("memory.events.local"), "low 0\noom 0\noom_kill 0\n").unwrap();
        assert_eq!(group.oom_kills_without_children(), Some(0));
        let counts =
            "7:31 rbytes=1 wbytes=2 rios=8 wios=9\n7:3 rbytes=4096 wbytes=0 rios=5 wios=6 dbytes=0 dios=0\n";
        fs::write(group.folder.join("io.stat"), counts).unwrap();
        assert_eq!(group.io_counts("7:3"), Some(IoCounts { reads: 5, writes: 6 }));
        fs::write(group.folder.join("memory.current"), "4096\n").unwrap();
        assert_eq!(group.memory_usage_bytes(), Some(4096));
    }

    #[test]
    fn a_group_that_is_gone_is_no_error_and_a_file_that_is_missing_is() {
        let root = tempfile::tempdir().unwrap();
        remove(&root.path().join("none")).unwrap();
        let group = Group { version: Version::V2, folder: root.path().join("none") };
        let error = group.limit_memory(1 << 20).unwrap_err();
        assert!(error.to_string().contains("none/memory.max"), "{error}");
    }
}
