//! A mounted file system on a disk whose power can be cut.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::disk::{CutWrites, Disk};
use super::serve::ServedDisk;
use crate::confine::error::At as _;
use crate::confine::holding::Holding;
use crate::confine::{ConfineError, Missing, rights, volume};

/// Duration of a flush, which is typical of a solid-state disk without a protected cache. A server is wrong if it
/// acknowledges a commit before the flush is done. Only a cut during the flush can show this.
const FLUSH: Duration = Duration::from_millis(1);

/// An ext4 volume on a disk with a volatile cache. Dropping it removes everything.
#[derive(Debug)]
pub struct VolatileVolume {
    folder: PathBuf,
    file: PathBuf,
    disk: Arc<ServedDisk<Disk>>,
    // The last field, because it must be dropped last: dropping it unmounts everything.
    _holding: Holding,
}

impl VolatileVolume {
    /// Checks whether this process can create a volume whose power can be cut, without creating anything.
    ///
    /// # Errors
    /// The rights, devices and tools that are missing.
    pub fn check_rights() -> Result<(), Missing> {
        let mut lacks = rights::missing_for_a_volume();
        lacks.extend(rights::missing_for_a_served_disk());
        if lacks.is_empty() { Ok(()) } else { Err(Missing(lacks)) }
    }

    /// Creates a volume of `bytes` bytes below the folder `parent`. First removes what killed processes have left in
    /// this folder.
    ///
    /// # Errors
    /// A requirement is missing ([`check_rights`](Self::check_rights)), or the system refuses. In both cases,
    /// everything that was created is removed again.
    pub fn create(parent: &Path, bytes: u64) -> Result<Self, ConfineError> {
        Self::check_rights()?;
        let holding = Holding::create(parent)?;
        let (image, file, folder) = (holding.image(), holding.disk(), holding.volume());
        volume::format(&image, bytes)?;
        let open = File::options().read(true).write(true).open(&image).at("open", &image)?;
        fs::create_dir(&folder).at("create", &folder)?;
        File::create_new(&file).at("create", &file)?;
        let disk = ServedDisk::serve(Disk::new(open, bytes), FLUSH, &file)?;
        let volume = Self { folder, file, disk, _holding: holding };
        volume.mount()?;
        Ok(volume)
    }

    /// The folder on which the volume is mounted.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Writes all data that the file system has received so far to the disk, and flushes the disk.
    ///
    /// # Errors
    /// The system refuses.
    pub fn flush(&self) -> Result<(), ConfineError> {
        volume::flush(&self.folder)
    }

    /// Cuts the power. All data that was not flushed is lost, except blocks of 4 KiB for which `survives` returns
    /// true. Processes that wait for the disk get no answer until [`release`](Self::release), so no process gets
    /// the answer that a lost write is done.
    ///
    /// # Errors
    /// The image cannot be written.
    pub fn cut(&self, survives: &mut dyn FnMut() -> bool) -> Result<CutWrites, ConfineError> {
        self.disk.cut(survives).at("write", &self.file)
    }

    /// Answers the processes that wait for the disk, so that they can end. Kill them before this call. Otherwise
    /// they would be told that lost writes are done.
    pub fn release(&self) {
        self.disk.release();
    }

    /// Switches the power on. Unmounts the file system, and mounts it again with the data that survived. The file
    /// system recovers by itself.
    ///
    /// # Errors
    /// The file system cannot be recovered.
    pub fn power_on(&self) -> Result<(), ConfineError> {
        self.release();
        volume::unmount_all(&self.folder)?;
        self.disk.power_on();
        self.mount()
    }

    fn mount(&self) -> Result<(), ConfineError> {
        // The kernel learns the file's size only when a process looks at the file. The loop device needs the size.
        fs::metadata(&self.file).at("look at", &self.file)?;
        volume::attach(&self.file, &self.folder).map(drop)
    }
}

impl Drop for VolatileVolume {
    fn drop(&mut self) {
        self.release();
    }
}
