//! A volume whose power can be cut: a disk of our own with a volatile cache, below a loop device and a file system.
//!
//! Data that the file system writes stays in memory until it asks for a flush, as in the cache of a disk. A
//! cut loses all data that was not flushed. The disk is a file that this process serves by FUSE, so it needs
//! no additional kernel module.

mod disk;
mod protocol;
mod serve;
mod volume;

pub use disk::CutWrites;
pub use volume::VolatileVolume;
