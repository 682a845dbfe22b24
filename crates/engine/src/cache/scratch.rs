//! A temporary folder that is removed even if its owner is killed.

use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::process::geteuid;

const PREFIX: &str = "scratch-";
const LOCK: &str = "lock";

/// A temporary folder that is removed when this value is dropped. The owner, the process that created the folder, holds
/// a lock on a file in it. If the owner is killed, the next process that creates such a folder in the same parent
/// removes the folder.
#[derive(Debug)]
pub struct Scratch {
    folder: PathBuf,
    _lock: File,
}

impl Scratch {
    /// Creates a folder in `parent`. Also removes the folders of dead owners there.
    ///
    /// # Errors
    /// The folder or a lock file cannot be created, or the folder of a dead owner cannot be removed.
    pub fn create(parent: &Path) -> io::Result<Self> {
        fs::create_dir_all(parent)?;
        let _door = lock_door(parent)?;
        remove_abandoned(parent)?;
        let folder = tempfile::Builder::new().prefix(PREFIX).tempdir_in(parent)?;
        let lock = open_lock(&folder.path().join(LOCK))?;
        lock.lock()?;
        Ok(Self { folder: folder.keep(), _lock: lock })
    }

    pub fn path(&self) -> &Path {
        &self.folder
    }
}

impl Drop for Scratch {
    /// Removes the folder. During the removal, this process holds the lock of the parent folder, so that other
    /// processes do not see a half-removed folder.
    fn drop(&mut self) {
        let _door = self.folder.parent().map(lock_door);
        // If a file cannot be removed now, the next process that creates such a folder removes it.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Removes the folders of owners that were killed.
pub(crate) fn remove_dead(parent: &Path) -> io::Result<()> {
    if !door_of(parent).exists() {
        // There is no lock file, so no process has created a scratch folder here.
        return Ok(());
    }
    let _door = lock_door(parent)?;
    remove_abandoned(parent)
}

/// Locks the lock file of the parent folder. The code calls this file the door. Only the holder of this lock creates
/// folders, removes folders, or looks for folders of dead owners.
fn lock_door(parent: &Path) -> io::Result<File> {
    let door = open_lock(&door_of(parent))?;
    door.lock()?;
    Ok(door)
}

/// Opens a file to lock, and creates it if missing. Does not follow links, because other users may have put a link
/// into a shared folder such as `/dev/shm`.
fn open_lock(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.create(true).truncate(false).write(true).mode(0o600).custom_flags(libc::O_NOFOLLOW).open(path)
}

fn door_of(parent: &Path) -> PathBuf {
    parent.join(format!("{PREFIX}door"))
}

/// Removes the folders of dead owners. Skips files without Dyno's prefix before it looks at them, because other
/// programs may remove them at any moment.
fn remove_abandoned(parent: &Path) -> io::Result<()> {
    for entry in fs::read_dir(parent)? {
        let entry = entry?;
        if !entry.file_name().to_string_lossy().starts_with(PREFIX) {
            continue;
        }
        let metadata = entry.metadata()?;
        let is_ours = metadata.uid() == geteuid().as_raw();
        if is_ours && metadata.is_dir() && is_abandoned(&entry.path())? {
            fs::remove_dir_all(entry.path())?;
        }
    }
    Ok(())
}

fn is_abandoned(folder: &Path) -> io::Result<bool> {
    match open_lock(&folder.join(LOCK))?.try_lock() {
        Ok(()) => Ok(true),
        Err(TryLockError::WouldBlock) => Ok(false),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::thread;

    use super::*;

    #[test]
    fn a_folder_is_gone_when_it_is_dropped() {
        let parent = tempfile::tempdir().unwrap();
        let scratch = Scratch::create(parent.path()).unwrap();
        let folder = scratch.path().to_owned();
        fs::write(folder.join("rows"), "1").unwrap();
        drop(scratch);
        assert!(!folder.exists());
    }

    #[test]
    fn a_link_in_place_of_a_lock_is_not_followed() {
        let parent = tempfile::tempdir().unwrap();
        let precious = parent.path().join("precious");
        fs::write(&precious, "text").unwrap();
        std::os::unix::fs::symlink(&precious, door_of(parent.path())).unwrap();
        Scratch::create(parent.path()).unwrap_err();
        assert_eq!(fs::read_to_string(&precious).unwrap(), "text");
    }

    #[test]
    fn folders_come_and_go_at_once() {
        let parent = tempfile::tempdir().unwrap();
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let scratch = Scratch::create(parent.path()).unwrap();
                        fs::write(scratch.path().join("rows"), "1").unwrap();
                        tempfile::tempdir_in(parent.path()).unwrap();
                    }
                });
            }
        });
        let left = fs::read_dir(parent.path()).unwrap().map(|entry| entry.unwrap().file_name());
        assert_eq!(left.collect::<Vec<_>>(), ["scratch-door"]);
    }

    #[test]
    fn folders_of_the_dead_are_cleared_away_and_others_are_not() {
        let parent = tempfile::tempdir().unwrap();
        let dead = parent.path().join("scratch-dead");
        fs::create_dir_all(dead.join("data")).unwrap();
        let foreign = parent.path().join("other");
        fs::create_dir(&foreign).unwrap();
        let living = Scratch::create(parent.path()).unwrap();
        let _new = Scratch::create(parent.path()).unwrap();
        assert!(!dead.exists());
        fs::create_dir(&dead).unwrap();
        remove_dead(parent.path()).unwrap();
        assert!(!dead.exists());
        assert!(living.path().exists() && foreign.exists());
    }
}
