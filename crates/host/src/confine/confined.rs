//! An active confinement.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::fs::statvfs;

use super::IoLimits;
use super::cgroup::{Cgroup, IoCounts, Tree};
use super::confinement::Confinement;
use super::cpu_set::{AffinityMask, CpuSet};
use super::credits::{Burst, Credits};
use super::error::ConfineError;
use super::holding::{Holding, LastingLimits, Made};
use super::in_force::{InForce, NotLimited, ReadBack};
use super::size::format_bytes;
use super::volume;
use crate::error::SampleError;
use crate::machine::device::Device;
use crate::power::DelayedDisk;

/// Cgroups and a volume for one server. Dropping this value ends the processes in the groups, and removes the
/// groups and the volume, so it must outlive the server.
#[derive(Debug)]
pub struct Confined {
    confinement: Confinement,
    cgroup: Cgroup,
    volume: Option<Volume>,
    /// The burst credits of the volume. `None` if the limits of I/O are constant.
    burst: Option<Burst>,
    /// The disk on which the volume is. `None` if the confinement was created without a disk whose latency can be
    /// set.
    disk: Option<DelayedDisk>,
    // The last field, because it must be dropped last: dropping it removes everything.
    _holding: Holding,
}

#[derive(Debug)]
struct Volume {
    folder: PathBuf,
    /// The loop device as `MAJOR:MINOR`.
    device: String,
}

/// Lets a new process join a confinement.
#[derive(Debug)]
pub struct Entrance {
    groups: Vec<File>,
    cpus: Option<AffinityMask>,
}

impl Confined {
    /// Creates a confinement, after removing what killed processes have left in `parent`. The volume's file and its
    /// mount point are created in `parent`. Limits of I/O start with [`impose_io_limits`](Self::impose_io_limits).
    ///
    /// # Errors
    /// A requirement is missing ([`Confinement::check_rights`]), or the system refuses. In both cases, everything
    /// that was created is removed again.
    pub fn create(confinement: &Confinement, parent: &Path) -> Result<Self, ConfineError> {
        confinement.check_rights()?;
        let holding = Holding::create(parent)?;
        let tree = Tree::of_this_process().map_err(|error| unreadable(&error))?;
        let cgroup =
            Cgroup::plan(&tree, &format!("dyno-{}", holding.unique_name()), &confinement.controllers(&tree))?;
        let mut made = Made { groups: cgroup.folders(), limits: None };
        holding.record(&made)?;
        cgroup.make()?;
        if let Some(cpus) = &confinement.server_cpus {
            cgroup.limit_cpus(cpus)?;
        }
        if let Some(bytes) = confinement.memory_bytes {
            cgroup.limit_memory(bytes)?;
        }
        let (mut volume, mut disk) = (None, None);
        if let Some(bytes) = confinement.volume_bytes() {
            volume::format(&holding.image(), bytes)?;
            if confinement.latency_us.is_some() {
                disk = Some(DelayedDisk::serve(&holding.image(), bytes, &holding.disk())?);
            }
            let file = if disk.is_some() { holding.disk() } else { holding.image() };
            let device = volume::make(&file, &holding.volume())?;
            made.limits = cgroup
                .lasting_io_limits()
                .map(|group| LastingLimits { device: device.clone(), group: group.to_owned() });
            holding.record(&made)?;
            volume = Some(Volume { folder: holding.volume(), device });
        }
        let burst = confinement.burst().map(|(iops, burst, max)| Burst::new(Credits::full(iops, burst, max)));
        let confined =
            Self { confinement: confinement.clone(), cgroup, volume, burst, disk, _holding: holding };
        // An earlier user of the device may have left limits.
        confined.lift_io_limits()?;
        Ok(confined)
    }

    /// The requested limits.
    pub fn confinement(&self) -> &Confinement {
        &self.confinement
    }

    /// The folder of the volume, for the server's data; `None` without a volume.
    pub fn volume(&self) -> Option<&Path> {
        self.volume.as_ref().map(|volume| volume.folder.as_path())
    }

    /// A message if less than a hundredth of the volume is free. `None` if more is free, or if there is no volume.
    pub fn full_volume(&self) -> Option<String> {
        let facts = statvfs(self.volume()?).ok()?;
        let size = format_bytes(self.confinement.volume_bytes()?);
        (facts.f_bavail < facts.f_blocks / 100).then(|| format!("its volume of {size} is full"))
    }

    /// The volume's device, for its counters; `None` without a volume.
    pub fn device(&self) -> Option<Device> {
        Device::of_path(self.volume()?)
    }

