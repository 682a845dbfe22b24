//! The folder of a confinement. Its creator removes it, or a later process does if the creator was killed.
//!
//! Cgroups, limits, mounts and loop devices outlive a killed process. Cgroups and limits of devices are therefore
//! recorded in the folder before they are created. Mounts and files need no record, because they have fixed paths in
//! the folder. The creator keeps a lock on the folder as long as it uses the folder. The next process that creates a
//! confinement in the same parent removes the folders that are not locked.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use rustix::process::geteuid;
use serde::{Deserialize, Serialize};

use super::IoLimits;
use super::cgroup;
use super::error::{At as _, ConfineError};
use super::volume;

const PREFIX: &str = "confined-";
const LOCK: &str = "lock";
const RECORD: &str = "made.json";

/// Cgroups and limits that exist, or are about to be created.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Made {
    pub(super) groups: Vec<PathBuf>,
    /// A device whose limits stay until somebody removes them.
    pub(super) limits: Option<LastingLimits>,
}

/// The limits of a device in a group that Dyno did not create.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct LastingLimits {
    /// The device as `MAJOR:MINOR`.
    pub(super) device: String,
    pub(super) group: PathBuf,
}

/// A folder in use. Dropping this value removes the folder, the mounts in it, and the objects that are recorded in
/// it.
#[derive(Debug)]
pub(crate) struct Holding {
    folder: PathBuf,
    _lock: File,
}

impl Holding {
    /// Creates a folder in `parent`, and removes abandoned folders there.
    pub(crate) fn create(parent: &Path) -> Result<Self, ConfineError> {
        fs::create_dir_all(parent).at("create", parent)?;
        let _parent_lock = lock_parent(parent)?;
        clear_leftovers(parent)?;
        let folder =
            tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent).at("create a folder in", parent)?;
        let path = folder.path().join(LOCK);
        let lock = File::create(&path).at("create", &path)?;
        lock.lock().at("lock", &path)?;
        // Servers that run as another user pass through the folder to reach the volume.
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o711);
        fs::set_permissions(folder.path(), open).at("open to all", folder.path())?;
        // The kernel identifies mounts by their canonical path.
        let folder = fs::canonicalize(folder.keep()).at("look at", parent)?;
        Ok(Self { folder, _lock: lock })
    }

    /// The part of the folder's name that differs from the names of all other folders.
    pub(super) fn unique_name(&self) -> String {
        let name = self.folder.file_name().unwrap_or_default().to_string_lossy();
        name.trim_start_matches(PREFIX).to_owned()
    }

    /// The file of the volume.
    pub(crate) fn image(&self) -> PathBuf {
        image(&self.folder)
    }

    /// The file that this process provides by FUSE as the volume's disk. It is itself a mount point, of the FUSE file
    /// system.
    pub(crate) fn disk(&self) -> PathBuf {
        disk(&self.folder)
    }

    /// Mount point of the volume.
    pub(crate) fn volume(&self) -> PathBuf {
        mount_point(&self.folder)
    }

    /// Records the objects that are about to be created, so that a later process can remove them.
    pub(super) fn record(&self, made: &Made) -> Result<(), ConfineError> {
        let path = self.folder.join(RECORD);
        let text = serde_json::to_vec(made).map_err(io::Error::from).at("write", &path)?;
        let new = path.with_extension("new");
        fs::write(&new, text).at("write", &new)?;
        fs::rename(&new, &path).at("write", &path)
    }
}

impl Drop for Holding {
    fn drop(&mut self) {
        let _parent_lock = self.folder.parent().map(lock_parent);
        // Objects that cannot be removed now are removed when the next folder is created in the same parent.
        let _ = clear(&self.folder);
    }
}

/// Removes the groups, limits, mounts and files that killed processes have left below a folder.
///
/// # Errors
/// A folder cannot be read, or an object cannot be removed.
pub fn remove_leftovers(parent: &Path) -> Result<(), ConfineError> {
    if !parent.exists() {
        return Ok(());
    }
    let _parent_lock = lock_parent(parent)?;
    clear_leftovers(parent)
}

/// The mount points of the volumes of all confined servers below a folder, including volumes that a killed run left.
pub fn volumes(parent: &Path) -> Vec<PathBuf> {
    let items = fs::read_dir(parent).into_iter().flatten().flatten();
    let holdings = items.filter(|item| item.file_name().to_string_lossy().starts_with(PREFIX));
    holdings.map(|item| mount_point(&item.path())).collect()
}

