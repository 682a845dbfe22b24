//! Missing requirements of a confinement.

use std::fmt;
use std::path::PathBuf;

use super::confinement::LimitError;
use super::cpu_set::CpuSet;

/// The device that allocates loop devices.
pub(super) const LOOP_CONTROL: &str = "/dev/loop-control";

/// All missing requirements of a confinement, on one line.
#[derive(Debug, thiserror::Error)]
pub struct Missing(pub(crate) Vec<Lack>);

/// A missing requirement.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Lack {
    /// A limit is invalid.
    #[error(transparent)]
    Limit(#[from] LimitError),
    /// A CPU does not exist, or this process may not use it.
    #[error("dyno may not use CPU {cpu}, but only {allowed}")]
    Cpu {
        cpu: u32,
        /// The CPUs that this process may use.
        allowed: CpuSet,
    },
    /// Mounting needs root, or the capability `CAP_SYS_ADMIN`.
    #[error("a volume can only be mounted by root: run dyno as root")]
    Root,
    /// The kernel or the container provides no loop devices.
    #[error(
        "{} cannot be opened: load the kernel's module `loop`, or let the container have the device",
        LOOP_CONTROL
    )]
    LoopControl,
    /// The kernel or the container does not let this process serve a file by FUSE.
    #[error(
        "/dev/fuse cannot be opened: load the kernel's module `fuse`, or let the container have the device"
    )]
    Fuse,
    /// The program that creates file systems is not installed.
    #[error("mkfs.ext4 is not installed: install e2fsprogs")]
    Mkfs,
    /// No mounted hierarchy has this controller.
    #[error(
        "the cgroup controller {0} is not there: mount a cgroup hierarchy that has it, or boot a kernel that \
         does"
    )]
    Controller(&'static str),
    /// Only the container's part of a controller's hierarchy is mounted.
    #[error(
        "the cgroup hierarchy at {} shows a container's part only, and limits on what the kernel writes back \
         must be set at its root: run dyno outside of the container",
        .0.display()
    )]
    Part(PathBuf),
    /// A group cannot be created.
    #[error("no cgroup can be made in {}: run dyno as root, or give this user that folder", .0.display())]
    Group(PathBuf),
}

impl Missing {
    /// The missing requirements, one by one.
    pub fn lacks(&self) -> &[Lack] {
        &self.0
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let lacks: Vec<_> = self.0.iter().map(ToString::to_string).collect();
        write!(f, "{}", lacks.join("; "))
    }
}
