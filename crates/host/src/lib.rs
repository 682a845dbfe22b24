//! Measures what processes and the host use (CPU, context switches, storage, memory) and where threads wait
//! (stacks). Limits what a server may use and do, cuts the power of a disk, and checks the host before a run.
//!
//! A sample is a set of counters that only increase. [`ProcessSample::since`] gives the usage between two samples.
//! Reading a sample costs a few system calls, and two more for each thread of a process.
//!
//! # Why
//!
//! - A sample reads the process and its children (`counters/tree.rs`), because PostgreSQL uses one process per
//!   connection. When a child ends, its usage stays counted. A child that lived only between two samples is added
//!   from the kernel's count of reaped children, which is coarser.
//! - Frozen servers are stopped by SIGSTOP. A cgroup's freezer needs root and a group per server, and does not use
//!   less CPU time. Freezing and thawing an idle MariaDB with 14 threads takes 0.2 ms and 0.3 ms of CPU by signals,
//!   but 0.7 ms and 0.4 ms by a group of version 2. A process that version 1 has frozen does not die of SIGKILL, so
//!   a killed Dyno would leave processes that nobody can end.
//! - With few clients, the server's busiest threads and the load get cores of their own (`own_cores.rs`). Otherwise
//!   Linux moves both ends of a connection between idle cores in some trials, which halves the rate.
//! - Root's servers run as `nobody`, without capabilities and with `no_new_privs` (`fence`), because a server
//!   executes whatever SQL it gets. Root's cache and builds are often below `/root`, which `nobody` cannot enter. A
//!   capability would open every file, and `/root` must stay closed. So the server gets a mount namespace in which
//!   each closed folder contains only the engine and the server's home.
//! - A limited disk is a separate loop device (`confine`), because a limit on a group of processes would not apply
//!   to the pages that the kernel writes back for them. Everything that the kernel keeps for the disk (mount,
//!   device, groups, limits) is recorded in a locked folder before it is made. So the next run can remove what a
//!   killed run left. A private mount namespace would be removed automatically, but the process that measures also
//!   reads the data folder, and it would be outside of the namespace.
//! - A power cut needs a disk that loses the data that was not flushed. Dyno implements such a disk (`power`). Many
//!   kernels lack Device-mapper's targets, nbd and ublk, but most have FUSE. A copy of a loop device's file would
//!   keep everything that the file system submitted, even if it was not flushed. A cut has a fixed order. First the
//!   disk stops answering, then the processes are killed, and then the disk answers again without keeping anything.
//!   So a server never gets the answer that data is flushed when it is not. After a cut, writes through a file
//!   handle from before the cut fail.
//! - Stacks are taken from outside the process, in a separate pass. The question is where threads wait, so all
//!   threads count, while `perf` sees only threads that are on a CPU. `eu-stack` needs no symbols, but stops each
//!   thread for some hundred microseconds, so it never runs in a measured second.

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
