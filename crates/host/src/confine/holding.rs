//! The folder that a confinement is kept in, and how it is cleared, by whom made it or by those who come
//! after.
//!
//! What the kernel keeps (groups, limits, mounts, loop devices) outlives a process that is killed. So each
//! thing is written down before it is made, in a folder with a lock that lasts as long as its maker; a folder
//! whose lock nobody holds is cleared by the next who makes one beside it.

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

/// Everything that was made, or is about to be.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Made {
    pub(super) groups: Vec<PathBuf>,
    /// A device with limits that stay until they are lifted.
    pub(super) limits: Option<LastingLimits>,
}

/// Limits of a device in a group that is not ours.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct LastingLimits {
    /// `MAJOR:MINOR`.
    pub(super) device: String,
    pub(super) group: PathBuf,
}

/// A folder in use. Dropping it clears all away that was made.
#[derive(Debug)]
pub(super) struct Holding {
    folder: PathBuf,
    _lock: File,
}

impl Holding {
    /// Makes a folder in `parent`, and clears those that were left there.
    pub(super) fn create(parent: &Path) -> Result<Self, ConfineError> {
        fs::create_dir_all(parent).at("create", parent)?;
        let _door = lock_door(parent)?;
        clear_leftovers(parent)?;
        let folder =
            tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent).at("create a folder in", parent)?;
        let path = folder.path().join(LOCK);
        let lock = File::create(&path).at("create", &path)?;
        lock.lock().at("lock", &path)?;
        // Servers with an account of their own pass through it on their way to the volume.
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o711);
        fs::set_permissions(folder.path(), open).at("open to all", folder.path())?;
        // Mounts are known by their canonical path.
        let folder = fs::canonicalize(folder.keep()).at("look at", parent)?;
        Ok(Self { folder, _lock: lock })
    }

    /// A word that no other holding has.
    pub(super) fn word(&self) -> String {
        let name = self.folder.file_name().unwrap_or_default().to_string_lossy();
        name.trim_start_matches(PREFIX).to_owned()
    }

    /// The file of the volume.
    pub(super) fn image(&self) -> PathBuf {
        image(&self.folder)
    }

    /// Where the volume is mounted.
    pub(super) fn volume(&self) -> PathBuf {
        mount_point(&self.folder)
    }

    /// Writes down what is about to be made.
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
        let _door = self.folder.parent().map(lock_door);
        // Whatever cannot be cleared now is cleared when the next folder is made here.
        let _ = clear(&self.folder);
    }
}

/// Clears away what killed processes left below a folder: groups, limits, mounts, files.
///
/// # Errors
/// Something can be neither used nor removed.
pub fn remove_leftovers(parent: &Path) -> Result<(), ConfineError> {
    if !parent.exists() {
        return Ok(());
    }
    let _door = lock_door(parent)?;
    clear_leftovers(parent)
}

fn image(folder: &Path) -> PathBuf {
    folder.join("image")
}

fn mount_point(folder: &Path) -> PathBuf {
    folder.join("volume")
}

/// While someone makes or clears a folder, nobody else looks for folders without an owner.
fn lock_door(parent: &Path) -> Result<File, ConfineError> {
    let door = File::open(parent).at("open", parent)?;
    door.lock().at("lock", parent)?;
    Ok(door)
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

/// Folders get their lock before the door opens, so one without was left by whom was killed at that.
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

/// Clears a folder: first who uses the volume, then what slows it down, then the volume.
fn clear(folder: &Path) -> Result<(), ConfineError> {
    let folder = &fs::canonicalize(folder).at("look at", folder)?;
    // Without a record nothing but files was made.
    let record = fs::read(folder.join(RECORD)).ok().and_then(|text| serde_json::from_slice(&text).ok());
    let Made { groups, limits } = record.unwrap_or_default();
    groups.iter().try_for_each(|group| cgroup::remove(group))?;
    if let Some(LastingLimits { device, group }) = limits
        && !volume::is_of_another(&device, &image(folder))
    {
        cgroup::limit_io_v1(&group, &device, &IoLimits::default())?;
    }
    volume::unmount_all(&mount_point(folder))?;
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
