//! A file system on a separate loop device, so that the limits of the device apply to all data of one server and to
//! nothing else.

mod loop_device;

use std::env;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{FallocateFlags, fallocate, statvfs, syncfs};
use rustix::io::Errno;
use rustix::mount::{MountFlags, UnmountFlags, mount, unmount};

use self::loop_device::LoopDevice;
pub(crate) use self::loop_device::{device_bytes, is_direct_io};
use super::error::{At as _, ConfineError};

/// Longest time to wait until the last processes that use a volume have ended.
const PATIENCE: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(10);

/// Mounts the file system of a file on a new folder. Returns the file's loop device (`MAJOR:MINOR`).
pub(super) fn make(image: &Path, folder: &Path) -> Result<String, ConfineError> {
    fs::create_dir(folder).at("create", folder)?;
    attach(image, folder)
}

/// Creates a file of `bytes` bytes that contains an empty file system.
pub(crate) fn format(image: &Path, bytes: u64) -> Result<(), ConfineError> {
    allocate(image, bytes)?;
    make_file_system(image)
}

/// Mounts the file system of a file on a folder. Returns the file's loop device (`MAJOR:MINOR`).
///
/// The mount is the only user of the loop device, so unmounting also detaches the device from the file.
pub(crate) fn attach(image: &Path, folder: &Path) -> Result<String, ConfineError> {
    let device = LoopDevice::attach(image)?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOATIME;
    mount(&device.path, folder, "ext4", flags, None).at("mount a volume on", folder)?;
    Ok(device.number)
}

/// Writes a volume's dirty pages to disk.
pub(crate) fn flush(folder: &Path) -> Result<(), ConfineError> {
    let open = File::open(folder).at("open", folder)?;
    syncfs(&open).at("flush", folder)
}

/// Unmounts everything that is mounted on a folder. It is no error if nothing is mounted.
pub(crate) fn unmount_all(folder: &Path) -> Result<(), ConfineError> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        // A volume that is still in use at the deadline is detached lazily: the path is no longer a mount point from
        // then on, and the file system ends when the last process closes it.
        let is_late = Instant::now() >= deadline;
        match unmount(folder, if is_late { UnmountFlags::DETACH } else { UnmountFlags::NOFOLLOW }) {
            // The folder is not a mount point, or does not exist.
            Err(Errno::INVAL | Errno::NOENT) => return Ok(()),
            Err(Errno::BUSY) if !is_late => thread::sleep(POLL),
            // After a success, the loop tries again, because another mount may lie below the one that was unmounted.
            outcome => outcome.at("unmount", folder)?,
        }
    }
}

/// Whether a device (`MAJOR:MINOR`) is now attached to a file other than `files`. The folders of `files` must have
/// canonical paths.
pub(super) fn is_of_another(device: &str, files: &[PathBuf]) -> bool {
    loop_device::backing_file(device).is_some_and(|attached| !files.contains(&attached))
}

/// Allocates the space of the file before the measurement. Otherwise writes during the measurement would allocate
/// it. The measurement would then include this work of the file system below, which might also run out of space.
fn allocate(image: &Path, bytes: u64) -> Result<(), ConfineError> {
    let parent = image.parent().unwrap_or(image);
    let free = statvfs(parent).at("look at", parent)?;
    let free_bytes = free.f_bavail * free.f_frsize;
    let too_small = || ConfineError::Space { volume_bytes: bytes, folder: parent.to_owned(), free_bytes };
    if bytes > free_bytes {
        return Err(too_small());
    }
    let file = File::create_new(image).at("create", image)?;
    match fallocate(&file, FallocateFlags::empty(), 0, bytes) {
        // Some file systems do not support allocation in advance. Later writes then allocate the blocks.
        Err(Errno::OPNOTSUPP) => file.set_len(bytes).at("make room in", image),
        Err(Errno::NOSPC) => Err(too_small()),
        outcome => outcome.at("make room in", image),
    }
}

/// Creates an ext4 file system with defaults, with two exceptions. All initialisation is done now, because deferred
/// initialisation would run during the measurement. No blocks are reserved for root.
fn make_file_system(image: &Path) -> Result<(), ConfineError> {
    let program = mkfs().unwrap_or_else(|| PathBuf::from("mkfs.ext4"));
    let mut command = Command::new(&program);
    command.args(["-q", "-F", "-m", "0", "-E", "lazy_itable_init=0,lazy_journal_init=0,nodiscard"]);
    let output = command.arg(image).stdin(Stdio::null()).output().at("run", &program)?;
    if output.status.success() {
        return Ok(());
    }
    let words = String::from_utf8_lossy(&output.stderr).split_whitespace().collect::<Vec<_>>().join(" ");
    Err(ConfineError::Mkfs { status: output.status.to_string(), output: words })
}

/// The program that creates file systems. Its folder is often not in the search path of users other than root.
pub(super) fn mkfs() -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&path).chain(["/usr/sbin", "/sbin"].map(PathBuf::from));
    folders.map(|folder| folder.join("mkfs.ext4")).find(|program| program.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_volume_that_does_not_fit_is_refused_with_what_is_free() {
        let folder = tempfile::tempdir().unwrap();
        let image = folder.path().join("image");
        let error = allocate(&image, 1 << 60).unwrap_err();
        assert!(matches!(error, ConfineError::Space { .. }), "{error}");
        assert!(error.to_string().starts_with("a volume of 1048576T does not fit into"), "{error}");
        assert!(!image.exists());
    }

    #[test]
    fn a_folder_without_a_mount_needs_no_unmounting() {
        let folder = tempfile::tempdir().unwrap();
        unmount_all(&folder.path().join("none")).unwrap();
    }
}
