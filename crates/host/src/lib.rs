//! Measures what processes and the host use (CPU, context switches, storage, power of a disk, stacks), limits what a
//! server may use and do, and checks the host before a run.
//!
//! A sample is a set of counters that only increase. [`ProcessSample::since`] gives the usage between two samples.
//! Reading a sample costs a few system calls, and two more for each thread of a process.
//!
//! # Why
//!
//! - A sample reads the process and its children (`counters/tree.rs`), because PostgreSQL uses one process per
//!   connection. When a child ends, its usage stays counted. The kernel's coarser count of reaped children adds those
//!   that lived only between two samples.
//! - Frozen servers are stopped by SIGSTOP. A cgroup's freezer needs root and a group per server, and costs no less:
//!   to freeze and thaw an idle MariaDB with 14 threads takes 0.2 and 0.3 ms of CPU by signals, 0.7 and 0.4 ms by a
//!   group of version 2. A process that version 1 has frozen does not die of SIGKILL, so a killed Dyno would leave
//!   processes that nobody can end.
//! - With few clients, the server's busiest threads and the load get cores of their own (`own_cores.rs`), because
//!   Linux moves both ends of a connection between idle cores in some trials, which halves the rate.
//! - Root's servers run as `nobody`, without capabilities and with `no_new_privs` (`fence`), because a server executes
//!   whatever SQL it gets. Root's cache and builds are often below `/root`, which `nobody` cannot enter. A capability
//!   would open every file, and `/root` must stay closed. So the server gets a mount namespace in which each closed
//!   folder contains only the engine and the server's home.
//! - A limited disk is its own loop device (`confine`). A limit on a group of processes would not apply to what the
//!   kernel writes back for them. Everything that the kernel keeps for it (mount, device, groups, limits) is recorded
//!   before it is made, in a folder with a lock. So the next run can remove what a killed run left. A private mount
//!   namespace would be removed automatically, but the lab reads the data folder too.
//! - A power cut needs a disk that forgets, which Dyno implements itself (`power`). Device-mapper's targets, nbd and
//!   ublk are missing in many kernels, while most have FUSE. A copy of a loop device's file would keep everything that
//!   the file system submitted, flushed or not. The order of a cut makes it strict: the disk stops answering, the
//!   processes are killed, then the disk answers again without keeping anything. So a server can never believe that
//!   data is flushed when it is not. After a cut, writes by a file handle from before the cut fail.
//! - Stacks are taken from outside, in a separate pass. The question is where threads wait, so all threads count, while
//!   `perf` sees only those on a CPU. `eu-stack` needs no symbols, but stops each thread for some hundred microseconds,
//!   so it never runs in a measured second.

mod confine;
mod error;
mod fence;
mod machine;
mod power;
mod processes;
mod stacks;

pub use confine::{
    ConfineError, Confined, Confinement, CpuSet, CpuSetError, DEFAULT_VOLUME_BYTES, Entrance, InForce,
    IoCounts, IoLimits, Lack, LimitDifference, LimitError, LimitPart, Missing, NotLimited, ReadBack,
    SizeError, parse_bytes, pin_command, remove_leftovers, share_groups, volumes,
};
pub use error::SampleError;
pub use fence::{Account, Fence, FenceError, be_killed_first, gain_no_rights};
pub use machine::awake::{Awake, AwakeError, are_cores_awake};
pub use machine::checks::{
    BusyProcess, Checks, FileSystem, OtherLoad, OwnLimits, checks, usable_memory_bytes,
};
pub use machine::counters::{HostSample, HostUsage, sample_host};
pub use machine::device::{Device, DeviceSample, DeviceUsage};
pub use machine::disk::disk_bytes;
pub use machine::facts::{HostFacts, facts};
pub use machine::neighbours::{NeighbourUsage, Neighbours};
pub use power::{CutWrites, VolatileVolume};
pub use processes::counters::{MemoryGauge, MemoryUsage, Process, ProcessSample, ProcessTree, ProcessUsage};
pub use processes::freezer::Freezer;
pub use processes::memory_kills::MemoryKills;
pub use processes::own_cores::{OwnCores, ThreadTimes};
pub use stacks::{Frame, SampledStacks, StackError, StackSampler, StackTool, ThreadStack, is_of_system};