fn image(folder: &Path) -> PathBuf {
    folder.join("image")
}

fn disk(folder: &Path) -> PathBuf {
    folder.join("disk")
}

fn mount_point(folder: &Path) -> PathBuf {
    folder.join("volume")
}

/// Locks the parent. While a process holds this lock to create or remove a folder, no other process looks for
/// abandoned folders.
fn lock_parent(parent: &Path) -> Result<File, ConfineError> {
    let parent_lock = File::open(parent).at("open", parent)?;
    parent_lock.lock().at("lock", parent)?;
    Ok(parent_lock)
}

fn clear_leftovers(parent: &Path) -> Result<(), ConfineError> {
    for item in fs::read_dir(parent).at("read", parent)? {
        let item = item.at("read", parent)?;
        let has_prefix = item.file_name().to_string_lossy().starts_with(PREFIX);
        let is_ours = item.metadata().is_ok_and(|metadata| metadata.uid() == geteuid().as_raw());
        if has_prefix
            && is_ours
            && item.file_type().is_ok_and(|kind| kind.is_dir())
            && is_abandoned(&item.path())?
        {
            clear(&item.path())?;
        }
    }
    Ok(())
}

/// Whether a killed process left the folder. A creator locks its folder before it releases the parent's lock, so a
/// folder whose lock is free belongs to no living process.
fn is_abandoned(folder: &Path) -> Result<bool, ConfineError> {
    let path = folder.join(LOCK);
    match File::open(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(true),
        file => match file.at("open", &path)?.try_lock() {
            Ok(()) => Ok(true),
            Err(TryLockError::WouldBlock) => Ok(false),
            Err(TryLockError::Error(error)) => Err(error).at("lock", &path),
        },
    }
}

/// Kills the processes in the cgroups, and removes the cgroups. Then removes the limits of the device, unmounts the
/// volume and removes the folder.
fn clear(folder: &Path) -> Result<(), ConfineError> {
    let folder = &fs::canonicalize(folder).at("look at", folder)?;
    // If there is no record, only files were created.
    let record = fs::read(folder.join(RECORD)).ok().and_then(|text| serde_json::from_slice(&text).ok());
    let Made { groups, limits } = record.unwrap_or_default();
    groups.iter().try_for_each(|group| cgroup::remove(group))?;
    if let Some(LastingLimits { device, group }) = limits
        && !volume::is_of_another(&device, &[image(folder), disk(folder)])
    {
        cgroup::limit_io_v1(&group, &device, &IoLimits::default())?;
    }
    volume::unmount_all(&mount_point(folder))?;
    volume::unmount_all(&disk(folder))?;
    fs::remove_dir_all(folder).at("remove", folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_gone_when_it_is_dropped() {
        let parent = tempfile::tempdir().unwrap();
        let holding = Holding::create(parent.path()).unwrap();
        fs::write(holding.image(), "blocks").unwrap();
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 1);
        drop(holding);
        assert_eq!(fs::read_dir(parent.path()).unwrap().count(), 0);
    }

    #[test]
    fn groups_of_the_dead_are_removed_and_those_of_the_living_are_not() {
        let parent = tempfile::tempdir().unwrap();
        let group = |name: &str| {
            let folder = parent.path().join(name);
            fs::create_dir(&folder).unwrap();
            folder
        };
        let living = Holding::create(parent.path()).unwrap();
        living.record(&Made { groups: vec![group("a")], limits: None }).unwrap();
        let dead = parent.path().join("confined-dead");
        fs::create_dir(&dead).unwrap();
        let made = Made { groups: vec![group("b"), parent.path().join("never-made")], limits: None };
        fs::write(dead.join(RECORD), serde_json::to_vec(&made).unwrap()).unwrap();
        group("confined");

        remove_leftovers(parent.path()).unwrap();

        assert!(living.folder.exists() && parent.path().join("a").exists());
        assert!(!dead.exists() && !parent.path().join("b").exists());
        assert!(parent.path().join("confined").exists());
    }

    #[test]
    fn a_folder_that_is_not_there_has_no_leftovers() {
        remove_leftovers(Path::new("/no/such/folder")).unwrap();
    }
}