    /// Activates the limits of I/O and the disk's latency. All earlier writes reach the volume before that.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn impose_io_limits(&self) -> Result<(), ConfineError> {
        self.impose_rates()?;
        self.restore_latency();
        Ok(())
    }

    fn impose_rates(&self) -> Result<(), ConfineError> {
        match &self.volume {
            Some(volume) if !self.confinement.io.is_none() => {
                volume::flush(&volume.folder)?;
                let io = &self.confinement.io;
                let Some(burst) = &self.burst else { return self.cgroup.limit_io(&volume.device, io) };
                self.cgroup.limit_io(&volume.device, &burst.limits(io))?;
                burst.start(self.cgroup.clone(), volume.device.clone(), io.clone());
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Sets the least duration of each request to the disk from now on. Returns false if the confinement has no disk
    /// whose latency can be set.
    pub fn set_latency(&self, latency: Duration) -> bool {
        self.disk.as_ref().inspect(|disk| disk.set_latency(latency)).is_some()
    }

    /// Gives the disk the latency of the confinement. Returns false if the confinement has no disk whose latency
    /// can be set.
    pub fn restore_latency(&self) -> bool {
        self.set_latency(Duration::from_micros(self.confinement.latency_us.unwrap_or(0)))
    }

    /// Deactivates the limits of I/O and the disk's latency, for work that is not measured.
    ///
    /// # Errors
    /// The kernel refuses.
    pub fn lift_io_limits(&self) -> Result<(), ConfineError> {
        self.set_latency(Duration::ZERO);
        let Some(volume) = &self.volume else { return Ok(()) };
        // The burst thread ends before the limit is lifted. Otherwise it would set the limit again.
        self.burst.as_ref().inspect(|burst| burst.stop());
        self.cgroup.limit_io(&volume.device, &IoLimits::default())
    }

    /// Opens the files through which a process joins the groups.
    ///
    /// # Errors
    /// This user may not write to these files.
    pub fn entrance(&self) -> Result<Entrance, ConfineError> {
        let cpus = self.confinement.server_cpus.as_ref().map(CpuSet::mask);
        Ok(Entrance { groups: self.cgroup.open_to_join()?, cpus })
    }

    /// Reads the limits of a server back from the kernel, by its process id. Limits of I/O are in force
    /// between [`impose_io_limits`](Self::impose_io_limits) and [`lift_io_limits`](Self::lift_io_limits).
    pub fn read_back(&self, pid: u32) -> ReadBack {
        let device = self.volume.as_ref().map(|volume| volume.device.as_str());
        let in_force = InForce {
            server_cpus: CpuSet::of_process(pid),
            volume_bytes: device.and_then(volume::device_bytes),
            latency_us: self.disk.as_ref().map(|disk| disk.latency().as_micros() as u64),
            is_direct_io: self.is_direct_io(),
            ..self.cgroup.in_force(pid, device)
        };
        let Confinement { server_cpus, memory_bytes, .. } = &self.confinement;
        let mut not_limited = self.cgroup.not_limited(server_cpus.is_some(), memory_bytes.is_some());
        if in_force.is_direct_io == Some(false) {
            not_limited.push(NotLimited::PageCacheBelow);
        }
        ReadBack { differences: self.confinement.differences(&in_force), in_force, not_limited }
    }

    /// Whether the volume bypasses the page cache of the file system below it, so that nothing is cached twice. `None`
    /// without a volume. If the file system below does not support this, the limits still apply, but the page cache of
    /// that file system stores data of the volume in memory that the memory limit does not count.
    pub fn is_direct_io(&self) -> Option<bool> {
        volume::is_direct_io(&self.volume.as_ref()?.device)
    }

    /// Operations on the volume, counted in the same way as for its I/O limits. The start of the count is arbitrary,
    /// so only differences are meaningful. `None` if I/O is not limited, or if the kernel does not count.
    pub fn io_counts(&self) -> Option<IoCounts> {
        self.cgroup.io_counts(&self.volume.as_ref()?.device)
    }

    /// The memory limit as the kernel rounded it, in bytes; `None` if memory is not limited.
    pub fn memory_limit_bytes(&self) -> Option<u64> {
        self.cgroup.memory_limit_bytes()
    }

    /// The memory that the server uses, page cache included, in bytes; `None` if memory is not limited.
    pub fn memory_usage_bytes(&self) -> Option<u64> {
        self.cgroup.memory_usage_bytes()
    }

    /// The largest memory that the server used, in bytes; `None` if memory is not limited, or if the kernel
    /// does not report it.
    pub fn memory_peak_bytes(&self) -> Option<u64> {
        self.cgroup.memory_peak_bytes()
    }

    /// Number of processes that the kernel killed for exceeding the memory limit; `None` if memory is not
    /// limited, or if the kernel does not count them.
    pub fn oom_kills(&self) -> Option<u64> {
        self.cgroup.oom_kills()
    }
}

impl Entrance {
    /// Confines a process that another program started. The process's main thread gets the affinity mask, but its
    /// other threads keep their own masks. Call this before the process starts threads.
    ///
    /// # Errors
    /// The system refuses, or the process is gone.
    pub fn admit(&self, pid: u32) -> io::Result<()> {
        for group in &self.groups {
            rustix::io::write(group, pid.to_string().as_bytes())?;
        }
        self.cpus.as_ref().map_or(Ok(()), |cpus| cpus.give(pid))
    }

    /// Confines the calling process. This is called in a child between fork and exec, so it only makes system calls
    /// and allocates nothing. Call it before the process gives up rights, because joining needs the rights with
    /// which the confinement was created.
    ///
    /// # Errors
    /// The system refuses.
    pub fn enter(&self) -> io::Result<()> {
        for group in &self.groups {
            // In `cgroup.procs`, 0 stands for the process that writes it.
            rustix::io::write(group, b"0")?;
        }
        self.cpus.as_ref().map_or(Ok(()), AffinityMask::assume)
    }
}

pub(super) fn unreadable(error: &procfs::ProcError) -> ConfineError {
    let source = io::Error::other(SampleError::unreadable("/proc/self", error));
    ConfineError::File { action: "read", path: PathBuf::from("/proc/self/cgroup"), source }
}
