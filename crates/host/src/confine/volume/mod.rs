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

/// Time for which the last processes that use a volume may take to end.
const PATIENCE: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_millis(10);

/// Mounts the file system of a file on a new folder. Returns its device (`MAJOR:MINOR`).
pub(super) fn make(image: &Path, folder: &Path) -> Result<String, ConfineError> {
    fs::create_dir(folder).at("create", folder)?;
    attach(image, folder)
}

/// Creates a file of a size with an empty file system.
pub(crate) fn format(image: &Path, bytes: u64) -> Result<(), ConfineError> {
    allocate(image, bytes)?;
    make_file_system(image)
}

/// Mounts the file system of a file on a folder. Returns its device (`MAJOR:MINOR`).
///
/// Only the mount holds the loop device, so unmounting also detaches it from the file.
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

/// Unmounts everything that is mounted on a folder. It is not an error if there is nothing.
pub(crate) fn unmount_all(folder: &Path) -> Result<(), ConfineError> {
    let deadline = Instant::now() + PATIENCE;
    loop {
        // A volume that is still in use is detached lazily: its path is free now, and the file system ends when the
        // last process closes it.
        let is_late = Instant::now() >= deadline;
        match unmount(folder, if is_late { UnmountFlags::DETACH } else { UnmountFlags::NOFOLLOW }) {
            // Not a mount point, or no folder.
            Err(Errno::INVAL | Errno::NOENT) => return Ok(()),
            Err(Errno::BUSY) if !is_late => thread::sleep(POLL),
            // There may be another mount below it.
            outcome => outcome.at("unmount", folder)?,
        }
    }
}

/// Whether a device (`MAJOR:MINOR`) now belongs to another file.
pub(super) fn is_of_another(device: &str, image: &Path) -> bool {
    let image = fs::canonicalize(image).unwrap_or_else(|_| image.to_owned());
    loop_device::backing_file(device).is_some_and(|other| other != image)
}

/// Allocates the space at once. Otherwise later writes would allocate it, so that the measurement would include the
/// file system below, and might fill it up.
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
        // Some file systems do not support it. Writes then allocate the blocks.
        Err(Errno::OPNOTSUPP) => file.set_len(bytes).at("make room in", image),
        Err(Errno::NOSPC) => Err(too_small()),
        outcome => outcome.at("make room in", image),
    }
}

/// ext4 with its defaults, except that no initialisation is deferred to the time of the measurement, and that no blocks
/// are reserved for root.
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

/// The program that creates file systems. For users other than root, its folder is often not in the path.
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
