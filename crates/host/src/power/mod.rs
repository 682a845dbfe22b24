//! Two disks that Dyno implements, below a loop device and a file system: one whose power can be cut, and one whose
//! latency can be set.
//!
//! On the first disk, data that the file system writes stays in memory until the file system asks for a flush, as
//! in the cache of a disk. A cut loses all data that was not flushed. On the second disk, each request takes at
//! least a given time. Both disks are files that this process serves by FUSE, so they need no additional kernel
//! module.

mod delayed;
mod disk;
mod medium;
mod protocol;
mod serve;
mod volume;

pub(crate) use delayed::DelayedDisk;
pub use disk::CutWrites;
pub(crate) use serve::FUSE;
pub use volume::VolatileVolume;
