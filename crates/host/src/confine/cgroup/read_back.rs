//! Reads the limits of a group back from the kernel.

use std::fs;

use super::group::Group;
use super::tree::Version;
use crate::confine::IoLimits;

/// Numbers from this one on mean "no limit". If there is no limit, version 1 shows the largest number of bytes in
/// whole pages, and version 2 shows the word `max`.
pub(crate) const NO_LIMIT_BYTES: u64 = 1 << 62;

impl Group {
    /// Whether a process is in the group. A group's limits do not apply to a process that was moved out of
    /// it.
    pub(crate) fn holds(&self, pid: u32) -> bool {
        self.text("cgroup.procs").is_some_and(|text| text.lines().any(|line| line.parse() == Ok(pid)))
    }

    /// The memory limit, which the kernel has rounded to pages. `None` if there is no limit.
    pub(crate) fn memory_limit_bytes(&self) -> Option<u64> {
        let bytes = self.number(match self.version {
            Version::V1 => "memory.limit_in_bytes",
            Version::V2 => "memory.max",
        })?;
        (bytes < NO_LIMIT_BYTES).then_some(bytes)
    }

    /// Whether the kernel can limit the swap of groups.
    pub(crate) fn counts_swap(&self) -> bool {
        self.folder
            .join(match self.version {
                Version::V1 => "memory.memsw.limit_in_bytes",
                Version::V2 => "memory.swap.max",
            })
            .exists()
    }

    /// The limit of swap. `None` if there is no limit.
    pub(crate) fn swap_limit_bytes(&self) -> Option<u64> {
        let bytes = match self.version {
            // Version 1 limits memory and swap together.
            Version::V1 => {
                self.number("memory.memsw.limit_in_bytes")?.saturating_sub(self.memory_limit_bytes()?)
            }
            Version::V2 => self.number("memory.swap.max")?,
        };
        (bytes < NO_LIMIT_BYTES).then_some(bytes)
    }

    /// The limits of a device (`MAJOR:MINOR`).
    pub(crate) fn io_limits(&self, device: &str) -> IoLimits {
        let limit = |v1: &str, v2: &str| match self.version {
            Version::V1 => self.of_device(&format!("blkio.throttle.{v1}_device"), device)?.parse().ok(),
            Version::V2 => {
                let limits = self.of_device("io.max", device)?;
                limits.split(' ').find_map(|word| word.strip_prefix(v2)?.strip_prefix('=')?.parse().ok())
            }
        };
        IoLimits {
            read_iops: limit("read_iops", "riops"),
            write_iops: limit("write_iops", "wiops"),
            read_bytes_per_second: limit("read_bps", "rbps"),
            write_bytes_per_second: limit("write_bps", "wbps"),
        }
    }

    /// The text after the device's number in a file that has one line per device. `None` if the file has no line for
    /// the device.
    fn of_device(&self, file: &str, device: &str) -> Option<String> {
        let text = self.text(file)?;
        let line = text.lines().find_map(|line| line.strip_prefix(device)?.strip_prefix(' '))?;
        Some(line.trim().to_owned())
    }

    fn text(&self, file: &str) -> Option<String> {
        fs::read_to_string(self.folder.join(file)).ok()
    }

    pub(crate) fn number(&self, file: &str) -> Option<u64> {
        self.text(file)?.trim().parse().ok()
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn group(version: Version, folder: &Path) -> Group {
        Group { version, folder: folder.to_owned() }
    }

    fn write(folder: &Path, files: &[(&str, &str)]) {
        for (name, text) in files {
            fs::write(folder.join(name), text).unwrap();
        }
    }

    #[test]
    fn limits_of_version_1_are_read_from_a_file_each() {
        let folder = tempfile::tempdir().unwrap();
        let group = group(Version::V1, folder.path());
        let unlimited = "9223372036854771712\n";
        write(
            folder.path(),
            &[
                ("memory.limit_in_bytes", "67108864\n"),
                ("blkio.throttle.read_iops_device", "7:31 9\n7:3 500\n"),
                ("blkio.throttle.write_bps_device", "7:3 1048576\n"),
                ("cgroup.procs", "12\n345\n"),
            ],
        );
        assert_eq!((group.memory_limit_bytes(), group.swap_limit_bytes()), (Some(64 << 20), None));
        assert!(!group.counts_swap());
        let io =
            IoLimits { read_iops: Some(500), write_bytes_per_second: Some(1 << 20), ..IoLimits::default() };
        assert_eq!((group.io_limits("7:3"), group.io_limits("7:4")), (io, IoLimits::default()));
        assert!(group.holds(345) && !group.holds(34));
        write(folder.path(), &[("memory.memsw.limit_in_bytes", "67108864\n")]);
        assert_eq!((group.counts_swap(), group.swap_limit_bytes()), (true, Some(0)));
        write(folder.path(), &[("memory.limit_in_bytes", unlimited)]);
        assert_eq!((group.memory_limit_bytes(), group.swap_limit_bytes()), (None, None));
    }

    #[test]
    fn limits_of_version_2_are_words_on_a_line() {
        let folder = tempfile::tempdir().unwrap();
        let group = group(Version::V2, folder.path());
        let io = "7:31 rbps=1 wbps=1 riops=1 wiops=1\n7:3 rbps=max wbps=1048576 riops=500 wiops=max\n";
        write(folder.path(), &[("memory.max", "67108864\n"), ("memory.swap.max", "0\n"), ("io.max", io)]);
        assert_eq!((group.memory_limit_bytes(), group.swap_limit_bytes()), (Some(64 << 20), Some(0)));
        let io =
            IoLimits { read_iops: Some(500), write_bytes_per_second: Some(1 << 20), ..IoLimits::default() };
        assert_eq!(group.io_limits("7:3"), io);
        write(folder.path(), &[("memory.max", "max\n"), ("memory.swap.max", "max\n")]);
        assert_eq!((group.memory_limit_bytes(), group.swap_limit_bytes()), (None, None));
    }
}
