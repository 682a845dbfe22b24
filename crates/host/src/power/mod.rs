//! Disks of our own, below a loop device and a file system: one whose power can be cut, and one whose latency is set.
//!
//! On the first, data that the file system writes stays in memory until it asks for a flush, as in the cache of a disk. A
//! cut loses all data that was not flushed. On the second, each request takes at least a given time. A disk is a file that
//! this process serves by FUSE, so it needs no additional kernel module.

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
