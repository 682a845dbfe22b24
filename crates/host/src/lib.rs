//! Measures what processes and the host use (CPU, context switches, storage, power of a disk, stacks), limits what a server
//! may use and do, and checks the host before a run.
//!
//! A sample is a set of counters that only increase. [`ProcessSample::since`] gives the usage between two samples. Reading
//! a sample costs a few system calls, and two more for each thread of a process.

mod awake;
mod checks;
mod confine;
mod cpu_clock;
mod device;
mod disk;
mod error;
mod facts;
mod fence;
mod freezer;
mod host;
mod memory_kills;
mod neighbours;
mod own_cores;
mod power;
mod process;
mod stacks;
mod switches;

pub use awake::{Awake, AwakeError, are_cores_awake};
pub use checks::{BusyProcess, Checks, FileSystem, OtherLoad, OwnLimits, checks, usable_memory_bytes};
pub use confine::{
    ConfineError, Confined, Confinement, CpuSet, CpuSetError, DEFAULT_VOLUME_BYTES, Entrance, InForce,
    IoCounts, IoLimits, Lack, LimitDifference, LimitError, LimitPart, Missing, NotLimited, ReadBack,
    SizeError, parse_bytes, pin_command, remove_leftovers, share_groups, volumes,
};
pub use device::{Device, DeviceSample, DeviceUsage};
pub use disk::disk_bytes;
pub use error::SampleError;
pub use facts::{HostFacts, facts};
pub use fence::{Account, Fence, FenceError, be_killed_first, gain_no_rights};
pub use freezer::Freezer;
pub use host::{HostSample, HostUsage, sample_host};
pub use memory_kills::MemoryKills;
pub use neighbours::{NeighbourUsage, Neighbours};
pub use own_cores::{OwnCores, ThreadTimes};
pub use power::{CutWrites, VolatileVolume};
pub use process::{MemoryGauge, MemoryUsage, Process, ProcessSample, ProcessTree, ProcessUsage};
pub use stacks::{Frame, SampledStacks, StackError, StackSampler, StackTool, ThreadStack, is_of_system};
