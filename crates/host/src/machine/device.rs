//! Counters of the block device of a path.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use procfs::DiskStat;
use procfs::process::MountInfo;

use crate::error::SampleError;

/// `/proc/diskstats` counts sectors of 512 bytes, whatever the size of the device's own sectors is (the kernel's
/// Documentation/admin-guide/iostats.rst).
const SECTOR_BYTES: u64 = 512;

/// A whole block device: a disk, or a logical device such as LVM's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// The device's name in `/proc/diskstats`, such as `nvme0n1`.
    pub name: String,
}

/// Counters of a device at one moment. They include all users of the device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceSample(DeviceUsage);

/// Usage of a device between two samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceUsage {
    pub reads: u64,
    pub read_bytes: u64,
    pub writes: u64,
    pub write_bytes: u64,
    /// Completed cache flushes, such as those of fsync. `None` before Linux 5.5. In a line of diskstats, fields 16 and
    /// 17 after the device's name are the number of flushes and their time.
    pub flushes: Option<u64>,
    /// Time during which requests were in progress, in milliseconds.
    pub busy_ms: u64,
}

impl Device {
    /// The device on which a path is stored. `None` if there is no block device (tmpfs, NFS), or if the kernel
    /// hides it.
    ///
    /// For a partition, this is the disk, because the kernel counts flushes only by disk, and partitions share the
    /// disk. For an overlay (a container's root), this is the device of the upper layer, which receives the writes.
    pub fn of_path(path: &Path) -> Option<Self> {
        let path = fs::canonicalize(path).ok()?;
        let mounts = procfs::process::Process::myself().and_then(|me| me.mountinfo()).map(|mounts| mounts.0);
        Self::of_canonical_path(&path, &mounts.unwrap_or_default(), 0)
    }

    fn of_canonical_path(path: &Path, mounts: &[MountInfo], overlays: u32) -> Option<Self> {
        const OVERLAYS_MAX: u32 = 8;
        let number = fs::metadata(path).ok()?.dev();
        if let Some(device) = Self::of_number(number) {
            return Some(device);
        }
        // The file system has no device number. Its mount may name a device (btrfs) or an upper layer (overlay).
        let mount = mount_of(path, mounts)?;
        if mount.fs_type == "overlay" && overlays < OVERLAYS_MAX {
            let upper = mount.super_options.get("upperdir")?.as_ref()?;
            return Self::of_canonical_path(Path::new(upper), mounts, overlays + 1);
        }
        let source = Path::new(mount.mount_source.as_ref()?);
        let source = source.starts_with("/dev").then(|| fs::metadata(source).ok()).flatten()?;
        Self::of_number(source.rdev())
    }

    /// The device with this number, or the disk of the partition with this number. `None` if there is no such
    /// device.
    fn of_number(number: libc::dev_t) -> Option<Self> {
        let link = format!("/sys/dev/block/{}:{}", libc::major(number), libc::minor(number));
        let mut folder = fs::canonicalize(link).ok()?;
        if folder.join("partition").exists() {
            folder.pop();
        }
        // sysfs writes the slash of a name like `cciss/c0d0` as an exclamation mark.
        Some(Self { name: folder.file_name()?.to_str()?.replace('!', "/") })
    }

    /// Reads the device's counters.
    ///
    /// # Errors
    /// The device no longer exists, or `/proc` is not mounted.
    pub fn sample(&self) -> Result<DeviceSample, SampleError> {
        let disks =
            procfs::diskstats().map_err(|error| SampleError::unreadable("/proc/diskstats", &error))?;
        let disk = disks.into_iter().find(|disk| disk.name == self.name);
        disk.map(|disk| DeviceSample::from(&disk))
            .ok_or_else(|| SampleError::DeviceGone { name: self.name.clone() })
    }
}

/// The mount that contains a path: the mount with the longest mount point that is a prefix of the path. If several
/// mounts have this mount point, the mount that was made last is returned, because it hides the others.
pub(crate) fn mount_of<'a>(path: &Path, mounts: &'a [MountInfo]) -> Option<&'a MountInfo> {
    let depth = |mount: &&MountInfo| mount.mount_point.components().count();
    mounts.iter().filter(|mount| path.starts_with(&mount.mount_point)).max_by_key(depth)
}

impl From<&DiskStat> for DeviceSample {
    fn from(disk: &DiskStat) -> Self {
        Self(DeviceUsage {
            reads: disk.reads,
            read_bytes: disk.sectors_read * SECTOR_BYTES,
            writes: disk.writes,
            write_bytes: disk.sectors_written * SECTOR_BYTES,
            flushes: disk.flushes,
            busy_ms: disk.time_in_progress,
        })
    }
}

impl DeviceSample {
    /// The device's usage since an earlier sample.
    pub fn since(&self, earlier: &Self) -> DeviceUsage {
        let (now, then) = (&self.0, &earlier.0);
        DeviceUsage {
            reads: now.reads.saturating_sub(then.reads),
            read_bytes: now.read_bytes.saturating_sub(then.read_bytes),
            writes: now.writes.saturating_sub(then.writes),
            write_bytes: now.write_bytes.saturating_sub(then.write_bytes),
            flushes: now.flushes.zip(then.flushes).map(|(now, then)| now.saturating_sub(then)),
            busy_ms: now.busy_ms.saturating_sub(then.busy_ms),
        }
    }
}

#[cfg(test)]
mod tests;
